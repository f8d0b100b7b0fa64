import * as is from './shape.ts'

/** Schema of answers of nodes and of packs: every member that `chain/` reads. */

const { optional } = is
const bloomShape = is.bytes(256)
/** Roots, seals and nonces have at most 32 bytes: chains other than Ethereum vary their length. */
const seal = is.digits(32)

const WITHDRAWAL = is.object({
  index: optional(is.quantity),
  validatorIndex: optional(is.quantity),
  /** Name in older nodes and exports. */
  validator_index: optional(is.quantity),
  address: is.address,
  amount: optional(is.quantity),
})

const ACCESS = is.object({
  address: is.address,
  storageKeys: optional(is.list(is.word32)),
  storage_keys: optional(is.list(is.word32)),
})

const AUTHORIZATION = is.object({
  chainId: optional(is.quantity),
  chain_id: optional(is.quantity),
  address: is.address,
  nonce: optional(is.quantity),
  yParity: optional(is.quantity),
  y_parity: optional(is.quantity),
  r: optional(is.quantity),
  s: optional(is.quantity),
})

/** Block hash, number and index are compared with the expected ones, as in receipts and logs. */
const TRANSACTION_SHAPE = is.open({
  hash: is.id,
  from: is.address,
  to: optional(is.address),
  input: is.data('callData'),
  value: is.quantity,
  nonce: is.quantity,
  gas: is.quantity,
  gasPrice: optional(is.quantity),
  maxFeePerGas: optional(is.quantity),
  maxPriorityFeePerGas: optional(is.quantity),
  maxFeePerBlobGas: optional(is.quantity),
  type: optional(is.quantity),
  chainId: optional(is.quantity),
  v: optional(is.quantity),
  r: optional(is.quantity),
  s: optional(is.quantity),
  yParity: optional(is.quantity),
  publicKey: optional(is.digits(65)),
  creates: optional(is.address),
  accessList: optional(is.list(ACCESS)),
  blobVersionedHashes: optional(is.list(is.word32)),
  authorizationList: optional(is.list(AUTHORIZATION)),
})

/** `checkHeader` checks `number`, `hash`, `parentHash` and `timestamp`. */
export const BLOCK = is.open({
  miner: optional(is.address),
  nonce: optional(seal),
  mixHash: optional(seal),
  sha3Uncles: optional(seal),
  logsBloom: optional(bloomShape),
  transactionsRoot: optional(seal),
  stateRoot: optional(seal),
  receiptsRoot: optional(seal),
  withdrawalsRoot: optional(seal),
  parentBeaconBlockRoot: optional(seal),
  extraData: optional(is.data('extraData')),
  size: optional(is.quantity),
  gasLimit: optional(is.quantity),
  gasUsed: optional(is.quantity),
  difficulty: optional(is.quantity),
  totalDifficulty: optional(is.quantity),
  baseFeePerGas: optional(is.quantity),
  blobGasUsed: optional(is.quantity),
  excessBlobGas: optional(is.quantity),
  uncles: optional(is.list(is.word32)),
  withdrawals: optional(is.list(WITHDRAWAL)),
  requestsHash: optional(is.word32),
  transactions: is.list(TRANSACTION_SHAPE),
})

const LOG = is.object({
  address: is.address,
  topics: is.list(is.word32, 4),
  data: is.data('callData'),
})

/** Result of `eth_getLogs`: each log names its block and transaction. */
export const LOGS = is.list(
  is.object({
    address: is.address,
    topics: is.list(is.word32, 4),
    data: is.data('callData'),
    blockHash: is.id,
    blockNumber: is.quantity,
    transactionHash: is.id,
    transactionIndex: is.quantity,
    logIndex: is.quantity,
  }),
)

const RECEIPT_SHAPE = is.open({
  status: optional(is.outcome),
  root: optional(seal),
  contractAddress: optional(is.address),
  gasUsed: optional(is.quantity),
  cumulativeGasUsed: optional(is.quantity),
  effectiveGasPrice: optional(is.quantity),
  blobGasUsed: optional(is.quantity),
  blobGasPrice: optional(is.quantity),
  logsBloom: optional(bloomShape),
  logs: is.list(LOG),
})

export const RECEIPTS = is.list(RECEIPT_SHAPE)

const ACTION = {
  callType: optional(is.word(['call', 'callcode', 'delegatecall', 'staticcall'])),
  from: optional(is.address),
  to: optional(is.address),
  value: optional(is.quantity),
  gas: optional(is.quantity),
  input: optional(is.data('callData')),
  init: optional(is.data('callData')),
  creationMethod: optional(is.text(32)),
  address: optional(is.address),
  refundAddress: optional(is.address),
  balance: optional(is.quantity),
  author: optional(is.address),
  rewardType: optional(is.text(32)),
}

const RESULT = {
  gasUsed: optional(is.quantity),
  output: optional(is.data('callData')),
  address: optional(is.address),
  code: optional(is.data('callData')),
}

type Shapes = Record<string, is.Shape>
const trace = (action: Shapes, result: Shapes = {}): is.Shape =>
  is.object({
    action: is.object({ ...ACTION, ...action }),
    result: optional(is.object({ ...RESULT, ...result })),
    subtraces: is.integer,
    traceAddress: is.list(is.integer),
    error: optional(is.text(4096)),
  })

const paid = { from: is.address, gas: is.quantity, value: is.quantity }

export const TRACES = is.list(
  is.oneOf('type', {
    call: trace(
      { ...paid, to: is.address, input: is.data('callData') },
      { gasUsed: is.quantity, output: is.data('callData') },
    ),
    create: trace({ ...paid, init: is.data('callData') }, { gasUsed: is.quantity, code: is.data('callData') }),
    suicide: trace({ address: is.address, refundAddress: is.address, balance: is.quantity }),
    reward: trace({ author: is.address, value: is.quantity }),
  }),
)

export const FRAME = is.object({
  type: is.text(32),
  from: is.address,
  to: optional(is.address),
  value: optional(is.quantity),
  gas: optional(is.quantity),
  gasUsed: optional(is.quantity),
  input: optional(is.data('callData')),
  output: optional(is.data('callData')),
  error: optional(is.text(Number.POSITIVE_INFINITY)),
  revertReason: optional(is.text(Number.POSITIVE_INFINITY)),
})
