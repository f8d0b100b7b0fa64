import type { Allowance } from '../limits/credits.ts'
import type { Call } from './answers.ts'
import { createCosts } from './costs.ts'
import { createPace, type Pace } from './pace.ts'
import { createPeriod, type PeriodName } from './periods.ts'
import { NOT_KEPT, type SpentFile } from './spent-file.ts'

/** What one endpoint may still be asked for. */
export interface Budget {
  /** Of each second; undefined where that is not limited. */
  readonly pace: Pace | undefined
  /** What calls count in a second, and what they are charged with. */
  costOf(calls: readonly Call[], chainId: number | undefined): Cost
  /** Most of such calls in one request, so that no request takes a large part of what a second has. */
  mostCalls(calls: readonly Call[], chainId: number | undefined): number
  /** Whether so much is left. Where it is not, `closedUntil` says so from then on. */
  affords(credits: number, urgent: boolean): boolean
  /** Takes it, or gives it back where it is negative. */
  charge(credits: number): void
  /** When something may be asked again, as epoch milliseconds; 0 where it may now. What is urgent may use what is kept for the head. */
  closedUntil(urgent: boolean): number
  /** How much faster it is spent than its days and months go by; 1 and less where it will do. */
  strain(): number
  status(): BudgetStatus
  /** Writes down what was spent. */
  close(): void
}

export interface Cost {
  perSecond: number
  credits: number
}

/** For `GET /status`. Credits are the provider's unit; where `costs` is `calls`, each call is one. */
export interface BudgetStatus {
  /** Whose prices are charged. */
  costs: string
  /** Such as 25 calls/s. */
  rate?: string
  /** Credits since the start. */
  spent: number
  day?: PeriodStatus
  month?: PeriodStatus
}

export interface PeriodStatus {
  limit: number
  used: number
  left: number
  /** When the next one begins, ISO-8601 UTC. */
  endsAt: string
}

export interface BudgetOptions {
  /** The endpoint's address, which nobody else is shown. */
  url: string
  /** The same without secrets. */
  name: string
  now(): number
  spent?: SpentFile | undefined
}

/** Undefined where nothing is limited. */
export const createBudget = (
  { rate, daily, month, costs: entries }: Allowance,
  { url, name, now, spent = NOT_KEPT }: BudgetOptions,
): Budget | undefined => {
  if (rate === undefined && daily === undefined && month === undefined) return undefined
  const costs = createCosts(entries, new URL(url).hostname)
  const pace = rate && createPace(rate.most, now)
  const before = spent.read(url)
  const periods = Object.entries({ day: daily, month } satisfies Record<PeriodName, unknown>).flatMap(
    ([period, limit]) =>
      limit === undefined ? [] : [createPeriod(period as PeriodName, limit, now, before[period as PeriodName])],
  )
  /** What the file says is this much more than what was spent, so that a kill forgets nothing, and few requests write. */
  const step = Math.min(...periods.map(({ limit }) => limit)) / STEPS
  /** What was spent since the file was written. */
  let unwritten = Number.POSITIVE_INFINITY
  let total = 0
  /** The ends of the periods in which a request was refused, by whether it was urgent. */
  const closed = { urgent: 0, others: 0 }

  const write = (ahead: number) => {
    unwritten = 0
    const entries = periods.map(({ name, used: { id, credits } }) => [name, { id, credits: credits + ahead }])
    spent.write(url, name, Object.fromEntries(entries))
  }
  const perSecond = (methods: readonly string[], chainId: number | undefined): number => {
    if (!rate) return 0
    return rate.of === 'calls' ? methods.length : costs.perSecond(methods, chainId)
  }
  const methodsOf = (calls: readonly Call[]) => calls.map(({ method }) => method)

  return {
    pace,
    costOf(calls, chainId) {
      const methods = methodsOf(calls)
      return { perSecond: perSecond(methods, chainId), credits: costs.credits(methods, chainId) }
    },
    mostCalls(calls, chainId) {
      const each = perSecond(methodsOf(calls), chainId) / calls.length
      return rate && each > 0 ? Math.max(1, Math.floor(rate.most / PARTS / each)) : Number.POSITIVE_INFINITY
    },
    affords(credits, urgent) {
      const short = periods.filter(
        ({ used, limit, forOthers }) => used.credits + credits > (urgent ? limit : forOthers),
      )
      if (short.length === 0) return true
      closed[urgent ? 'urgent' : 'others'] = Math.max(...short.map(({ endsAt }) => endsAt))
      return false
    },
    charge(credits) {
      total += credits
      for (const period of periods) period.add(credits)
      unwritten += Math.abs(credits)
      if (periods.length > 0 && unwritten > step) write(step)
    },
    closedUntil(urgent) {
      const until = urgent ? closed.urgent : closed.others
      return until > now() ? until : 0
    },
    strain: () =>
      Math.max(
        0,
        ...periods.map(period => period.used.credits / period.limit / Math.max(period.elapsed(), LEAST_ELAPSED)),
      ),
    status() {
      const of = Object.fromEntries(
        periods.map(({ name, limit, used: { credits }, endsAt }) => [
          name,
          {
            ...{ limit, used: Math.round(credits), left: Math.max(0, Math.floor(limit - credits)) },
            endsAt: new Date(endsAt).toISOString(),
          } satisfies PeriodStatus,
        ]),
      )
      return { costs: costs.name, ...(rate && { rate: `${rate.most} ${rate.of}/s` }), spent: Math.round(total), ...of }
    },
    close() {
      if (periods.length > 0) write(0)
    },
  }
}

/** Parts of a second's calls that a request may have. */
const PARTS = 4
/** So often is written down what is spent of a whole budget. */
const STEPS = 500
/** The first hour of a day may spend as much as the whole of it has on an average. */
const LEAST_ELAPSED = 1 / 24
