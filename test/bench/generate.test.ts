import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { decodeEventLog, decodeFunctionData, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import { COMMON, OTHER } from '../../scripts/bench/events.ts'
import { CALLED, DEEDS, VIEWS } from '../../scripts/bench/functions.ts'
import { generateBlocks, generateLines, main } from '../../scripts/bench/generate.ts'
import { checkBlock, checkLink, refOf } from '../../src/chain/check/check-block.ts'
import { readPack } from '../../src/chain/files/pack.ts'
import type { RawBlock, RpcLog, RpcTrace } from '../../src/chain/wire.ts'
import { bloomOf, gunzipLines, hasMainnet, mainnetFolder, mainnetPack, tempFolder } from '../support/pack.ts'

const blocks = [...generateBlocks({ seed: 1, count: 200 })]
const logs = blocks.flatMap(({ receipts }) => receipts.flatMap(receipt => receipt.logs))
const transactions = blocks.flatMap(({ block }) => block.transactions)
const receipts = blocks.flatMap(({ receipts }) => receipts)

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  'event Sync(uint112 reserve0, uint112 reserve1)',
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  'struct Offer { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct Consideration { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, Offer[] offer, Consideration[] consideration)',
  'event Mint(address indexed sender, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)',
])
const ERC721 = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'])

const COMMON_TOPICS = new Set(Object.values(COMMON).map(event => event.topic))
/** Compound's Mint has the topic of Uniswap's, but no argument of it is indexed. */
const isCommon = ({ topics }: RpcLog): boolean =>
  COMMON_TOPICS.has(topics[0]!) && !(topics.length === 1 && topics[0] === COMMON.mintV2.topic)

/** The event as viem reads it, which throws where topics or data do not fit. */
const decode = (log: RpcLog) => {
  const abi = log.topics.length === 4 && log.data === '0x' ? ERC721 : ABI
  return decodeEventLog({ abi, topics: log.topics as [Hex, ...Hex[]], data: log.data as Hex, strict: true })
}

test('every block passes the check of a node’s answer and links to the one before', () => {
  for (const [i, raw] of blocks.entries()) {
    checkBlock(raw)
    if (i > 0) checkLink(refOf(blocks[i - 1]!.block), raw.block)
  }
})

test('blooms are those of the logs, of blocks and of receipts', () => {
  for (const { block, receipts } of blocks.slice(0, 5)) {
    assert.equal(block.logsBloom, bloomOf(receipts))
    for (const receipt of receipts) assert.equal(receipt.logsBloom, bloomOf([receipt]))
  }
})

test('the same seed gives the same bytes, and another seed or chain others', () => {
  const bytes = (seed: number, chainId = 1) => Buffer.concat([...generateLines({ seed, chainId, count: 3 })])
  const first = bytes(7)
  assert.ok(first.equals(bytes(7)))
  assert.ok(!first.equals(bytes(8)))
  const [own] = generateBlocks({ seed: 7, count: 1 })
  const [other] = generateBlocks({ seed: 7, count: 1, chainId: 10 })
  assert.notEqual(own!.block.hash, other!.block.hash)
  assert.equal(other!.chainId, 10)
})

test('a block is the same whether it is made alone or after others', () => {
  const from = Number(blocks[0]!.block.number)
  for (const at of [1, 99, 199]) {
    const [alone] = generateBlocks({ seed: 1, from: from + at, count: 1 })
    assert.deepEqual(alone, blocks[at])
  }
})

test('a line is its block as JSON', () => {
  const [line] = generateLines({ seed: 1, count: 1 })
  assert.equal(line!.at(-1), 10)
  assert.deepEqual(JSON.parse(line!.toString()), blocks[0])
})

test('hashes never repeat', () => {
  const hashes = [...blocks.map(({ block }) => block.hash), ...transactions.map(tx => tx.hash)]
  assert.equal(new Set(hashes).size, hashes.length)
  for (const hash of hashes) assert.match(hash, /^0x[0-9a-f]{64}$/)
})

test('the first block has no parent, the highest one can be made', () => {
  const [genesis] = generateBlocks({ seed: 1, from: 0, count: 1 })
  assert.equal(genesis!.block.parentHash, `0x${'0'.repeat(64)}`)
  checkBlock(genesis!)
  const high = [...generateBlocks({ seed: 1, from: 2 ** 31 - 1 })]
  assert.deepEqual(
    high.map(({ block }) => block.number),
    ['0x7fffffff'],
  )
  checkBlock(high[0]!)
})

