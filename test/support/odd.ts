import { encodeAbiParameters, type Hex, keccak256 } from 'viem'
import type { RawBlock, RpcLog, RpcTrace } from '../../src/chain/wire.ts'
import { parseSignature, topicOf } from '../../src/decode/signature.ts'
import type { EventAbi } from '../../src/decode/types.ts'
import { makeChain } from './pack.ts'

/**
 * A few blocks of everything that is rare: fields that are null, padded or longer than indexes hold, events with more
 * arguments than the index has slots for, of all types, with names that are too long, and logs that do not decode.
 */

const LONG = 'x'.repeat(260)

const WIDE: EventAbi = {
  name: 'Wide',
  inputs: Array.from({ length: 18 }, (_, i) => ({
    name: i === 17 ? LONG : `a${i}`,
    type: i === 15 ? 'string' : i === 16 ? 'address' : 'uint256',
    ...([3, 14, 16].includes(i) ? { indexed: true } : {}),
  })),
}
const SHAPES = parseSignature(
  'Shapes(int24 indexed tick, bytes4 indexed word, bool indexed yes, (address who, uint64 much)[] legs, (bytes4 a, string b) pair, bytes data, string text, int256 big, uint8[3] three, address)',
)
const HASHED = parseSignature('Hashed(string indexed text, bytes indexed data, uint256[] indexed list)')
const NAMED = parseSignature(`${'Name'.repeat(70)}(function indexed call, int8 small, address[] all)`)
const BARE = parseSignature('Bare()')

export const oddEvents: readonly EventAbi[] = [WIDE, SHAPES, HASHED, NAMED, BARE]

const address = (n: number): Hex => `0x${(n + 1).toString(16).repeat(40).slice(0, 40)}`
/** Beginning with zero bytes, so that it is no 20 bytes long as a word. */
const lowAddress: Hex = `0x${'0'.repeat(30)}abcdef1234`

const plainInputs = (event: EventAbi) => event.inputs.filter(input => !input.indexed)

const wide = (n: number): { topics: Hex[]; data: Hex } => {
  const values = WIDE.inputs.map((input, i) =>
    input.type === 'string'
      ? 'word '.repeat(n)
      : input.type === 'address'
        ? n % 2
          ? address(n)
          : lowAddress
        : i === 17
          ? 2n ** 200n + BigInt(n)
          : BigInt((i * n) % 5) * (i === 4 ? 10n ** 18n : 1n),
  )
  return logOf(WIDE, values)
}

const shapes = (n: number) =>
  logOf(SHAPES, [
    [-1, -8388608, 8388607, 0][n % 4],
    ['0xa9059cbb', '0x00000000', '0xffffffff'][n % 3],
    n % 2 === 0,
    Array.from({ length: n % 5 }, (_, i) => ({ who: address(i), much: BigInt(i) })),
    { a: '0x01020304', b: 'pair '.repeat(n * 5) },
    `0x${'00ff'.repeat(n * 21)}`,
    ['', 'Hello', 'Grüße 🚀 \u202e', 'long '.repeat(60)][n % 4],
    [-(2n ** 255n), -1n, 0n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n)][n % 6],
    [n, 0, 255],
    n % 3 ? address(n) : lowAddress,
  ])

const hashed = (n: number) => logOf(HASHED, [`text ${n % 3}`, '0x1234', [1n, BigInt(n)]])

const named = (n: number) => {
  const event = encodeAbiParameters([{ type: 'int8' }, { type: 'address[]' }], [(n % 7) - 3, [address(n), lowAddress]])
  return {
    topics: [topicOf(NAMED) as Hex, `0x${'1234567890'.repeat(4)}${String(n).padStart(8, '0')}${'0'.repeat(16)}` as Hex],
    data: event,
  }
}

/** Of what fills no word, a topic holds the hash. */
const logOf = (event: EventAbi, values: readonly unknown[]): { topics: Hex[]; data: Hex } => {
  const topics = event.inputs.flatMap((input, i) => {
    if (!input.indexed) return []
    const { indexed: _, ...param } = input
    const encoded = encodeAbiParameters([param], [values[i]])
    return [/^(string|bytes|.*\])$/.test(input.type) ? keccak256(encoded) : encoded]
  })
  const plain = event.inputs.flatMap((input, i) => (input.indexed ? [] : [values[i]]))
  return { topics: [topicOf(event) as Hex, ...topics], data: encodeAbiParameters(plainInputs(event), plain) }
}

