import type { Clock } from '../../lib/retry.ts'
import { createRequestPace } from '../../lib/scheduling/rate-limiter.ts'
import { secretUrl } from '../../lib/secret.ts'
import { type Allowance, BY_CALLS, BY_HOST, PROVIDERS, type Prices, parsePrice } from '../../limits/credits.ts'
import { exact, type SpentFile, spentInMemory } from './spent-file.ts'

interface Cost {
  perSecond: number
  credits: number
}

/** For `GET /status`. Credits are the provider's unit; with `costs: 'calls'`, each call is one. */
export interface BudgetStatus {
  costs: string
  rate?: string
  spent: number
  day?: PeriodStatus
  month?: PeriodStatus
}

interface PeriodStatus {
  limit: number
  used: number
  left: number
  /** Begin of the next period, ISO-8601 UTC. */
  endsAt: string
}

export interface BudgetOptions {
  url: string
  clock: Pick<Clock, 'now' | 'elapsed'>
  spent?: SpentFile | undefined
}

export type Budget = NonNullable<ReturnType<typeof createBudget>>

export const createBudget = (
  { rate, daily, month, costs: entries }: Allowance,
  { url, clock, spent = spentInMemory() }: BudgetOptions,
) => {
  if (rate === undefined && daily === undefined && month === undefined) return undefined
  const { now } = clock
  const costs = createCosts(entries, new URL(url).hostname)
  const pace = rate && createRequestPace(rate.most, clock.elapsed)
  const account = spent.at(url, secretUrl(url).toString())
  const periods = Object.entries({ day: daily, month } satisfies Record<PeriodName, unknown>).flatMap(
    ([period, limit]) => (limit === undefined ? [] : [createPeriod(period as PeriodName, limit, now)]),
  )
  /** Books credits ahead in steps: a kill loses no spending, and few requests write the file. */
  const step = Math.min(...periods.map(({ limit }) => limit)) / STEPS
  const ahead = { day: dayOf(now()), credits: 0 }
  let total = 0
  const closed = { urgent: 0, others: 0 }
  let headSpent = 0
  let headNeeds = 0

  const giveBack = () => {
    if (ahead.credits !== 0) account.add(ahead.day, -ahead.credits)
    ahead.credits = 0
  }
  const usedOf = ({ id }: Period) => Math.max(0, exact(account.since(id) - (ahead.day >= id ? ahead.credits : 0)))
  const perSecond = (methods: readonly string[], chainId: number | undefined): number => {
    if (!rate) return 0
    return rate.of === 'calls' ? methods.length : costs.perSecond(methods, chainId)
  }
  const forOthers = ({ limit, endsAt }: Period) =>
    Math.floor(limit - Math.max(limit * FOR_HEAD, headNeeds * (endsAt - now())))
  const methodsOf = (calls: readonly { method: string }[]) => calls.map(({ method }) => method)

  return {
    /** Pace per second; undefined if unlimited. */
    pace,
    costOf(calls: readonly { method: string }[], chainId: number | undefined): Cost {
      const methods = methodsOf(calls)
      return { perSecond: perSecond(methods, chainId), credits: costs.credits(methods, chainId) }
    },
    mostCalls(calls: readonly { method: string }[], chainId: number | undefined): number {
      const each = perSecond(methodsOf(calls), chainId) / calls.length
      return rate && each > 0 ? Math.max(1, Math.floor(rate.most / PARTS / each)) : Number.POSITIVE_INFINITY
    },
    affords(credits: number, urgent: boolean): boolean {
      const short = periods.filter(period => usedOf(period) + credits > (urgent ? period.limit : forOthers(period)))
      if (short.length === 0) return true
      const until = short.map(period => {
        const isUsed = urgent || usedOf(period) + credits > period.limit * (1 - FOR_HEAD)
        // The reserve of the head may be smaller by then.
        return isUsed ? period.endsAt : Math.min(period.endsAt, (Math.floor(now() / HOUR_MS) + 1) * HOUR_MS)
      })
      closed[urgent ? 'urgent' : 'others'] = Math.max(...until)
      return false
    },
    charge(credits: number, forHead: boolean = false) {
      total += credits
      if (forHead) headSpent += credits
      if (periods.length === 0) return
      const day = dayOf(now())
      if (day !== ahead.day) giveBack()
      ahead.day = day
      ahead.credits -= credits
      if (ahead.credits >= 0) return
      const more = step - ahead.credits
      account.add(day, more)
      ahead.credits += more
    },
    headSpent: (): number => headSpent,
    /** Reserves what the head needs for the rest of the periods, if that is more than a tenth. */
    keep(perMs: number) {
      headNeeds = perMs
    },
    /** Spending rate that lasts until `endsAt`; undefined if no day or month is limited. */
    spendable(): { perMs: number; endsAt: number } | undefined {
      const [tightest] = periods
        .map(period => ({
          perMs: Math.max(0, period.limit - usedOf(period)) / Math.max(1, period.endsAt - now()),
          endsAt: period.endsAt,
        }))
        .sort((a, b) => a.perMs - b.perMs)
      return tightest
    },
    /** Retry time in epoch milliseconds; 0: now. Urgent calls use the head's reserve. */
    closedUntil(urgent: boolean): number {
      const until = urgent ? closed.urgent : closed.others
      // After the clock was set back, periods end earlier than `until`.
      return until > now() && periods.some(({ endsAt }) => until <= endsAt) ? until : 0
    },
    strain: (): number =>
      Math.max(0, ...periods.map(period => usedOf(period) / period.limit / Math.max(period.elapsed(), LEAST_ELAPSED))),
    status(): BudgetStatus {
      const of = Object.fromEntries(
        periods.map(period => {
          const { name, limit, endsAt } = period
          const used = usedOf(period)
          const status: PeriodStatus = {
            ...{ limit, used: Math.round(used), left: Math.max(0, Math.floor(limit - used)) },
            endsAt: new Date(endsAt).toISOString(),
          }
          return [name, status]
        }),
      )
      return { costs: costs.name, ...(rate && { rate: `${rate.most} ${rate.of}/s` }), spent: Math.round(total), ...of }
    },
    close: giveBack,
  }
}