test('the size is that of mainnet: 150 transactions and 300 logs a block, half of the transactions without any', () => {
  const perTx = receipts.map(receipt => receipt.logs.length)
  assert.ok(Math.abs(transactions.length / blocks.length - 150) < 10)
  assert.ok(Math.abs(logs.length / transactions.length - 2) < 0.1)
  assert.ok(Math.abs(share(receipts, receipt => receipt.logs.length === 0) - 0.5) < 0.02)
  assert.ok(Math.max(...perTx) <= 12)
  for (const { block } of blocks) assert.ok(block.transactions.length >= 80 && block.transactions.length <= 220)
  assert.ok(Math.abs(share(receipts, receipt => receipt.status === '0x0') - 0.02) < 0.005)
  assert.ok(receipts.every(receipt => receipt.status === '0x1' || receipt.logs.length === 0))
  const bytes = blocks.reduce((sum, block) => sum + JSON.stringify(block).length, 0) / logs.length
  assert.ok(bytes > 1750 && bytes < 2050, `${bytes} bytes of JSON a log`)
})

test('85 % of the logs are of the thirteen common events, and viem reads them', () => {
  assert.ok(Math.abs(share(logs, isCommon) - 0.85) < 0.02, `${share(logs, isCommon)}`)
  // Reading takes viem some 50 us a log.
  const some = logs.slice(0, 15_000)
  const found: Record<string, number> = {}
  for (const log of some.filter(isCommon)) {
    const event = decode(log)
    const name = `${event.eventName}/${log.topics.length}/${log.data.length <= 258 ? 2 : 3}`
    found[name] = (found[name] ?? 0) + 1
  }
  assert.deepEqual(Object.keys(found).sort(), [
    'Approval/3/2',
    'ApprovalForAll/3/2',
    'Burn/3/2',
    'Deposit/2/2',
    'Mint/2/2',
    'OrderFulfilled/3/3',
    'Swap/3/2',
    'Swap/3/3',
    'Sync/1/2',
    'Transfer/3/2',
    'Transfer/4/2',
    'TransferSingle/4/2',
    'Withdrawal/2/2',
  ])
  assert.ok(Math.abs(found['Transfer/3/2']! / some.length - 0.55) < 0.03)
  assert.ok(Math.abs(found['Approval/3/2']! / some.length - 0.08) < 0.015)
})

test('the other logs are of 300 events, with topics and data as their signature has them', () => {
  assert.equal(OTHER.length, 300)
  const events = new Map(OTHER.map(event => [event.topic, event]))
  assert.equal(events.size, 300)
  const seen = new Set<string>()
  for (const log of logs) {
    if (isCommon(log)) continue
    const event = events.get(log.topics[0]!)!
    seen.add(event.signature)
    assert.equal(log.topics.length, 1 + event.indexed.length, event.signature)
    assert.equal(log.data.length, 2 + 64 * event.data.length, event.signature)
    const words = log.data.slice(2).match(/.{64}/g) ?? []
    for (const [i, type] of event.data.entries()) assertFits(type, words[i]!)
    for (const [i, type] of event.indexed.entries()) assertFits(type, log.topics[i + 1]!.slice(2))
  }
  assert.ok(seen.size > 280, `${seen.size}`)
})

/** Whether a word is a clean value of a static type. */
const assertFits = (type: string, word: string) => {
  const [, kind, digits] = /^(u?int|address|bool|bytes)([0-9]*)$/.exec(type)!
  const bits = kind === 'address' ? 160 : kind === 'bool' ? 1 : kind === 'bytes' ? 256 : Number(digits)
  const value = kind === 'int' ? BigInt.asIntN(256, BigInt(`0x${word}`)) : BigInt(`0x${word}`)
  assert.equal(kind === 'int' ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value), value, `${type} ${word}`)
}

test('amounts of 18 decimals are beyond 2^53 in most cases, and hot tokens stand out', () => {
  const weth = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
  const amounts = logs
    .filter(log => log.address === weth && log.topics.length === 3)
    .map(log => BigInt(log.data))
    .filter(amount => amount < 2n ** 255n)
  assert.ok(amounts.length > 5000)
  assert.ok(share(amounts, amount => amount > 2n ** 53n) > 0.8)
  assert.ok(amounts.every(amount => amount < 10n ** 24n))
  assert.ok(Math.abs(share(logs, log => log.address === weth) - 0.2) < 0.03)
})

