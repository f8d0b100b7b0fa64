import type { RawBlock } from '../../src/chain/wire.ts'
import { makeChain } from './pack.ts'
import { traceBlock } from './traces.ts'

const address = (n: number) => `0x${n.toString(16).padStart(2, '0').repeat(20)}`
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

/** A block with every member that a node may send, traces of every type among them. */
export const fullBlock = (): RawBlock => {
  const [raw] = makeChain({ from: 5, blocks: 1, txs: 3, logs: 3, chainId: 1 })
  const { block, receipts } = raw!
  Object.assign(block, {
    nonce: '0x0000000000000042',
    mixHash: word(1),
    sha3Uncles: word(2),
    transactionsRoot: word(3),
    stateRoot: word(4),
    receiptsRoot: word(5),
    withdrawalsRoot: word(6),
    parentBeaconBlockRoot: word(7),
    extraData: '0x1234',
    size: '0x1000',
    gasLimit: '0x1c9c380',
    gasUsed: '0xf618',
    difficulty: '0x2',
    totalDifficulty: '0xc70d815d562d3cfa955',
    baseFeePerGas: '0x7',
    blobGasUsed: '0x20000',
    excessBlobGas: '0x0',
    uncles: [word(8), word(9)],
    withdrawals: [
      { index: '0x1', validatorIndex: '0x2', address: address(3), amount: '0x4' },
      { index: '0x2', validator_index: '0x3', address: address(4), amount: '0x5' },
    ],
  })
  const [first, second] = block.transactions
  Object.assign(first!, {
    type: '0x4',
    chainId: '0x1',
    maxFeePerGas: '0x9',
    maxPriorityFeePerGas: '0x1',
    maxFeePerBlobGas: '0x3',
    v: '0x1',
    yParity: '0x1',
    r: word(2 ** 40),
    s: word(2 ** 41),
    publicKey: `0x04${'ab'.repeat(64)}`,
    accessList: [{ address: address(7), storageKeys: [word(1), word(2)] }],
    blobVersionedHashes: [`0x01${'22'.repeat(31)}`],
    authorizationList: [{ chainId: '0x1', address: address(8), nonce: '0x1', yParity: '0x0', r: '0x1', s: '0x2' }],
  })
  Object.assign(second!, { creates: address(9) })
  for (const receipt of receipts)
    Object.assign(receipt, {
      effectiveGasPrice: '0x8',
      root: word(11),
      logsBloom: null,
      contractAddress: null,
      type: '0x0',
    })
  const transfer = `0xa9059cbb${word(7).slice(2)}${word(8).slice(2)}`
  raw!.traces = [
    ...traceBlock(raw!, [
      {
        kind: 'call',
        to: address(0x21),
        input: transfer,
        acts: [
          { kind: 'delegatecall', to: address(0x22), input: transfer, output: word(1) },
          { kind: 'staticcall', to: address(0x23), error: 'Out of gas' },
          { kind: 'suicide', to: address(0x24), value: '0x5' },
        ],
      },
      {
        kind: 'create',
        to: address(0x25),
        input: '0x60',
        output: `0x363d3d373d3d3d363d73${address(0x26).slice(2)}5af43d82803e903d91602b57fd5bf3`,
      },
      { kind: 'call', to: address(0x27), input: transfer, value: '0x9' },
    ]),
    {
      type: 'reward',
      blockHash: block.hash,
      blockNumber: 5,
      subtraces: 0,
      traceAddress: [],
      action: { author: address(0x28), rewardType: 'block', value: '0x1bc16d674ec80000' },
      result: null,
    },
  ]
  return raw!
}
