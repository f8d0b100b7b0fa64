import { type DocumentMapping, decodedField, is } from '../kinds.ts'
import { eventMapping } from './event.ts'

export const callMapping = {
  doc: 'A call of a function: a transaction’s own, and where traces are indexed every call inside of it. Its id is `<transaction hash>_c`, followed by `_<place>` for each step of its trace address.',
  name: 'A call',
  parents: ['tx'],
  stored: { in: 'records', perRow: 64, by: 'form' },
  fields: {
    method: decodedField.text('Name of the function, null where none is known by its selector.', { identifier: true }),
    selector: decodedField.hex('First four bytes of the call data.', { column: 52, indexed: 18, bytes: 4 }),
    args: { ...eventMapping.fields.args, doc: 'Arguments of the function, in the order of their declaration.' },
    from: decodedField.address('Who calls.', { column: 50, indexed: 17 }),
    to: decodedField.address('Who is called.', { column: 51 }),
    value: decodedField.amount('Amount that goes along.', { column: 57 }),
    callType: decodedField.keyword('`call`, `staticcall`, `delegatecall` or `callcode`.', {
      column: 54,
      values: ['call', 'staticcall', 'delegatecall', 'callcode'],
    }),
    depth: decodedField.long('Number of calls above it; 0 for a transaction’s own.', { column: 56 }),
    traceAddress: decodedField.integers('Way to the call: its place below each step above it.'),
    reverted: decodedField.boolean('Whether it came to nothing: it failed, or a call above it did.', { column: 55 }),
    transactionHash: is.hex('Transaction of the call.', { origin: 'transaction', bytes: 32 }),
    transactionIndex: is.quantity('Place of the transaction in its block.', { origin: 'transaction', column: 53 }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    error: decodedField.keyword('What is wrong with the call data, null where nothing is.'),
    revertReason: decodedField.text('What the contract said when it reverted, decoded. Needs traces.', { column: 58 }),
    revertName: decodedField.keyword('Name of the error that it reverted with. Needs traces.', {
      column: 59,
      indexed: 22,
    }),
    str: decodedField.keyword('The call written with its arguments.'),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    probability: decodedField.double(
      'How sure the decoding is: 1 for an ABI that was given, less where it was guessed.',
    ),
  },
} satisfies DocumentMapping
