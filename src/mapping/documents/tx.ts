import { type DocumentMapping, decodedField, is, listField } from '../kinds.ts'
import { txOfChains } from './chains.ts'

export const txMapping = {
  doc: 'A transaction with what its receipt says. Its id is its hash.',
  name: 'A transaction',
  parents: ['block'],
  stored: { in: 'records', perRow: 4, by: 'fields' },
  fields: {
    blockHash: is.hex('Hash of the containing block.', { origin: 'block', bytes: 32 }),
    blockNumber: is.quantity('Height of the containing block.', { origin: 'position' }),
    contractAddress: is.address('Contract that the transaction created, null if none.', {
      origin: 'receipt',
      column: 20,
      indexed: 3,
    }),
    cumulativeGasUsed: is.quantity('Gas used in the block up to and with this transaction.', {
      origin: 'receipt',
      column: 21,
    }),
    from: is.address('Sender.', { column: 10, indexed: 1 }),
    gas: is.quantity('Gas limit the sender set.', { column: 16 }),
    gasPrice: is.quantity('Price per gas, in the smallest unit.', { column: 17 }),
    gasUsed: is.quantity('Gas that the transaction used.', { origin: 'receipt', column: 18 }),
    hash: is.hex('Hash of the transaction.', { indexed: 4, apart: true, bytes: 32 }),
    publicKey: is.hex('Public key of the sender, if the node reports it.'),
    creates: is.hex('Address of the created contract, if the node reports it in the transaction.', { bytes: 20 }),
    input: is.hex('Call data, or the initialisation code of a created contract.', { words: true }),
    logsBloom: is.hex('Bloom filter over the addresses and topics of the transaction’s logs.', {
      origin: 'receipt',
      bloom: true,
    }),
    nonce: is.quantity('Number of transactions the sender made before.', { column: 15 }),
    r: is.hexNumber('First part of the signature.'),
    root: is.hex('State root after the transaction (before Byzantium).', { origin: 'receipt', bytes: 32 }),
    s: is.hexNumber('Second part of the signature.'),
    v: is.hexNumber('Recovery id of the signature.'),
    status: is.boolean('Whether the transaction succeeded.', { origin: 'receipt', column: 14, indexed: 8 }),
    timestamp: is.seconds('Time of the containing block, in seconds since 1970.', { origin: 'block' }),
    to: is.address('Receiver, null where a contract is created.', { column: 11, indexed: 2 }),
    transactionIndex: is.quantity('Place of the transaction in its block.', { origin: 'position' }),
    value: is.amount('Amount transferred.', { column: 19 }),
    type: is.quantity('Transaction type (EIP-2718).', { column: 13 }),
    maxFeePerGas: is.quantity('Most that is paid per gas (EIP-1559).', { column: 22 }),
    maxPriorityFeePerGas: is.quantity('Most that is paid per gas to the block’s builder (EIP-1559).', {
      column: 23,
    }),
    effectiveGasPrice: is.quantity('Price per gas that was paid.', {
      origin: 'receipt',
      column: 24,
    }),
    chainId: is.quantity('Chain that the signature holds for (EIP-155).'),
    yParity: is.hexNumber('Parity of the signature’s y value.'),
    accessList: listField('object', 'Storage that the transaction declared it would touch (EIP-2930).', {
      address: is.address('Contract.'),
      storageKeys: is.hexList('Storage slots.'),
    }),
    maxFeePerBlobGas: is.quantity('Most that is paid per blob gas (EIP-4844).'),
    blobVersionedHashes: is.hexList('Versioned hashes of the blobs (EIP-4844).', { bytes: 32 }),
    authorizationList: listField('object', 'Accounts that set their code (EIP-7702).', {
      chainId: is.hexNumber('Chain that the authorization holds for.'),
      address: is.address('Contract whose code the account takes.'),
      nonce: is.hexNumber('Nonce of the authorization.'),
      yParity: is.hexNumber('Parity of the signature’s y value.'),
      r: is.hexNumber('First part of the signature.'),
      s: is.hexNumber('Second part of the signature.'),
    }),
    method: decodedField.keyword('Name of the called function, as the signature registry knows its selector.', {
      column: 12,
      indexed: 9,
      identifier: true,
    }),
    error: decodedField.text(
      'Why the transaction failed: what the contract said, or else how the step ended in which the failure began. Only of a transaction that failed.',
      { column: 25 },
    ),
    revertReason: decodedField.text('What the contract said when it reverted, decoded. Needs traces.', { column: 26 }),
    revertName: decodedField.keyword('Name of the error: `Error`, `Panic`, or that of a custom error. Needs traces.', {
      column: 27,
      indexed: 19,
    }),
    revertData: decodedField.hex('What the contract returned when it reverted. Needs traces.'),
    revertAddress: decodedField.address('Contract in whose code the failure began. Needs traces.', {
      column: 28,
      indexed: 20,
    }),
    revertTrace: decodedField.integers('Trace address of the step in which the failure began. Needs traces.'),
    ...txOfChains,
    extra: is.flattened(
      'Members of the transaction and its receipt that are not fields, as the node sent them; `receipt` has those that differ in the receipt.',
      { origin: 'rest' },
    ),
  },
} satisfies DocumentMapping