test('accounts are few hot ones and a tail that grows with the chain', () => {
  const senders = new Map<string, number>()
  for (const tx of transactions) senders.set(tx.from, (senders.get(tx.from) ?? 0) + 1)
  const ranked = [...senders.values()].sort((a, b) => b - a)
  const hot = ranked.slice(0, 200).reduce((sum, count) => sum + count, 0) / transactions.length
  assert.ok(hot > 0.2 && hot < 0.5, `${hot}`)
  const half = new Set(transactions.slice(0, transactions.length / 2).map(tx => tx.from))
  assert.ok(senders.size > half.size * 1.3)
})

test('transactions carry the fields that geth gives their type', () => {
  const common =
    'blockHash blockNumber blockTimestamp chainId from gas gasPrice hash input nonce r s to transactionIndex type v value'
  const typed = `${common} accessList yParity`
  const feeMarket = `${typed} maxFeePerGas maxPriorityFeePerGas`
  const fields: Record<string, string> = {
    '0x0': common,
    '0x1': typed,
    '0x2': feeMarket,
    '0x3': `${feeMarket} blobVersionedHashes maxFeePerBlobGas`,
    '0x4': `${feeMarket} authorizationList`,
  }
  const shares: Record<string, number> = { '0x0': 0.175, '0x1': 0.03, '0x2': 0.755, '0x3': 0.022, '0x4': 0.02 }
  for (const [type, names] of Object.entries(fields)) {
    const own = transactions.filter(tx => tx.type === type)
    for (const tx of own) assert.deepEqual(Object.keys(tx).sort(), names.split(' ').sort())
    assert.ok(Math.abs(own.length / transactions.length - shares[type]!) < 0.01, type)
  }
  for (const [i, tx] of transactions.entries()) {
    const receipt = receipts[i]!
    assert.equal(receipt.effectiveGasPrice, tx.gasPrice)
    assert.ok(Number(tx.gas) >= Number(receipt.gasUsed))
    for (const name of ['value', 'nonce', 'gas', 'gasPrice', 'r', 's', 'v']) {
      assert.match(tx[name] as string, /^0x(0|[1-9a-f][0-9a-f]*)$/, name)
    }
    const creation = tx.to === null && receipt.status === '0x1'
    const created = creation ? getContractAddress({ from: tx.from as Hex, nonce: BigInt(tx.nonce) }) : undefined
    assert.equal(receipt.contractAddress, created?.toLowerCase() ?? null)
  }
  assert.ok(receipts.some(receipt => receipt.contractAddress !== null))
})

test('gas, blob gas and log indexes add up over a block', () => {
  for (const { block, receipts } of blocks) {
    let gas = 0
    let blobGas = 0
    for (const receipt of receipts) {
      gas += Number(receipt.gasUsed)
      blobGas += Number(receipt.blobGasUsed ?? 0)
      assert.equal(Number(receipt.cumulativeGasUsed), gas)
    }
    assert.equal(Number(block.gasUsed), gas)
    assert.equal(Number(block.blobGasUsed), blobGas)
    assert.ok(gas < Number(block.gasLimit))
    assert.equal((block.withdrawals as unknown[]).length, 16)
  }
  const times = blocks.map(({ block }) => Number(block.timestamp))
  assert.ok(times.every((time, i) => i === 0 || time === times[i - 1]! + 12))
})

test('what a real block carries, a made-up one carries too', { skip: !hasMainnet }, async () => {
  const real = gunzipLines(await readFile(mainnetPack)).map(line => JSON.parse(line) as RawBlock)[2]!
  const made = blocks[0]!
  const missing = (of: object, from: object) => Object.keys(of).filter(name => !(name in from))
  assert.deepEqual(missing(real.block, made.block), [])
  assert.deepEqual(missing(real.receipts[0]!, made.receipts[0]!), [])
  const logOf = (raw: RawBlock) => raw.receipts.flatMap(receipt => receipt.logs)[0]!
  assert.deepEqual(missing(logOf(real), logOf(made)), [])
})

const traced = [...generateBlocks({ seed: 1, count: 40, traces: true })]
const traces = traced.flatMap(raw => raw.traces!)

test('with their traces blocks are the same otherwise, and alone as after others', () => {
  for (const [i, { traces, ...rest }] of traced.entries()) {
    assert.deepEqual(rest, blocks[i])
    assert.ok(traces!.length > 0)
  }
  const from = Number(blocks[0]!.block.number)
  assert.deepEqual([...generateBlocks({ seed: 1, from: from + 17, count: 1, traces: true })], [traced[17]])
})

