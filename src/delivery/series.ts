import type { AlertTime, Outbox } from '../alerts/outbox.ts'
import { createYield } from '../lib/scheduling/event-loop.ts'
import { DAY_MS } from '../lib/time.ts'

/** Counts alerts per interval; times are epoch milliseconds. */
export interface SeriesWanted {
  rules: readonly { id: number; network: string }[]
  /** Starts of the intervals, and their length. */
  starts: readonly number[]
  intervalMs: number
  now: number
}

export interface RuleSeries {
  rule: number
  /** Per interval. */
  counts: number[]
  last24h: number
  last: Omit<AlertTime, 'n'> | null
}

export interface AlertCountSeries {
  rules: RuleSeries[]
  /** False if only the newest of too many alerts were counted. */
  complete: boolean
}

const ALERTS_PER_PAGE = 500
const MAX_COUNTED_ALERTS = 200_000
/** Longest time without yielding to deliveries. */
const PIECE_MS = 5

const turn = createYield()

export const countAlerts = async (
  outbox: (network: string) => Pick<Outbox, 'times'> | undefined,
  { rules, starts, intervalMs, now }: SeriesWanted,
): Promise<AlertCountSeries> => {
  const first = starts[0] ?? now
  const end = (starts.at(-1) ?? now) + intervalMs
  const since = now - DAY_MS
  const oldest = Math.min(first, since)
  let left = MAX_COUNTED_ALERTS
  let complete = true
  let started = performance.now()

  const count = async (rule: number, network: string): Promise<RuleSeries> => {
    const series: RuleSeries = { rule, counts: starts.map(() => 0), last24h: 0, last: null }
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      if (performance.now() - started > PIECE_MS) {
        await turn()
        started = performance.now()
      }
      // The store may have been replaced meanwhile.
      const page = outbox(network)?.times(rule, before, ALERTS_PER_PAGE) ?? []
      for (const { n, ...alert } of page) {
        series.last ??= alert
        const { receivedAt } = alert
        if (receivedAt >= since) series.last24h++
        if (receivedAt >= first && receivedAt < end) series.counts[Math.floor((receivedAt - first) / intervalMs)]!++
        before = n
      }
      left -= page.length
      // Older alerts were stored earlier, and received before they were stored.
      const isOver = page.length < ALERTS_PER_PAGE || page.some(({ changedAt }) => changedAt < oldest)
      if (isOver) return series
      if (left > 0) continue
      complete = false
      return series
    }
  }

  const counted: RuleSeries[] = []
  for (const { id, network } of rules) counted.push(await count(id, network))
  return { rules: counted, complete }
}
