import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import type { BudgetWait } from '../source.ts'
import type { Budget } from './budget.ts'

interface Payer {
  readonly name: string
  readonly budget: Budget | undefined
}

export type HeadBudget = ReturnType<typeof createHeadBudget>

export const createHeadBudget = (endpoints: readonly Payer[], clock: Pick<Clock, 'now'>, log: Log) => {
  const payers = endpoints.flatMap(({ name, budget }) =>
    budget?.spendable() === undefined ? [] : [{ name, budget, counted: 0, credits: 0 }],
  )
  const isLimited = payers.length > 0 && payers.length === endpoints.length
  let blocks = 0
  let seen = 0
  let blockMs = 0
  let spentAtLook = 0
  let lookedAt = 0
  let waiting: BudgetWait | undefined
  let toldUntil = 0

  const spent = () => payers.reduce((sum, { budget }) => sum + budget.headSpent(), 0)
  const needOf = ({ credits }: (typeof payers)[number]) => credits / blocks / blockMs

  const tell = (until: number, names: string) => {
    if (until === toldUntil) return
    toldUntil = until
    log.warn('The budget of the nodes would not last for the head: asks less often', {
      for: `credits of ${names}`,
      until: new Date(until).toISOString(),
    })
  }

  return {
    came(count: number, ms: number) {
      blocks = blocks * OLD + count
      seen += count
      blockMs = ms
      for (const payer of payers) {
        const sum = payer.budget.headSpent()
        payer.credits = payer.credits * OLD + sum - payer.counted
        payer.counted = sum
        if (seen >= ENOUGH) payer.budget.keep(needOf(payer) * SPARE)
      }
    },
    /** When to look at the head again so that credits last, as epoch milliseconds; 0: at once. */
    restsUntil(): number {
      if (!isLimited || seen < ENOUGH) return 0
      const all = payers.map(payer => ({ ...payer.budget.spendable()!, need: needOf(payer) }))
      const may = MARGIN * all.reduce((sum, { perMs }) => sum + perMs, 0)
      if (all.reduce((sum, { need }) => sum + need, 0) <= may) return 0
      const now = clock.now()
      const endsAt = Math.min(...all.map(it => it.endsAt))
      const since = Math.min(lookedAt, now)
      const until = Math.min(since + (spent() - spentAtLook) / may, endsAt)
      if (until <= now) return 0
      const names = payers.map(({ name }) => name).join(', ')
      tell(endsAt, names)
      waiting = {
        kind: until - since > LATE_MS ? 'budget' : 'slow',
        for: `credits of ${names}: the head is polled less often to make them last`,
        since: waiting?.since ?? new Date(now).toISOString(),
        until: new Date(until).toISOString(),
      }
      return until
    },
    looks() {
      spentAtLook = spent()
      lookedAt = clock.now()
      waiting = undefined
    },
    waits: (): BudgetWait | undefined => waiting,
  }
}

const OLD = 0.9
const ENOUGH = 30
const MARGIN = 0.97
const SPARE = 1.1
/** Whoever looks at the head less often than this does not follow it. */
const LATE_MS = 600_000

export const createBudgetWaits = (clock: Clock, log: Log) => {
  const waiting = { urgent: 0, others: 0 }
  const told = new Map<string, { until: number; since: string; for: string }>()
  return {
    /** Waits until then, but for a minute at most, as clocks are set and timers have a limit. */
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
