import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Hex, RawBlock } from '../../src/chain/wire.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { compareValues } from '../../src/query/ast.ts'
import { createGasPrices, type GasPrice, type GasPriceRequest, TIERS } from '../../src/search/gas-price.ts'
import { createPool } from '../../src/search/pool.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { makeChain } from '../support/pack.ts'
import { randomFrom } from '../support/random.ts'
import { createTestStore, generatedBlocks, type TestStore } from '../support/store.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const signal = new AbortController().signal

/** Gas prices of a store, and the number of searches that they took. */
const pricesOf = (t: TestContext, store: TestStore, limits = DEFAULT_LIMITS) => {
  const pool = createPool({
    ...{ stores: () => new Map([[NETWORK, store.path]]), threads: 1, deadlineMs: 60_000, inlineMs: 1_000, limits },
  })
  t.after(async () => {
    await pool.close()
    store.close()
  })
  const searched = { count: 0 }
  const search: typeof pool.search = asked => {
    searched.count++
    return pool.search(asked)
  }
  const prices = createGasPrices({ search }, limits)
  const ask = (request: Partial<GasPriceRequest> = {}) =>
    prices({ network: NETWORK, account: 1, signal, now: Date.now(), ...request })
  return { ask, searched }
}

interface Paid {
  block: number
  tip: bigint
  gas: bigint
}

/** Random integers below a bound. */
const belowOf = (seed: number) => {
  const random = randomFrom(seed)
  return (bound: number) => Math.floor(random() * bound)
}

const least = (values: readonly bigint[]): bigint => values.toSorted(compareValues)[0]!

const big = (encoded: unknown): bigint => BigInt((encoded as { raw: Hex } | null)?.raw ?? 0)

/** What was paid by the documents, one by one. */
const paidIn = (store: TestStore, from: number, to: number): Paid[] => {
  const whole = store.all('block').filter(({ _source }) => _source.partial !== true)
  const bases = new Map(whole.map(({ _source }) => [Number(big(_source.number)), big(_source.baseFeePerGas)]))
  return store.all('tx').flatMap(({ _source }) => {
    const block = Number(big(_source.blockNumber))
    const base = bases.get(block)
    if (base === undefined || block < from || block > to) return []
    const tip = big(_source.effectiveGasPrice) - base
    return tip < 0n ? [] : [{ block, tip, gas: big(_source.gasUsed) }]
  })
}

const atPercent = (paid: readonly Paid[], percent: number): bigint => {
  const total = paid.reduce((sum, { gas }) => sum + gas, 0n)
  let left = (total * BigInt(percent)) / 100n
  for (const { tip, gas } of paid.toSorted((a, b) => compareValues(a.tip, b.tip))) {
    left -= gas
    if (left <= 0n) return tip
  }
  throw new Error('no transactions')
}

const gwei = (wei: bigint): number => Number(wei) / 1e9

const expected = (store: TestStore, from: number, to: number): Omit<GasPrice, 'health'> => {
  const blocks = store.all('block').filter(({ _source }) => {
    const number = Number(big(_source.number))
    return number >= from && number <= to
  })
  const [oldest, newest] = [blocks[0]!._source, blocks.at(-1)!._source]
  const base = big(newest.baseFeePerGas)
  const number = Number(big(newest.number))
  const paid = paidIn(store, from, to)
  const prices = paid.filter(({ block }) => block === number).map(({ tip }) => base + tip)
  const steps = number - Number(big(oldest.number))
  const price = (percent: number) => gwei(base + atPercent(paid, percent))
  const fees = (percent: number) => ({
    probability: `${percent}%`,
    priorityFee: gwei(atPercent(paid, percent)),
    maxFee: gwei(2n * base + atPercent(paid, percent)),
  })
  return {
    blockNumber: number,
    blockTime: steps === 0 ? null : ((newest.timestamp as number) - (oldest.timestamp as number)) / steps,
    ...{ slow: price(30), standard: price(60), fast: price(90), instant: price(99) },
    latestBlockBaseFee: gwei(base),
    latestBlockMinFee: gwei(prices.length === 0 ? base : least(prices)),
    eip1559: { slow: fees(30), standard: fees(60), fast: fees(90), faster: fees(96), instant: fees(99) },
  }
}