test('an import takes blocks with traces as they are', async t => {
  const path = await (await tempFolder(t))('pack.ndjson', '')
  await main(['--blocks', '5', '--traces', '--out', path])
  const read: RawBlock[] = []
  for await (const { block } of readPack(path)) read.push(block)
  assert.deepEqual(read, traced.slice(0, 5))
})

test('the top-level trace is what the transaction says, and fails where it does', () => {
  for (const { block, receipts, traces } of traced) {
    const tops = traces!.filter(({ traceAddress }) => traceAddress.length === 0)
    assert.equal(tops.length, block.transactions.length)
    for (const [i, trace] of tops.entries()) {
      const { from, to, input, value } = block.transactions[i]!
      const action = { gas: 'gas' in trace.action && trace.action.gas, from, value }
      if (trace.type === 'create') {
        assert.deepEqual(trace.action, { ...action, creationMethod: 'create', init: input })
        assert.equal(trace.result?.address ?? null, receipts[i]!.contractAddress)
      } else assert.deepEqual(trace.action, { ...action, callType: 'call', to, input })
      assert.equal('error' in trace, receipts[i]!.status === '0x0')
    }
  }
})

test('a step comes from the contract whose code runs, and uses no more gas than the one above', () => {
  const path: RpcTrace[] = []
  for (const trace of traces) {
    path.length = trace.traceAddress.length
    const above = path.at(-1)
    path.push(trace)
    if (!above) continue
    assert.equal('from' in trace.action ? trace.action.from : fieldOf(trace, 'address'), selfOf(above))
    const gasOf = (it: RpcTrace) => Number(it.result === null || !('gasUsed' in it.result) ? 0 : it.result.gasUsed)
    if (above.result !== null) assert.ok(gasOf(trace) <= gasOf(above))
  }
})

const fieldOf = ({ action }: RpcTrace, name: string) => (action as Record<string, unknown>)[name]
const selfOf = (trace: RpcTrace): unknown =>
  trace.type === 'create'
    ? trace.result?.address
    : fieldOf(trace, fieldOf(trace, 'callType') === 'delegatecall' ? 'from' : 'to')

const FUNCTIONS = parseAbi([
  'function transfer(address to, uint256 value)',
  'function transferFrom(address from, address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function balanceOf(address owner)',
  'function getReserves()',
  'function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)',
  'function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes data)',
  'function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes data)',
  'function mint(address to)',
  'function burn(address to)',
  'function deposit()',
  'function withdraw(uint256 value)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function onERC721Received(address operator, address from, uint256 id, bytes data)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
  'function setApprovalForAll(address operator, bool approved)',
])

test('calls of known functions are what viem would call them with', () => {
  const others = parseAbi(
    [...VIEWS, ...DEEDS].map(({ signature }) => `function ${signature}`) as never,
  ) as typeof FUNCTIONS
  const abi = [...FUNCTIONS, ...others]
  const selectors = new Set<string>([...Object.values(CALLED), ...[...VIEWS, ...DEEDS].map(({ selector }) => selector)])
  const found: Record<string, number> = {}
  let calls = 0
  for (const { type, action, traceAddress } of traces.slice(0, 8000)) {
    if (type !== 'call' || traceAddress.length === 0 || action.input === '0x') continue
    calls++
    const selector = action.input.slice(0, 10)
    if (!selectors.has(selector)) continue
    const data = action.input as Hex
    const call = decodeFunctionData({ abi, data })
    assert.equal(encodeFunctionData({ abi, ...call } as never), data)
    found[selector] = (found[selector] ?? 0) + 1
  }
  const known = Object.values(found).reduce((a, b) => a + b) / calls
  assert.ok(Math.abs(known - 0.96) < 0.02, `${known}`)
  for (const [name, selector] of Object.entries(CALLED)) assert.ok(name === 'error' || found[selector]! > 0, name)
})