const FOR_HEAD = 0.1
const HOUR_MS = 3_600_000
/** A request may use a quarter of the calls of a second. */
const PARTS = 4
const STEPS = 500
/** Minimum elapsed share in the strain: spending early in the day is normal. */
const LEAST_ELAPSED = 1 / 24

type PeriodName = 'day' | 'month'

type Period = ReturnType<typeof createPeriod>

const createPeriod = (name: PeriodName, limit: number, now: () => number) => {
  let { id, startsAt, endsAt } = boundsOf(name, now())
  const roll = () => {
    if (now() >= startsAt && now() < endsAt) return
    ;({ id, startsAt, endsAt } = boundsOf(name, now()))
  }
  return {
    name,
    limit,
    /** As in ISO 8601: 2026-11-22 or 2026-11. */
    get id() {
      roll()
      return id
    },
    get endsAt() {
      roll()
      return endsAt
    },
    elapsed() {
      roll()
      return Math.min(1, Math.max(0, (now() - startsAt) / (endsAt - startsAt)))
    },
  }
}

const boundsOf = (name: PeriodName, at: number) => {
  const date = new Date(at)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  return name === 'day'
    ? { id: dayOf(at), startsAt: Date.UTC(year, month, day), endsAt: Date.UTC(year, month, day + 1) }
    : { id: dayOf(at).slice(0, 7), startsAt: Date.UTC(year, month), endsAt: Date.UTC(year, month + 1) }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const CALLS: Pick<Prices, 'other' | 'methods' | 'perSecond' | 'chains'> = { other: 1, methods: {} }

export type Costs = ReturnType<typeof createCosts>

export const createCosts = (entries: Allowance['costs'] = [], host = '') => {
  let name = providerOf(host)
  const own = new Map<string, number>()
  for (const entry of entries) {
    const price = parsePrice(entry)
    if (price) own.set(...price)
    else name = entry === BY_HOST ? providerOf(host) : entry
  }
  const { methods, perSecond = {}, other, chains } = PROVIDERS.get(name) ?? CALLS
  const sum = (
    called: readonly string[],
    chainId: number | undefined,
    tables: readonly Readonly<Record<string, number>>[],
  ) => {
    const factor = (chainId === undefined ? undefined : chains?.get(chainId)) ?? 1
    let credits = 0
    for (const method of called) {
      const table = tables.find(it => Object.hasOwn(it, method))
      credits += own.get(method) ?? (table ? table[method]! : (own.get('*') ?? other)) * factor
    }
    return credits
  }
  return {
    name: own.size > 0 ? `${name}, changed` : name,
    credits: (called: readonly string[], chainId: number | undefined): number => sum(called, chainId, [methods]),
    perSecond: (called: readonly string[], chainId: number | undefined): number =>
      sum(called, chainId, [perSecond, methods]),
  }
}

const providerOf = (host: string): string => {
  for (const [name, { hosts }] of PROVIDERS) if (hosts.test(host)) return name
  return BY_CALLS
}
