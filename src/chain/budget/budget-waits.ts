import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import type { BudgetWait } from '../source.ts'

export type BudgetWaits = ReturnType<typeof createBudgetWaits>

/** Who waits until the budgets of nodes have something again. */
export const createBudgetWaits = (clock: Clock, log: Log) => {
  const waiting = { urgent: 0, others: 0 }
  const told = new Map<string, { until: number; since: string; for: string }>()
  return {
    /** Waits until then, or for a minute: clocks are set, and long waits are none of a timer's. */
    async wait(endpoints: readonly { name: string }[], urgent: boolean, until: number, signal: AbortSignal) {
      const lane = urgent ? 'urgent' : 'others'
      const known = told.get(lane)
      if (known?.until !== until) {
        const names = endpoints.map(({ name }) => name).join(', ')
        const what = urgent ? `credits of ${names}` : `credits of ${names}: what is left is kept for the head`
        const since = new Date(clock.now()).toISOString()
        told.set(lane, { until, since, for: what })
        log.warn(urgent ? 'The budget of the nodes is used up, waits' : 'A back-fill waits: the budget is used up', {
          for: what,
          until: new Date(until).toISOString(),
        })
      }
      waiting[lane]++
      try {
        await clock.sleep(Math.min(LONGEST_MS, Math.max(1, until - clock.now())), signal)
      } finally {
        waiting[lane]--
      }
    },
    now(): BudgetWait | undefined {
      const lane = waiting.urgent > 0 ? 'urgent' : waiting.others > 0 ? 'others' : undefined
      const known = lane && told.get(lane)
      if (!known) return undefined
      const { until, since } = known
      return {
        kind: lane === 'urgent' ? 'budget' : 'fill',
        for: known.for,
        since,
        until: new Date(until).toISOString(),
      }
    },
  }
}

const LONGEST_MS = 60_000
