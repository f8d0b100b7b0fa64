/** Days and months of UTC, of which each has its credits. */

export type PeriodName = 'day' | 'month'

export interface Period {
  readonly name: PeriodName
  readonly limit: number
  /** As in ISO 8601, 2026-11-22 or 2026-11. */
  readonly id: string
  /** When the next one begins, as epoch milliseconds. */
  readonly endsAt: number
  /** Share of it that has gone by. */
  elapsed(): number
}

export const createPeriod = (name: PeriodName, limit: number, now: () => number): Period => {
  let { id, startsAt, endsAt } = boundsOf(name, now())
  const roll = () => {
    if (now() >= startsAt && now() < endsAt) return
    ;({ id, startsAt, endsAt } = boundsOf(name, now()))
  }
  return {
    name,
    limit,
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

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
