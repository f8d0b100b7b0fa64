import { createRecentCache } from '../lib/caches.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { readJsonAnswer } from './json-answer.ts'
import type { NetworkCaller, SearchService } from './service.ts'

/** Fees for the next blocks by what was paid in the last ones, in gwei. */
export interface GasPrice {
  /** Whether transactions were found, and the newest block is recent unless the caller named it. */
  health: boolean
  blockNumber: number | null
  /** Mean seconds from block to block. */
  blockTime: number | null
  slow: number | null
  standard: number | null
  fast: number | null
  instant: number | null
  /** Absent on chains without EIP-1559, as are the next ones. */
  latestBlockBaseFee?: number
  latestBlockMinFee?: number
  eip1559?: Record<Tier, TierFees>
}

export interface TierFees {
  probability: string
  priorityFee: number
  maxFee: number
}

/** Percent of the gas whose buyers paid at most the priority fee of a tier. */
export const TIERS = { slow: 30, standard: 60, fast: 90, faster: 96, instant: 99 } as const
type Tier = keyof typeof TIERS

export interface GasPriceRequest extends NetworkCaller {
  /** First and last block; by default the newest blocks. */
  from?: number | undefined
  to?: number | undefined
  /** Milliseconds since 1970. */
  now: number
}

const USUAL_BLOCKS = 20

/** Estimates by two searches, so that it works for every store of a network as they do. */
export const createGasPrices = (service: Pick<SearchService, 'search'>, limits: Limits) => {
  /** What was paid in blocks, by their hashes: it stays so until there is a new block. */
  const known = createRecentCache<readonly Paid[]>(MAX_KEPT_PRICES)

  return async ({ from, to, now, ...asking }: GasPriceRequest): Promise<GasPrice> => {
    const search = async <T>(entities: string, body: object): Promise<T> =>
      readJsonAnswer<T>(await service.search({ ...asking, entities, body: Buffer.from(JSON.stringify(body)) }))

    const first = from ?? (to === undefined ? undefined : Math.max(0, to - USUAL_BLOCKS + 1))
    const found = await search<FeeBlocks>('block', {
      ...((first !== undefined || to !== undefined) && { query: { range: { 'number.num': { gte: first, lte: to } } } }),
      ...{ sort: { 'number.num': 'desc' }, size: first === undefined ? USUAL_BLOCKS : limits.gasBlocks },
      _source: ['number.num', 'hash', 'timestamp', 'baseFeePerGas.num', 'partial'],
    })
    if (first !== undefined && found.hits.total > limits.gasBlocks) throw overLimit('gasBlocks', limits)
    const all = found.hits.hits.map(({ _source }) => _source)
    const newest = all[0]
    if (!newest) return { health: false, blockNumber: null, blockTime: null, ...pricesBy(() => null) }
    // Blocks below a hole are too old.
    const blocks = all.filter(it => first !== undefined || it.number.num > newest.number.num - USUAL_BLOCKS)

    const key = `${asking.network} ${blocks.map(({ hash, partial }) => `${hash} ${partial === true}`).join()}`
    const paid = known.get(key) ?? (await pricesIn(blocks, search))
    // Documents in a cluster may become visible later than their block.
    if (paid.length > 0) known.set(key, paid)
    const { blockTime, ...fees } = feesOf(blocks, paid)
    const patience = Math.max(RECENT_S, RECENT_BLOCKS * (blockTime ?? 0))
    const isRecent = to !== undefined || now / 1_000 - newest.timestamp <= patience
    return { health: isRecent && paid.length > 0, blockNumber: newest.number.num, blockTime, ...fees }
  }
}

/** Answers for different blocks or networks that are kept. */
const MAX_KEPT_PRICES = 100

const feesOf = (blocks: readonly FeeBlock[], paid: readonly Paid[]): Omit<GasPrice, 'health' | 'blockNumber'> => {
  const [newest, oldest] = [blocks[0]!, blocks.at(-1)!]
  const steps = newest.number.num - oldest.number.num
  const base = newest.baseFeePerGas?.num ?? undefined
  const tipAt = tipPercentiles(paid)
  const prices = pricesBy(tier => {
    // If nobody paid more than the base fee, that is the price.
    const tip = tipAt(TIERS[tier]) ?? (base === undefined ? undefined : 0)
    return tip === undefined ? null : toGwei((base ?? 0) + tip)
  })
  return {
    blockTime: steps === 0 ? null : (newest.timestamp - oldest.timestamp) / steps,
    ...prices,
    ...(base !== undefined && {
      latestBlockBaseFee: toGwei(base),
      latestBlockMinFee: toGwei(base + leastTip(paid, newest.number.num)),
      eip1559: tiersOf(base, percent => tipAt(percent) ?? 0),
    }),
  }
}

