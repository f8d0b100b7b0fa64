import { searchDocuments } from '../../api/client.ts'

/** Gas of each span, oldest first; null is unknown. */
export interface GasHistory {
  /** Start of each span, in epoch seconds. */
  times: readonly number[]
  /** Of the lines, in their order, in gwei. */
  prices: readonly (readonly (number | null)[])[]
  /** Percent of the gas limit. */
  used: readonly number[]
}

export const PRICE_LINES = ['Base fee', 'Slow (30%)', 'Standard (60%)', 'Fast (90%)', 'Instant (99%)'] as const
const PERCENTS = [30, 60, 90, 99]

/** A span in epoch milliseconds, or so many seconds up to the newest block; everything by default. */
export interface ShownSpan {
  seconds?: number | undefined
  from?: number | undefined
  to?: number | undefined
}

/** Undefined without blocks. */
export const readGasHistory = async (
  network: string,
  shown: ShownSpan,
  signal: AbortSignal,
): Promise<GasHistory | undefined> => {
  const search = async <T>(kind: string, body: object): Promise<T> => {
    const { aggregations } = await searchDocuments(network, [kind], { size: 0, ...body }, signal)
    return aggregations as T
  }
  const ends = await search<{ first: { value: number | null }; last: { value: number | null } }>('block', {
    aggs: { first: { min: { field: 'timestamp' } }, last: { max: { field: 'timestamp' } } },
  })
  if (ends.first.value === null || ends.last.value === null) return undefined
  const to = shown.to ?? ends.last.value
  const from = Math.max(shown.from ?? (shown.seconds === undefined ? 0 : to - shown.seconds * 1_000), ends.first.value)
  const span = { gte: Math.floor(from), lte: Math.ceil(to) }
  const seconds = Math.max(1, Math.ceil((to - from) / 1_000 / CHART_SPANS))
  const over = (aggs: object) => ({
    query: { range: { timestamp: span } },
    aggs: { spans: { date_histogram: { field: 'timestamp', fixed_interval: `${seconds}s` }, aggs } },
  })
  const percentiles = (field: string) => ({ percentiles: { field, percents: PERCENTS, keyed: false } })
  const [blocks, txs] = await Promise.all([
    search<Spans<BlockSums>>(
      'block',
      over({
        base: { avg: { field: 'baseFeePerGas.num' } },
        used: { sum: { field: 'gasUsed.num' } },
        limit: { sum: { field: 'gasLimit.num' } },
      }),
    ),
    search<Spans<TxSpan>>(
      'tx',
      over({ paid: percentiles('effectiveGasPrice.num'), offered: percentiles('gasPrice.num') }),
    ),
  ])
  const prices = new Map(txs.spans.buckets.map(({ key, paid, offered }) => [key, pricesOf(paid) ?? pricesOf(offered)]))
  const spans = blocks.spans.buckets
  return {
    times: spans.map(({ key }) => key / 1_000),
    prices: PRICE_LINES.map((_, line) =>
      spans.map(({ key, base }) => (line === 0 ? gweiOf(base.value) : (prices.get(key)?.[line - 1] ?? null))),
    ),
    used: spans.map(({ used, limit }) => (limit.value > 0 ? (100 * used.value) / limit.value : 0)),
  }
}

/** Spans of a chart, about. */
const CHART_SPANS = 100

interface Spans<B> {
  spans: { buckets: readonly B[] }
}

interface BlockSums {
  key: number
  base: { value: number | null }
  used: { value: number }
  limit: { value: number }
}

interface PricePercentiles {
  values: readonly { value: number | null }[]
}

interface TxSpan {
  key: number
  /** Without EIP-1559, what was offered was paid. */
  paid: PricePercentiles
  offered: PricePercentiles
}

const pricesOf = ({ values }: PricePercentiles): (number | null)[] | undefined =>
  values.some(({ value }) => value !== null) ? values.map(({ value }) => gweiOf(value)) : undefined

const WEI_PER_GWEI = 1e9
const gweiOf = (wei: number | null): number | null => (wei === null ? null : wei / WEI_PER_GWEI)