describe('the gas price', () => {
  it('is what a computation over the documents says, for the newest blocks and any range', async t => {
    const store = createTestStore(generatedBlocks(45), { run: [7, 1, 20] })
    const { ask } = pricesOf(t, store)
    const [first, last] = [22_600_000, 22_600_044]
    const { health, ...newest } = await ask()
    assert.equal(health, false, 'the newest block is old')
    assert.deepEqual(newest, expected(store, last - 19, last))
    const below = belowOf(5)
    for (let i = 0; i < 6; i++) {
      const from = first + below(45)
      const to = from + below(last - from + 1)
      assert.deepEqual(await ask({ from, to }), { health: true, ...expected(store, from, to) }, `${from} to ${to}`)
    }
    assert.deepEqual(await ask({ to: last - 5 }), { health: true, ...expected(store, last - 24, last - 5) })
    assert.deepEqual(await ask({ from: last - 2 }), { health: false, ...expected(store, last - 2, last) })
  })

  it('is that of whole blocks behind the last hole of twenty, without what pays less than the base fee', async t => {
    const blocks = generatedBlocks(40).flatMap((raw, i) => {
      if (i === 12 || (i > 20 && i < 30)) return []
      raw.receipts[0]!.effectiveGasPrice = '0x0'
      return i === 33 ? { ...raw, block: { ...raw.block, partial: true } } : raw
    })
    const store = createTestStore(blocks, { run: [3, 1] })
    const { ask } = pricesOf(t, store)
    const { health, ...found } = await ask()
    const { blockTime, ...own } = expected(store, 22_600_020, 22_600_039)
    assert.deepEqual(found, { blockTime: 12, ...own })
  })

  it('is healthy while the newest block is recent, by the pace of the chain', async t => {
    const { ask } = pricesOf(t, createTestStore(generatedBlocks(21)))
    const { timestamp } = generatedBlocks(1, 1, 22_600_020)[0]!.block
    const healthy = async (seconds: number) => (await ask({ now: (Number(timestamp) + seconds) * 1_000 })).health
    assert.deepEqual([await healthy(0), await healthy(299), await healthy(301)], [true, true, false])
    const slow = createTestStore(
      generatedBlocks(21).map((raw, i) => ({ ...raw, block: { ...raw.block, timestamp: hex(1e9 + 60 * i) } })),
    )
    const { ask: askSlow } = pricesOf(t, slow)
    const { health } = await askSlow({ now: (1e9 + 60 * 20 + 1_199) * 1_000 })
    assert.equal(health, true)
  })

  it('is unknown without blocks, and asks nothing again while there is no new one', async t => {
    const none = { health: false, blockNumber: null, blockTime: null, slow: null, standard: null, fast: null }
    const empty = pricesOf(t, createTestStore([]))
    assert.deepEqual(await empty.ask(), { ...none, instant: null })
    const store = createTestStore(generatedBlocks(3))
    const { ask, searched } = pricesOf(t, store)
    assert.deepEqual(await ask({ from: 5, to: 9 }), { ...none, instant: null })
    const before = await ask()
    searched.count = 0
    assert.deepEqual(await ask(), before)
    assert.equal(searched.count, 1)
    store.add(generatedBlocks(1, 1, 22_600_003))
    assert.equal((await ask()).blockNumber, 22_600_003)
  })

  it('is the base fee if blocks are empty, and unknown without EIP-1559', async t => {
    const blocks = makeChain({ from: 1, blocks: 4, txs: 0, logs: 0, chainId: 1 })
    const based = blocks.map(raw => ({ ...raw, block: { ...raw.block, baseFeePerGas: hex(7e9) } }))
    const fees = (probability: string) => ({ probability, priorityFee: 0, maxFee: 14 })
    const { health, slow, instant, latestBlockBaseFee, latestBlockMinFee, eip1559 } = await pricesOf(
      t,
      createTestStore(based),
    ).ask({ to: 4 })
    assert.deepEqual([health, slow, instant, latestBlockBaseFee, latestBlockMinFee], [false, 7, 7, 7, 7])
    assert.deepEqual(eip1559?.faster, fees('96%'))
    const unbased = blocks.map(({ block: { baseFeePerGas: _, ...block }, ...raw }) => ({ ...raw, block }) as RawBlock)
    const { blockTime, ...old } = await pricesOf(t, createTestStore(unbased)).ask({ to: 4 })
    assert.deepEqual(old, { health: false, blockNumber: 4, slow: null, standard: null, fast: null, instant: null })
  })

  it('is the price of transactions on a chain without EIP-1559', async t => {
    const blocks = makeChain({ from: 1, blocks: 3, txs: 10, logs: 0, chainId: 1 }).map(raw => {
      const { baseFeePerGas: _, ...block } = raw.block
      const transactions = block.transactions.map((tx, i) => ({ ...tx, gasPrice: hex((i + 1) * 1e9) }))
      const receipts = raw.receipts.map(({ effectiveGasPrice: _, ...receipt }) => ({
        ...receipt,
        gasUsed: hex(21_000),
      }))
      return { ...raw, block: { ...block, transactions }, receipts } as RawBlock
    })
    const { blockTime, ...found } = await pricesOf(t, createTestStore(blocks)).ask({ to: 3 })
    assert.deepEqual(found, { health: true, blockNumber: 3, slow: 3, standard: 6, fast: 9, instant: 10 })
  })

  it('refuses more blocks than the limit', async t => {
    const { ask } = pricesOf(t, createTestStore(generatedBlocks(4)), { ...DEFAULT_LIMITS, gasBlocks: 3 })
    await assert.rejects(
      ask({ from: 22_600_000 }),
      /more than 3 blocks\. Ask for a shorter range by \[from\] and \[to\]/,
    )
    assert.equal((await ask({ from: 22_600_001, to: 99_000_000 })).blockNumber, 22_600_003)
  })

  it('is that of eth_feeHistory', { skip: anvilPath === undefined && 'no anvil for this platform' }, async t => {
    const { call, from } = await startAnvil(t, ['--no-mining'])
    const below = belowOf(3)
    for (let block = 1; block <= 30; block++) {
      for (let i = block % 5 === 0 ? 0 : 1 + below(9); i > 0; i--)
        await call('eth_sendTransaction', {
          ...{ from, to: from, gas: '0x186a0', data: `0x${'01'.repeat(below(900))}` },
          ...{ maxFeePerGas: hex(9e9), maxPriorityFeePerGas: hex(1 + below(5e9)) },
        })
      await call('anvil_mine', '0x1')
    }
    const blocks: RawBlock[] = []
    for (let number = 0; number <= 30; number++)
      blocks.push({
        block: await call('eth_getBlockByNumber', hex(number), true),
        receipts: await call('eth_getBlockReceipts', hex(number)),
      } as RawBlock)
    const { ask } = pricesOf(t, createTestStore(blocks))
    const { reward, baseFeePerGas } = await call<{ reward: Hex[][]; baseFeePerGas: Hex[] }>(
      ...(['eth_feeHistory', hex(30), hex(30), Object.values(TIERS)] as const),
    )
    for (const [i, rewards] of reward.entries()) {
      const { eip1559, latestBlockBaseFee } = await ask({ from: i + 1, to: i + 1 })
      assert.equal(latestBlockBaseFee, Number(baseFeePerGas[i]) / 1e9)
      const fees = Object.values(eip1559!).map(({ priorityFee }) => priorityFee)
      assert.deepEqual(
        fees,
        rewards.map(fee => Number(fee) / 1e9),
        `block ${i + 1}`,
      )
    }
    assert.equal((await ask()).health, true)
  })
})

const hex = (value: number): Hex => `0x${value.toString(16)}`