/** The newest block is recent for so many seconds, or for so many of its chain's block times. */
const RECENT_S = 300
const RECENT_BLOCKS = 20

interface FeeBlocks {
  hits: { total: number; hits: { _source: FeeBlock }[] }
}

interface FeeBlock {
  hash: string
  number: { num: number }
  timestamp: number
  baseFeePerGas?: { num: number | null } | null
  partial?: boolean
}

/** Gas of a block that was bought at one priority fee, in wei. */
interface Paid {
  block: number
  tip: number
  gas: number
}

interface FoundPrices {
  aggregations: {
    blocks: {
      buckets: {
        key: number
        prices: { sum_other_doc_count: number; buckets: { key: number; gas: { value: number } }[] }
      }[]
    }
  }
}

/** Buckets of an answer: below what OpenSearch allows, and our default. */
const MAX_PRICES = 60_000

/** What was paid in whole blocks; of partial ones, some transactions are unknown. */
const pricesIn = async (
  blocks: readonly FeeBlock[],
  search: (entities: string, body: object) => Promise<FoundPrices>,
): Promise<Paid[]> => {
  const whole = new Map(blocks.filter(it => !it.partial).map(it => [it.number.num, it.baseFeePerGas?.num]))
  // Without EIP-1559, receipts of old nodes have no price, but the transaction's own was paid.
  const field = [...whole.values()].some(base => base != null) ? 'effectiveGasPrice.num' : 'gasPrice.num'

  const paidIn = async (numbers: readonly number[]): Promise<Paid[]> => {
    const distinct = Math.floor(MAX_PRICES / numbers.length)
    const { aggregations } = await search('tx', {
      ...{ size: 0, query: { terms: { 'blockNumber.num': numbers } } },
      aggs: {
        blocks: {
          terms: { field: 'blockNumber.num', size: numbers.length },
          aggs: { prices: { terms: { field, size: distinct }, aggs: { gas: { sum: { field: 'gasUsed.num' } } } } },
        },
      },
    })
    const { buckets } = aggregations.blocks
    if (numbers.length > 1 && buckets.some(({ prices }) => prices.sum_other_doc_count > 0)) {
      const half = Math.ceil(numbers.length / 2)
      return [...(await paidIn(numbers.slice(0, half))), ...(await paidIn(numbers.slice(half)))]
    }
    return buckets.flatMap(({ key: block, prices }) =>
      prices.buckets
        .map(({ key, gas }) => ({ block, tip: key - (whole.get(block) ?? 0), gas: gas.value }))
        // Deposits of rollups and the like pay less than the base fee: they buy no place in a block.
        .filter(({ tip, gas }) => tip >= 0 && gas > 0),
    )
  }

  const paid: Paid[] = []
  const numbers = [...whole.keys()]
  for (let i = 0; i < numbers.length; i += USUAL_BLOCKS)
    paid.push(...(await paidIn(numbers.slice(i, i + USUAL_BLOCKS))))
  return paid
}

/** The least priority fee to which a percentage of the gas was bought, as `eth_feeHistory` has it. */
const tipPercentiles = (paid: readonly Paid[]): ((percent: number) => number | undefined) => {
  const sorted = paid.toSorted((a, b) => a.tip - b.tip)
  const total = paid.reduce((sum, { gas }) => sum + gas, 0)
  return percent => {
    const wanted = Math.floor((total * percent) / 100)
    let sum = 0
    return sorted.find(({ gas }) => {
      sum += gas
      return sum >= wanted
    })?.tip
  }
}

const pricesBy = (price: (tier: 'slow' | 'standard' | 'fast' | 'instant') => number | null) => ({
  slow: price('slow'),
  standard: price('standard'),
  fast: price('fast'),
  instant: price('instant'),
})

/** The base fee doubles within six full blocks at most. */
const BASE_FEES = 2

const tiersOf = (base: number, tipAt: (percent: number) => number): Record<Tier, TierFees> => {
  const tier = (name: Tier): TierFees => {
    const tip = tipAt(TIERS[name])
    return { probability: `${TIERS[name]}%`, priorityFee: toGwei(tip), maxFee: toGwei(BASE_FEES * base + tip) }
  }
  return {
    slow: tier('slow'),
    standard: tier('standard'),
    fast: tier('fast'),
    faster: tier('faster'),
    instant: tier('instant'),
  }
}

/** 0 in a block without transactions. */
const leastTip = (paid: readonly Paid[], block: number): number => {
  const tips = paid.filter(it => it.block === block).map(({ tip }) => tip)
  return tips.length === 0 ? 0 : Math.min(...tips)
}

const WEI_OF_GWEI = 1e9
const toGwei = (wei: number): number => wei / WEI_OF_GWEI
