import { type DocumentMapping, decodedField, is } from '../kinds.ts'

export const traceMapping = {
  doc: 'A step of a transaction’s execution: a call, a creation or a self-destruction, or a reward of the block. Its id is `<transaction hash>_t`, followed by `_<place>` for each step of its trace address, of a reward `<block hash>_t_<n>`.',
  name: 'A trace',
  // Rewards are of the block itself.
  parents: ['tx', 'block'],
  listedAs: 'trace',
  stored: { in: 'records', perRow: 16, by: 'fields' },
  fields: {
    type: is.keyword('`call`, `create`, `suicide` or `reward`.', {
      column: 40,
      values: ['call', 'create', 'suicide', 'reward'],
    }),
    callType: is.keyword('`call`, `staticcall`, `delegatecall` or `callcode`; of calls only.', {
      column: 41,
      values: ['call', 'staticcall', 'delegatecall', 'callcode'],
    }),
    'action.from': is.address('Who calls or creates.', { column: 42, indexed: 10 }),
    'action.to': is.address('Who is called.', { column: 43, indexed: 11 }),
    'action.value': is.amount('Amount that goes along.'),
    'action.gas': is.quantity('Gas that is given along.'),
    'action.input': is.hex('Call data.', { words: true, apart: true }),
    'action.init': is.hex('Initialisation code of a creation.', { words: true }),
    'action.creationMethod': is.keyword('`create` or `create2`, if the node reports it.'),
    'action.address': is.address('Contract that destructs itself.', { indexed: 12 }),
    'action.refundAddress': is.address('Who gets what a self-destructed contract had.', { indexed: 13 }),
    'action.balance': is.amount('What a self-destructed contract had.'),
    'action.author': is.address('Who a reward goes to.', { indexed: 14 }),
    'action.rewardType': is.keyword('`block`, `uncle` or `emptyStep`; of rewards only.'),
    'result.gasUsed': is.quantity('Gas that the step used.', { column: 44 }),
    'result.output': is.hex('What a call returned.', { words: true }),
    'result.address': is.address('Contract that a creation made.', { indexed: 15 }),
    'result.code': is.hex('Code of the created contract.', { words: true }),
    error: is.keyword('Why the step failed, null where it did not.', { column: 45, indexed: 16 }),
    revertReason: decodedField.text('What the contract said when it reverted, decoded.', { column: 47 }),
    revertName: decodedField.keyword(
      'Name of the error that it reverted with: `Error`, `Panic`, or that of a custom error.',
      { column: 48, indexed: 21 },
    ),
    subtraces: is.long('Number of steps directly below.'),
    traceAddress: is.integers('Way to the step: its place below each step above it.'),
    transactionHash: is.hex('Transaction of the step.', { origin: 'transaction', bytes: 32 }),
    transactionPosition: is.quantity('Place of the transaction in its block.', {
      origin: 'transaction',
      column: 46,
    }),
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    timestamp: is.datetime('Time of the containing block, in UTC.', { origin: 'block' }),
  },
} satisfies DocumentMapping