const transferTopic = topicOf(parseSignature('Transfer(address from, address to, uint256 value)')) as Hex
const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const raw = (n: number): { topics: Hex[]; data: Hex } =>
  [
    { topics: [], data: '0x' as Hex },
    { topics: [], data: `0x${'12'.repeat(127)}` as Hex },
    { topics: [word(n)], data: `0x${'34'.repeat(128)}` as Hex },
    {
      topics: [`0x${'ab'.repeat(32)}` as Hex, word(1), word(2), `0x${'0'.repeat(24)}${address(1).slice(2)}` as Hex],
      data: '0x' as Hex,
    },
    // Known by name, but it does not decode.
    { topics: [transferTopic, word(1), word(2)], data: '0x12' as Hex },
    { topics: [transferTopic, `0x${'ff'.repeat(32)}` as Hex, word(2)], data: word(5) },
    { topics: [topicOf(BARE) as Hex], data: '0x' as Hex },
    { topics: [topicOf(BARE) as Hex], data: '0x01' as Hex },
    { topics: [`0x${'ab'.repeat(32)}` as Hex], data: `0xa9059cbb${word(7).slice(2)}` as Hex },
  ][n % 9]!

export const oddBlocks = (count = 12, from = 100): RawBlock[] => {
  const blocks = makeChain({ from, blocks: count, txs: 4, logs: 6, salt: 'odd', chainId: 1 })
  let n = 0
  for (const { block, receipts } of blocks) {
    if (n % 5 === 4) {
      block.transactions = []
      receipts.length = 0
    }
    Object.assign(block, ODD_BLOCKS[n % ODD_BLOCKS.length])
    for (const [i, tx] of block.transactions.entries()) {
      Object.assign(tx, ODD_TRANSACTIONS[(n + i) % ODD_TRANSACTIONS.length])
      Object.assign(receipts[i]!, ODD_RECEIPTS[(n * 3 + i) % ODD_RECEIPTS.length])
      for (const [j, log] of receipts[i]!.logs.entries()) {
        const seed = n * 7 + i * 3 + j
        const made = [wide, shapes, hashed, named, raw, raw][j % 6]!(seed % 12)
        Object.assign(log, { ...made, address: j === 5 ? lowAddress : address(j) } satisfies Partial<RpcLog>)
      }
    }
    n++
  }
  for (const [i, raw] of blocks.entries()) if (i % 4 !== 3) raw.traces = oddTraces(raw, i)
  return blocks
}

/** Steps of every type, failed and nested ones among them, and rewards; some blocks have none. */
const oddTraces = ({ block }: RawBlock, n: number): RpcTrace[] => {
  const where = { blockHash: block.hash, blockNumber: Number(block.number) }
  const steps = block.transactions.flatMap((tx, i): RpcTrace[] => {
    const common = { ...where, transactionHash: tx.hash, transactionPosition: i }
    const value = ['0x0', '0xde0b6b3a7640000', `0x${'f'.repeat(64)}`, '0x7fffffffffffffff'][(n + i) % 4]!
    const call = (callType: string, traceAddress: number[], subtraces: number): RpcTrace => ({
      ...common,
      type: 'call',
      action: { callType, from: tx.from, to: address(i), gas: '0x5208', input: tx.input, value },
      result: { gasUsed: '0x0', output: i % 2 ? '0x' : word(n) },
      traceAddress,
      subtraces,
    })
    const failed = { ...call('delegatecall', [0, 1], 0), error: 'Reverted', result: null } as RpcTrace
    const create: RpcTrace = {
      ...common,
      type: 'create',
      action: {
        creationMethod: n % 2 ? 'create2' : 'create',
        from: address(1),
        gas: '0xffffffffffffffff',
        init: '0x60',
        value,
      },
      result: i % 2 ? null : { address: address(n % 5), code: codeOf(n), gasUsed: '0x8000000000000000' },
      ...(i % 2 ? { error: 'Out of gas' } : {}),
      traceAddress: [1],
      subtraces: 0,
    }
    const suicide: RpcTrace = {
      ...common,
      type: 'suicide',
      action: { address: address(n % 5), refundAddress: lowAddress, balance: value },
      result: null,
      traceAddress: [300],
      subtraces: 0,
    }
    return [call('call', [], 301), call('staticcall', [0], 2), call('callcode', [0, 0], 0), failed, create, suicide]
  })
  const rewards = ['block', 'uncle'].map(
    (rewardType): RpcTrace => ({
      ...where,
      type: 'reward',
      action: { author: address(n % 3), rewardType, value: '0x1bc16d674ec80000' },
      result: null,
      traceAddress: [],
      subtraces: 0,
    }),
  )
  return n % 2 ? steps : [...steps, ...rewards]
}

