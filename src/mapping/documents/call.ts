import { type DocumentMapping, is } from '../kinds.ts'
import { event } from './event.ts'

export const call = {
  doc: 'A call of a function: a transaction’s own, and where traces are indexed every call inside of it. Its id is `<transaction hash>_c`, followed by `_<place>` for each step of its trace address.',
  name: 'A call',
  parents: ['tx'],
  stored: { in: 'records', perRow: 64, by: 'form' },
  fields: {
    method: is.text('Name of the function, null where none is known by its selector.', {
      origin: 'decoded',
      identifier: true,
    }),
    selector: is.hex('First four bytes of the call data.', { origin: 'decoded', column: 52, indexed: 18, bytes: 4 }),
    args: { ...event.fields.args, doc: 'Arguments of the function, in the order of their declaration.' },
    from: is.address('Who calls.', { origin: 'decoded', column: 50, indexed: 17 }),
    to: is.address('Who is called.', { origin: 'decoded', column: 51 }),
    value: is.amount('Amount that goes along.', { origin: 'decoded', column: 57 }),
    callType: is.keyword('`call`, `staticcall`, `delegatecall` or `callcode`.', {
      origin: 'decoded',
      column: 54,
      values: ['call', 'staticcall', 'delegatecall', 'callcode'],
    }),
    depth: is.long('Number of calls above it; 0 for a transaction’s own.', { origin: 'decoded', column: 56 }),
    traceAddress: is.integers('Way to the call: its place below each step above it.', { origin: 'decoded' }),
    reverted: is.boolean('Whether it came to nothing: it failed, or a call above it did.', {
      origin: 'decoded',
      column: 55,
    }),
    transactionHash: is.hex('Transaction of the call.', { origin: 'transaction', bytes: 32 }),
    transactionIndex: is.quantity('Place of the transaction in its block.', { origin: 'transaction', column: 53 }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    error: is.keyword('What is wrong with the call data, null where nothing is.', { origin: 'decoded' }),
    revertReason: is.text('What the contract said when it reverted, decoded. Needs traces.', {
      origin: 'decoded',
      column: 58,
    }),
    revertName: is.keyword('Name of the error that it reverted with. Needs traces.', {
      origin: 'decoded',
      column: 59,
      indexed: 22,
    }),
    str: is.keyword('The call written with its arguments.', { origin: 'decoded' }),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    probability: is.double('How sure the decoding is: 1 for an ABI that was given, less where it was guessed.', {
      origin: 'decoded',
    }),
  },
} satisfies DocumentMapping
