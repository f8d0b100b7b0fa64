import { type DocumentMapping, decoded, is } from '../kinds.ts'
import { event } from './event.ts'

export const call = {
  doc: 'A call of a function: a transaction’s own, and where traces are indexed every call inside of it. Its id is `<transaction hash>_c`, followed by `_<place>` for each step of its trace address.',
  name: 'A call',
  parents: ['tx'],
  stored: { in: 'records', perRow: 64, by: 'form' },
  fields: {
    method: decoded.text('Name of the function, null where none is known by its selector.', { identifier: true }),
    selector: decoded.hex('First four bytes of the call data.', { column: 52, indexed: 18, bytes: 4 }),
    args: { ...event.fields.args, doc: 'Arguments of the function, in the order of their declaration.' },
    from: decoded.address('Who calls.', { column: 50, indexed: 17 }),
    to: decoded.address('Who is called.', { column: 51 }),
    value: decoded.amount('Amount that goes along.', { column: 57 }),
    callType: decoded.keyword('`call`, `staticcall`, `delegatecall` or `callcode`.', {
      column: 54,
      values: ['call', 'staticcall', 'delegatecall', 'callcode'],
    }),
    depth: decoded.long('Number of calls above it; 0 for a transaction’s own.', { column: 56 }),
    traceAddress: decoded.integers('Way to the call: its place below each step above it.'),
    reverted: decoded.boolean('Whether it came to nothing: it failed, or a call above it did.', { column: 55 }),
    transactionHash: is.hex('Transaction of the call.', { origin: 'transaction', bytes: 32 }),
    transactionIndex: is.quantity('Place of the transaction in its block.', { origin: 'transaction', column: 53 }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    error: decoded.keyword('What is wrong with the call data, null where nothing is.'),
    revertReason: decoded.text('What the contract said when it reverted, decoded. Needs traces.', { column: 58 }),
    revertName: decoded.keyword('Name of the error that it reverted with. Needs traces.', { column: 59, indexed: 22 }),
    str: decoded.keyword('The call written with its arguments.'),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
    probability: decoded.double('How sure the decoding is: 1 for an ABI that was given, less where it was guessed.'),
  },
} satisfies DocumentMapping
