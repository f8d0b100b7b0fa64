import type { AlertTime, Outbox } from '../alerts/outbox.ts'
import { createYield } from '../lib/scheduling/event-loop.ts'
import { DAY_MS } from '../lib/time.ts'

/** Alerts of rules are counted by parts of a time, all in epoch milliseconds. */
export interface SeriesWanted {
  rules: readonly { id: number; network: string }[]
  /** Where parts begin, and their length. */
  starts: readonly number[]
  intervalMs: number
  now: number
}

export interface RuleSeries {
  rule: number
  /** By part. */
  counts: number[]
  last24h: number
  last: Omit<AlertTime, 'n'> | null
}

export interface AlertCountSeries {
  rules: RuleSeries[]
  /** Whether all were counted: of very many alerts, the newest are. */
  complete: boolean
}

const ALERTS_PER_PAGE = 500
/** Alerts that one question counts. */
const MAX_COUNTED_ALERTS = 200_000
/** Time for which a piece of the work keeps the thread that delivers. */
const PIECE_MS = 5

const turn = createYield()

/** Counts alerts by when their blocks were received. */
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
      // The store may have been made anew meanwhile.
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
