import { isSeen } from './compared.ts'
import { createUndecided } from './replay.ts'
import { createRuleSequence, type FoundSequence, type SequenceShape, type StepMatch } from './sequence.ts'
import type { WindowBlock, WindowLimits } from './window.ts'

export interface SequenceReplayOptions {
  shape: SequenceShape
  limits: WindowLimits
  /** The first block whose sequences count. */
  start: number
  /** Alerts that are made in one block. */
  most: number
  found(sequence: FoundSequence, now: WindowBlock): void
}

/** Follows the sequences of a rule over stored blocks and tells those that are complete. */
export const createSequenceReplay = ({ shape, limits, start, most, found }: SequenceReplayOptions) => {
  const { isMissing, within } = shape
  const sequence = createRuleSequence(shape, limits)
  const undecided = createUndecided()
  let refused = 0
  let untold = 0
  let since: WindowBlock | undefined
  let last: WindowBlock | undefined
  let isWhole = false

  return {
    /** First steps for which there was no room. */
    get refused() {
      return refused
    },
    /** Sequences that made no alerts, since their blocks had too many. */
    get untold() {
      return untold
    },
    /** Blocks at which a sequence might have been found, or ended, by blocks that are not stored. */
    undecided: undecided.ranges,
    /** Whether blocks without a match change nothing, up to the one before `start`. */
    get isIdle() {
      if (last === undefined || (isMissing && sequence.size.rows > 0)) return false
      return isWhole || last.number < start - 1
    },

    /** Blocks come in their order. `follows`: whether none is missing before it. */
    step(block: WindowBlock, matches: readonly StepMatch[], follows: boolean) {
      const before = follows ? last : undefined
      if (before === undefined) {
        sequence.skip()
        since = block
      }
      const step = sequence.step(block, matches)
      refused += step.refused
      const previous = last?.number
      last = block
      // What did not come is told after its window.
      const end = isMissing ? before : block
      isWhole = since!.number === 0 || (end !== undefined && isSeen(since, within, end))
      if (block.number < start) return
      untold += Math.max(0, step.found.length - most)
      for (const one of step.found.slice(0, most)) found(one, block)
      if (!isWhole) undecided.add(block.number, previous)
    },
  }
}
