import type { WindowEntry } from './entries.ts'
import { createWindowFor } from './newest.ts'
import { createRepeats, isFurther, type RepeatSpec } from './repeats.ts'
import type { FirstValue } from './shown-key.ts'
import { isOfWindows, type NewestSpec, reachOf, type ShownCondition, type WindowSpan, type WindowSpec } from './spec.ts'
import type { WindowBlock, WindowLimits } from './window.ts'

/** What would be one alert. */
export interface Episode {
  key: string
  /** Of a rule with `First`: such an episode has no end. */
  first?: FirstValue
  opened: WindowBlock
  /** Null while it is open. */
  ended: WindowBlock | null
  /** Those in its first window, and those that came while it was open. Of readings, those that met the conditions. */
  matches: number
  /** Of each condition the value that was furthest beyond its bound. */
  peak: ShownCondition[]
}

export interface WindowReplayOptions {
  spec: WindowSpec | NewestSpec
  /** Of each shown condition its operator, where the spec does not have them. */
  operators?: readonly (string | undefined)[]
  limits: WindowLimits
  /** The first block whose verdicts count. */
  start: number
  opened(episode: Episode): void
  ended(episode: Episode): void
  /** Of a rule that tells open episodes again. */
  again?: { spec: RepeatSpec; repeated(episode: Episode, block: WindowBlock): void } | undefined
}

/**
 * Spans before a block from which on the blocks decide on it. What ends by conditions of its own may have
 * opened any time before: in the last window, that is seen.
 */
export const spansBefore = (spec: WindowSpec): WindowSpan[] => [
  reachOf(spec),
  ...(spec.hold ? [spec.hold] : []),
  ...(spec.resolve ? [spec.within] : []),
]

/**
 * Follows the windows of a rule over stored blocks and tells the episodes. Of those that began before `start`,
 * what is open at the first block from there on opens there.
 */
export const createWindowReplay = ({ spec, operators, limits, start, again, ...told }: WindowReplayOptions) => {
  const window = createWindowFor(spec, limits)
  const conditions = isOfWindows(spec) ? spec.conditions : []
  const bounds = operators ?? conditions.map(({ operator }) => operator)
  const repeats = again && createRepeats(again.spec)
  const nameOfFirst = conditions.find(({ aggregate }) => aggregate === 'First')?.name
  const open = new Map<string, Episode>()
  const holding = new Map<string, WindowBlock>()
  /** Keys whose episodes began before `start`. */
  const early = new Set<string>()
  const undecided = createUndecided()
  let refused = 0
  let last: WindowBlock | undefined

  const begin = (key: string, now: WindowBlock, first?: FirstValue): Episode => {
    const { conditions, matches } = window.show(key)
    const episode = { key, ...(first && { first }), opened: now, ended: null, matches, peak: conditions }
    told.opened(episode)
    return episode
  }

  const raise = ({ key, peak }: Episode) => {
    for (const [i, now] of window.show(key).conditions.entries()) if (isFurther(now, peak[i]!, bounds[i])) peak[i] = now
  }

  return {
    /** How often a block had matches of a further key for which there was no room. */
    get refused() {
      return refused
    },
    /** Blocks at which a window reached into blocks that are not stored. */
    undecided: undecided.ranges,
    /** Whether blocks without a match change nothing, up to `start`. */
    get isIdle() {
      if (last === undefined || holding.size > 0 || repeats?.waits) return false
      if (!isOfWindows(spec)) return true
      if (last.number < start && !spec.hold && !spec.resolve) return true
      return window.size.rows === 0 && window.isComplete(last)
    },

    /** Blocks come in their order. `follows`: whether none is missing before it. */
    step(block: WindowBlock, entries: readonly WindowEntry[], follows: boolean) {
      if (last === undefined || !follows) {
        holding.clear()
        window.setSince(block)
      }
      const step = window.step(block, entries)
      refused += step.refused
      for (const key of step.began) holding.set(key, block)
      for (const keys of [step.broke, step.opened]) for (const key of keys) holding.delete(key)
      const previous = last?.number
      last = block
      for (const key of step.ended) early.delete(key)
      if (block.number < start) {
        for (const key of step.opened) early.add(key)
        return
      }
      const opened = [...early, ...step.opened]
      early.clear()
      for (const entry of step.taken) {
        const episode = open.get(entry.key)
        if (episode) episode.matches += matchesOfEntry(entry, block)
      }
      for (const key of step.ended) {
        const episode = open.get(key)
        // Ended where the range begins.
        if (!episode) continue
        open.delete(key)
        episode.ended = block
        told.ended(episode)
      }
      for (const key of step.touched) {
        const episode = open.get(key)
        if (episode) raise(episode)
      }
      for (const key of opened) open.set(key, begin(key, block))
      for (const key of repeats?.step(block, { ...step, opened }, window) ?? []) again!.repeated(open.get(key)!, block)
      for (const { key, value } of step.first) begin(key, block, { name: nameOfFirst!, value })
      if (!window.isComplete(block)) undecided.add(block.number, previous)
    },
  }
}

/** A reading that failed leaves the one before it, and one that ends an episode does not meet its conditions. */
const matchesOfEntry = ({ count, reading }: WindowEntry, { number }: WindowBlock): number =>
  reading === undefined ? count : Number(reading.meets === true && reading.block === number)

/** Ranges of blocks at which something may have been other than it was found. */
export const createUndecided = () => {
  const ranges: { from: number; to: number }[] = []
  return {
    ranges: ranges as readonly { from: number; to: number }[],
    /** `previous`: the block that was looked at before. */
    add(number: number, previous: number | undefined) {
      const before = ranges.at(-1)
      if (before && before.to === previous) before.to = number
      else ranges.push({ from: number, to: number })
    },
  }
}
