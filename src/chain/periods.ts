/** Days and months of UTC, and what was used of the credits that each has. */

export type PeriodName = 'day' | 'month'

/** What was used in one day or month: `id` is as in ISO 8601, 2026-11-22 or 2026-11. */
export interface Used {
  id: string
  credits: number
}

export interface Period {
  readonly name: PeriodName
  readonly limit: number
  /** What the head leaves to others. */
  readonly forOthers: number
  readonly used: Used
  /** When the next one begins, as epoch milliseconds. */
  readonly endsAt: number
  /** Share of it that has gone by. */
  elapsed(): number
}

/** The head keeps a tenth of what there is. */
const FOR_OTHERS = 0.9

export const createPeriod = (name: PeriodName, limit: number, now: () => number, before: Used | undefined) => {
  let { id, startsAt, endsAt } = boundsOf(name, now())
  // One that was begun later than now is this one by a clock that was set back.
  let credits = before && before.id >= id ? before.credits : 0
  const roll = () => {
    if (now() < endsAt) return
    ;({ id, startsAt, endsAt } = boundsOf(name, now()))
    credits = 0
  }
  return {
    name,
    limit,
    forOthers: Math.floor(limit * FOR_OTHERS),
    get used() {
      roll()
      return { id, credits }
    },
    get endsAt() {
      roll()
      return endsAt
    },
    elapsed() {
      roll()
      return Math.min(1, Math.max(0, (now() - startsAt) / (endsAt - startsAt)))
    },
    add(more: number) {
      roll()
      credits = Math.max(0, credits + more)
    },
  }
}

const boundsOf = (name: PeriodName, at: number) => {
  const date = new Date(at)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  const iso = date.toISOString()
  return name === 'day'
    ? { id: iso.slice(0, 10), startsAt: Date.UTC(year, month, day), endsAt: Date.UTC(year, month, day + 1) }
    : { id: iso.slice(0, 7), startsAt: Date.UTC(year, month), endsAt: Date.UTC(year, month + 1) }
}