/** Nothing but places to jump to, a clone of another contract, and what has functions and an event. */
const codeOf = (n: number): Hex =>
  [
    `0x${'5b'.repeat(40 + n * 10)}` as Hex,
    `0x363d3d373d3d3d363d73${address(n % 5).slice(2)}5af43d82803e903d91602b57fd5bf3` as Hex,
    `0x5f3560e01c8063a9059cbb14601a578063095ea7b314601a575f5ffd5b7f${transferTopic.slice(2)}5f5fa100` as Hex,
  ][n % 3]!

const ODD_BLOCKS: Record<string, unknown>[] = [
  { miner: null, baseFeePerGas: null, totalDifficulty: null, mixHash: null, uncles: [], withdrawals: [] },
  {
    size: `0x${'f'.repeat(64)}`,
    gasLimit: '0x1fffffffffffff',
    gasUsed: '0x7fffffffffffffff',
    blobGasUsed: '0x8000000000000000',
    difficulty: '0x20000000000000',
    totalDifficulty: '0x0',
    uncles: [`0x${'12'.repeat(32)}`, `0x${'01'.repeat(32)}`],
    withdrawals: [
      { index: '0x1', validatorIndex: '0xffffffffffffffff', address: address(3), amount: '0x0' },
      { index: '0x2', validatorIndex: '0x2', address: lowAddress, amount: '0x3b9aca00' },
    ],
    extraData: '0x',
  },
  {
    extraData: `0x${'cd'.repeat(127)}`,
    uncles: null,
    withdrawals: null,
    nonce: '0x0000000000000042',
    baseFeePerGas: '0x7fffffffffffffff',
    difficulty: '0x1fffffffffffff',
    parentBeaconBlockRoot: `0x${'7'.repeat(64)}`,
  },
  {
    extraData: `0x${'cd'.repeat(128)}`,
    logsBloom: '0x00',
    gasUsed: '0x0',
    excessBlobGas: '0x1ffffffffffffe',
    size: '0x1f',
  },
]

const ODD_TRANSACTIONS: Record<string, unknown>[] = [
  {
    v: '0x00',
    r: `0x00${'ab'.repeat(31)}`,
    s: '0x07aabbccddeeff11',
    yParity: '0x1',
    publicKey: '0x04ab',
    to: lowAddress,
  },
  { v: null, r: '0x0', s: `0x${'1'.repeat(63)}`, creates: address(4), maxFeePerGas: null, to: null, value: '0x1' },
  { v: '0x01', chainId: '0xffffffffffffffff', accessList: null, blobVersionedHashes: null, value: '0x0', nonce: '0x0' },
  {
    accessList: [],
    blobVersionedHashes: [],
    authorizationList: [],
    value: `0x${'f'.repeat(64)}`,
    gas: '0x7fffffffffffffff',
  },
  {
    v: '0x25',
    input: `0x${'00'.repeat(40)}`,
    value: '0xde0b6b3a7640000',
    blobVersionedHashes: [`0x${'01'.repeat(32)}`, `0x01${'22'.repeat(31)}`],
    accessList: [
      { address: address(1), storageKeys: [] },
      { address: lowAddress, storageKeys: [word(1), `0x${'f'.repeat(64)}`] },
    ],
    authorizationList: [
      {
        chainId: '0x0',
        address: address(2),
        nonce: '0xffffffffffffffff',
        yParity: '0x0',
        r: `0x${'1'.repeat(63)}`,
        s: '0x1',
      },
    ],
  },
  {
    input: `0xa9059cbb${'0'.repeat(24)}${address(2).slice(2)}${word(9).slice(2)}`,
    value: '0xde0b6b3a7640001',
    v: '0x1b',
  },
  { input: `0x${'5a'.repeat(128)}`, value: '0x8ac7230489e80000', s: '0xffffffffffffff', r: '0x1fffffffffffff' },
  { input: `0x3593564c${'5a'.repeat(123)}`, value: '0x7fffffffffffffff', s: '0x001fffffffffffff' },
]

const ODD_RECEIPTS: Record<string, unknown>[] = [
  { status: null, root: `0x${'cd'.repeat(32)}`, effectiveGasPrice: null },
  { logsBloom: null, contractAddress: address(4) },
  { logsBloom: `0x${'0'.repeat(511)}1`, contractAddress: null },
  { status: '0x0', effectiveGasPrice: '0x8000000000000000' },
  { status: '0x0', cumulativeGasUsed: '0x0', logsBloom: '0x00' },
  {},
]
