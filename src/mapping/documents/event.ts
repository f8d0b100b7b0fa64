import { type DocumentMapping, decodedField, is, listField } from '../kinds.ts'
export const eventMapping = {
  doc: 'A log decoded by its event’s declaration. Its id is `<transaction hash>_e_<log index>`.',
  name: 'An event',
  parents: ['tx'],
  stored: { in: 'log' },
  fields: {
    event: decodedField.text('Name of the event.', { identifier: true }),
    args: listField(
      'nested',
      'Arguments of the event, in the order of their declaration.',
      {
        name: decodedField.keyword('Name of the argument.'),
        pos: decodedField.long('Zero-based position of the argument.'),
        'value.hex': decodedField.hex('The value in hex; addresses checksummed.'),
        'value.num': decodedField.integer256('The value as an integer, null where it is none or does not fit 64 bits.'),
        'value.dec': decodedField.decimal(
          'The value as an integer in decimal digits, of any size, null where it is none.',
        ),
        'value.scaled': decodedField.double(
          'The value divided by 10^decimals of the emitting token, null where these are unknown.',
        ),
        'value.type': decodedField.keyword('Solidity type of the argument.'),
      },
      'decoded',
    ),
    logIndex: is.quantity('Place of the log in its block.', { origin: 'position' }),
    transactionIndex: is.quantity('Place of the transaction in its block.', { origin: 'transaction' }),
    transactionHash: is.hex('Transaction that caused the event.', { origin: 'transaction', bytes: 32 }),
    address: is.address('Contract that emitted the event.'),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    error: decodedField.keyword('Why decoding failed, null where it did not.'),
    str: decodedField.keyword('The event written like a call.'),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    probability: decodedField.double(
      'How sure the decoding is: 1 for an ABI that was given, less where it was guessed.',
    ),
  },
} satisfies DocumentMapping

export const logMapping = {
  doc: 'A log as its contract emitted it. Its id is `<transaction hash>_l_<log index>`.',
  name: 'A log',
  parents: ['tx'],
  stored: { in: 'records', perRow: 16, by: 'form' },
  fields: {
    address: is.address('Contract that emitted the log.', { column: 30 }),
    topics: is.hexList('Up to four topics of 32 bytes.', { bytes: 32 }),
    signature: is.hex('First topic: the hash of the event’s signature.', { column: 31, bytes: 32 }),
    data: is.hex('Unindexed arguments, ABI-encoded.', { words: true }),
    logIndex: is.quantity('Place of the log in its block.', { origin: 'position' }),
    transactionIndex: is.quantity('Place of the transaction in its block.', { origin: 'transaction', column: 32 }),
    transactionHash: is.hex('Transaction that emitted the log.', { origin: 'transaction', bytes: 32 }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    removed: decodedField.boolean('Whether the log was reorganised away; always false for a stored log.'),
  },
} satisfies DocumentMapping
