import { type DocumentMapping, is } from '../kinds.ts'

export const log = {
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
    removed: is.boolean('Whether the log was reorganised away; always false for a stored log.', { origin: 'decoded' }),
  },
} satisfies DocumentMapping
