import { compareExact, parseExact } from '../query/exact.ts'
import type { EpisodeChanges } from './episodes.ts'
import type { ShownCondition, WindowSpan } from './spec.ts'
import type { RuleWindow, WindowBlock } from './window.ts'

/** When alerts are repeated while their episodes last. */
export interface RepeatSpec {
  /** Since the alert opened, or was last repeated. */
  after: WindowSpan
  /** Operators of the shown conditions: of one, the value must be further than what was told. Absent: no value matters. */
  worse?: readonly (string | undefined)[]
}

/** What was last told of an open key, and what its opening had. */
export interface LastTold extends WindowBlock {
  opened: readonly ShownCondition[]
  conditions: readonly ShownCondition[]
}

/** Most alerts of a rule that are repeated in one block; the others come in the next ones. */
export const MAX_REPEATS = 1_000

export type Repeats = ReturnType<typeof createRepeats>

/** Finds the open keys of a rule whose alerts are to be repeated, without a look at those that wait. */
export const createRepeats = ({ after, worse }: RepeatSpec) => {
  /** In the order in which they were told. */
  const waiting = new Map<string, LastTold>()
  /** Those that have waited for long enough. */
  const ripe = new Map<string, LastTold>()
  /** The ripe ones of which something may have changed since they were looked at. */
  const look = new Set<string>()

  const isRipe = (told: WindowBlock, now: WindowBlock): boolean =>
    after.blocks !== undefined ? now.number >= told.number + after.blocks : now.time >= told.time + after.seconds!

  const isWorse = (now: readonly ShownCondition[], { opened, conditions }: LastTold): boolean =>
    worse === undefined ||
    worse.some((operator, i) =>
      [opened[i], conditions[i]].every(before => now[i] && before && isFurther(now[i], before, operator)),
    )

  /** The longest untold first, where not all of them can be told. */
  const inTurn = (): Iterable<string> => {
    if (look.size <= MAX_REPEATS) return look
    const numberOf = (key: string) => ripe.get(key)!.number
    return [...look].sort((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1))
  }

  return {
    /** Whether time alone may repeat an alert. */
    get waits() {
      return waiting.size > 0 || look.size > 0
    },
    /** All open keys, in the order in which they were told. */
    set(all: Iterable<readonly [string, LastTold]>) {
      for (const [key, told] of all) waiting.set(key, told)
    },
    /** Takes what a block has changed; returns the keys whose alerts are repeated. */
    step(
      now: WindowBlock,
      { opened, ended, touched }: Pick<EpisodeChanges, 'opened' | 'ended'> & { touched: ReadonlySet<string> },
      window: Pick<RuleWindow, 'show' | 'isDecided'>,
    ): string[] {
      for (const key of ended) for (const known of [waiting, ripe, look]) known.delete(key)
      if (ripe.size > 0) for (const key of touched) if (ripe.has(key)) look.add(key)
      for (const [key, told] of waiting) {
        if (!isRipe(told, now)) break
        waiting.delete(key)
        ripe.set(key, told)
        look.add(key)
      }
      const repeated: string[] = []
      for (const key of inTurn()) {
        if (repeated.length === MAX_REPEATS) break
        look.delete(key)
        const told = ripe.get(key)!
        const { conditions } = window.show(key)
        if (!window.isDecided(key, now) || !isWorse(conditions, told)) continue
        ripe.delete(key)
        waiting.set(key, { ...now, opened: told.opened, conditions })
        repeated.push(key)
      }
      for (const key of opened) {
        const { conditions } = window.show(key)
        waiting.set(key, { ...now, opened: conditions, conditions })
      }
      return repeated
    },
  }
}

/** Whether a value is further beyond the bound of its condition; of an equality none is. */
export const isFurther = (now: ShownCondition, before: ShownCondition, operator = ''): boolean => {
  const [value, other] = [now, before].map(it => (it.value === null ? undefined : parseExact(it.value)))
  if (value === undefined) return false
  const order = other && compareExact(value, other)
  if (operator.startsWith('Greater')) return order === undefined || order > 0
  return operator.startsWith('Less') && (order === undefined || order < 0)
}
