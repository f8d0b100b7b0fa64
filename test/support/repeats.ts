import type { EpisodeChanges } from '../../src/windows/episodes.ts'
import type { LastTold, RepeatSpec } from '../../src/windows/repeats.ts'
import type { ShownCondition } from '../../src/windows/spec.ts'
import type { RuleWindow, WindowBlock } from '../../src/windows/window.ts'

const isFurther = (operator: string | undefined, now: ShownCondition, before: ShownCondition): boolean => {
  if (now.value === null || operator === undefined || operator === 'Equals') return false
  const [value, other] = [Number(now.value), before.value === null ? undefined : Number(before.value)]
  return other === undefined || (operator.startsWith('Greater') ? value > other : value < other)
}

/** Looks at all open keys after each block. */
export const createNaiveRepeats = ({ after, worse }: RepeatSpec) => {
  const open = new Map<string, LastTold>()
  return (
    now: WindowBlock,
    { opened, ended }: Pick<EpisodeChanges, 'opened' | 'ended'>,
    window: Pick<RuleWindow, 'show' | 'isDecided'>,
  ): string[] => {
    for (const key of ended) open.delete(key)
    const repeated: string[] = []
    for (const [key, told] of open) {
      const { conditions } = window.show(key)
      const hasPassed = (['blocks', 'seconds'] as const).every(
        unit =>
          after[unit] === undefined ||
          now[unit === 'blocks' ? 'number' : 'time'] - told[unit === 'blocks' ? 'number' : 'time'] >= after[unit],
      )
      const isWorse = worse?.some(
        (operator, i) =>
          conditions[i] !== undefined &&
          isFurther(operator, conditions[i], told.opened[i]!) &&
          isFurther(operator, conditions[i], told.conditions[i]!),
      )
      if (!hasPassed || isWorse === false || !window.isDecided(key, now)) continue
      open.set(key, { ...now, opened: told.opened, conditions })
      repeated.push(key)
    }
    for (const key of opened) {
      const { conditions } = window.show(key)
      open.set(key, { ...now, opened: conditions, conditions })
    }
    return repeated
  }
}