test('traces are shaped like mainnet’s', () => {
  const sizes = [...Map.groupBy(traces, trace => fieldsOf(trace).transactionHash).values()].map(list => list.length)
  const sorted = sizes.toSorted((a, b) => a - b)
  const rank = (share: number) => sorted[Math.floor(share * sorted.length)]!
  // Of block 17,073,191, the likest of those that are known: 6.7, 54 %, 12, 46.
  const mean = traces.length / sizes.length
  assert.ok(mean > 5 && mean < 7, `${mean}`)
  assert.ok(Math.abs(share(sizes, size => size === 1) - 0.56) < 0.04)
  assert.deepEqual([rank(0.5), rank(0.75) >= 6, rank(0.99) >= 25], [1, true, true])
  const kindOf = (trace: RpcTrace) => fieldOf(trace, 'callType') ?? trace.type
  const kinds = Object.fromEntries(
    [...Map.groupBy(traces, kindOf)].map(([kind, { length }]) => [kind, length / traces.length]),
  )
  assert.ok(Math.abs(kinds.call! - 0.55) < 0.06, `${kinds.call}`)
  assert.ok(Math.abs(kinds.staticcall! - 0.34) < 0.06, `${kinds.staticcall}`)
  assert.ok(Math.abs(kinds.delegatecall! - 0.12) < 0.03, `${kinds.delegatecall}`)
  assert.deepEqual(Object.keys(kinds).sort(), ['call', 'create', 'delegatecall', 'staticcall', 'suicide'])
  const depths = [0, 1, 2, 3].map(depth => share(traces, ({ traceAddress }) => traceAddress.length === depth))
  for (const [depth, due] of [0.16, 0.36, 0.3, 0.11].entries())
    assert.ok(Math.abs(depths[depth]! - due) < 0.04, `${depth}`)
  const bytes =
    traces.reduce((sum, trace) => sum + ((fieldOf(trace, 'input') as Hex)?.length ?? 2) / 2 - 1, 0) / traces.length
  assert.ok(bytes > 90 && bytes < 140, `${bytes} bytes of input a trace`)
  assert.ok(Math.abs(share(traces, trace => 'error' in trace) - 0.01) < 0.005)
})

const fieldsOf = (trace: RpcTrace) => trace as Exclude<RpcTrace, { type: 'reward' }>

test('what a real trace carries, a made-up one carries too', { skip: !hasMainnet }, async () => {
  const lines = gunzipLines(await readFile(join(mainnetFolder, 'traces.ndjson.gz'))).map(
    line => JSON.parse(line) as { traces: RpcTrace[] },
  )
  const namesOf = (list: readonly RpcTrace[]) =>
    [
      ...new Set(
        list
          .filter(({ type }) => type !== 'reward')
          .flatMap(trace => [
            ...Object.keys(trace),
            ...Object.keys(trace.action).map(name => `${trace.type} ${name}`),
            ...Object.keys(trace.result ?? {}).map(name => `${trace.type} ${name}`),
          ]),
      ),
    ].sort()
  const made = new Set(namesOf(traces))
  assert.deepEqual(
    namesOf(lines.at(-1)!.traces).filter(name => !made.has(name)),
    [],
  )
})

test('events end the blocks once there are enough', () => {
  const some = [...generateBlocks({ seed: 1, events: 1000 })]
  const counts = some.map(({ receipts }) => receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0))
  const sum = counts.reduce((a, b) => a + b, 0)
  assert.ok(sum >= 1000 && sum - counts.at(-1)! < 1000)
  assert.deepEqual([...generateBlocks({ seed: 1, events: 0 })], [])
})

test('the command line writes the lines, plain or gzip', async t => {
  const file = await tempFolder(t)
  const plain = await file('pack.ndjson', '')
  const packed = await file('pack.ndjson.gz', '')
  const options = ['--blocks', '3', '--seed', '5', '--from', '100', '--chain-id', '10']
  assert.match(await main([...options, '--out', plain]), /pack\.ndjson: 3 blocks, [0-9.]+ MB of JSON in [0-9.]+ s$/)
  await main([...options, '--out', packed])
  const expected = Buffer.concat([...generateLines({ seed: 5, from: 100, count: 3, chainId: 10 })])
  assert.ok(expected.equals(await readFile(plain)))
  assert.ok(expected.equals(gunzipSync(await readFile(packed))))
})

test('bad options are refused by name, before the file is made', async () => {
  const cases: [string[], RegExp][] = [
    [['--events', '10'], /^--out and one of --events and --blocks are due/],
    [['--out', 'x'], /^--out and one of --events and --blocks are due/],
    [['--out', 'x', '--events', '1k'], /^--events must be a whole number, not "1k"$/],
    [['--out', 'x', '--events', '1', '--seed', '4294967296'], /^seed must be an integer from 0 to 4294967295, not/],
    [['--out', 'x', '--events', '1', '--from', '2147483648'], /^from must be an integer from 0 to 2147483647, not/],
  ]
  for (const [args, message] of cases) await assert.rejects(main(args), { code: /option/, message })
})

const share = <T>(list: readonly T[], test: (item: T) => boolean): number => list.filter(test).length / list.length
