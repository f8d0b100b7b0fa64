import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import type { EndpointStatus } from '../source.ts'

export type ResponseTimes = ReturnType<typeof createResponseTimes>

/** How long a node takes to answer a request, by its last answers. */
export const createResponseTimes = ({ name, log, clock }: { name: string; log: Log; clock: Clock }) => {
  /** Oldest first. */
  let answers: { at: number; ms: number; urgent: boolean }[] = []
  let isSlow = false

  const forget = () => {
    const since = clock.elapsed() - RECENT_MS
    answers = answers.slice(-MOST).filter(({ at }) => at >= since)
  }
  const sorted = (urgentOnly: boolean): number[] =>
    answers
      .filter(({ urgent }) => urgent || !urgentOnly)
      .map(({ ms }) => ms)
      .sort((a, b) => a - b)

  return {
    /** `urgent`: for the head. Only by those it is called slow: a back-fill asks for more at once, and alerts do not wait for it. */
    add(ms: number, urgent: boolean) {
      answers.push({ at: clock.elapsed(), ms, urgent })
      forget()
      if (!urgent) return
      const times = sorted(true)
      if (times.length < LEAST) return
      const median = at(times, 0.5)
      const fields = { endpoint: name, medianMs: median, p95Ms: at(times, 0.95) }
      if (!isSlow && median > SLOW_MS) {
        isSlow = true
        log.warn('The node answers slowly: blocks and alerts come late', fields)
      } else if (isSlow && median < SLOW_MS / 2) {
        isSlow = false
        log.info('The node answers fast again', fields)
      }
    },
    status(): Pick<EndpointStatus, 'responseMs' | 'slow'> {
      forget()
      const times = sorted(false)
      if (times.length === 0) return {}
      return { responseMs: { median: at(times, 0.5), p95: at(times, 0.95) }, ...(isSlow && { slow: true }) }
    },
  }
}

const at = (sorted: readonly number[], part: number): number => Math.round(sorted[Math.ceil(part * sorted.length) - 1]!)

/** Answers that are remembered, and for how long. */
const MOST = 20
const RECENT_MS = 300_000
/** So many answers make a judgement. */
const LEAST = 3
/** Half of it is fast again, so that it does not change with each answer. */
const SLOW_MS = 2_000
