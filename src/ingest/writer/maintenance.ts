import type { AlertPruning } from '../../alerts/marks.ts'
import type { Writer } from '../../engine/writer.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Range } from '../../lib/ranges.ts'
import { type OpenRequest, openPruneRequest, type PruneRequest } from '../requests/prune-requests.ts'

/** Work on a store that goes on beside changes, one step of a few milliseconds at a time. */

/** Runs a step that returns whether there may be more to do. What is refused for now is tried again later. */
export const attemptStep = (step: () => boolean): boolean => {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.next === 'retry')) throw error
    return false
  }
}

/**
 * Blocks of the head go before merging, but not for ever: a store of many small segments is slow to search. From so many on, some steps go
 * before each block; from the other number on, no block goes.
 */
const MANY_UNMERGED = 16
const MAX_UNMERGED = 256
const STEPS = 8

/**
 * Merges small segments. `unmerged`: first blocks around which there may be some. The oldest goes first: then none are left behind that are too
 * few to merge.
 */
export const createMerging = (writer: Pick<Writer, 'merge'>, unmerged: number[]) => {
  /** Since the last change. */
  let steps = 0
  return {
    add: (...blocks: readonly number[]) => void unmerged.push(...blocks),
    isDue: () => unmerged.length > 0,
    /** Whether it goes before whatever waits. */
    isLate: () => unmerged.length >= (steps < STEPS ? MANY_UNMERGED : MAX_UNMERGED),
    /** A change is written next. */
    pause() {
      steps = 0
    },
    /** What waits for a block waits for nothing else: segments are merged when it is told of. What cannot be merged now is tried with a later block. */
    step(isStopping: boolean) {
      steps++
      if (isStopping || !attemptStep(() => writer.merge(unmerged[0]!))) unmerged.shift()
    },
  }
}

export interface PrunerOptions {
  store: string
  writer: Pick<Writer, 'prune' | 'also'>
  alerts: AlertPruning
  log: Log
}

/** Time between two looks at whether something is asked for. */
export const LOOK_MS = 1_000

/** Does what prune requests ask for. */
export const createPruner = (options: PrunerOptions) => {
  let steps: Iterator<void> | undefined
  let lookAt = 0
  return {
    /** One step; returns whether there may be more to do. */
    step() {
      if (!steps) {
        if (performance.now() < lookAt) return false
        lookAt = performance.now() + LOOK_MS
        const open = openPruneRequest(options.store)
        if (!open) return false
        steps = stepsOf(open, options)
      }
      try {
        if (steps.next().done) steps = undefined
      } catch (error) {
        // The next look starts it again.
        steps = undefined
        throw error
      }
      return true
    },
  }
}

/** Brings old entries of the index into today's form, once. */
export const createModernizing = (writer: Pick<Writer, 'modernize'>): (() => boolean) => {
  let isModern = false
  return () => {
    if (!isModern) isModern = !writer.modernize()
    return !isModern
  }
}

function* stepsOf({ request, end }: OpenRequest, { writer, alerts, log }: PrunerOptions): Generator<void, void> {
  let removed: Range | undefined
  const onHidden = ({ from, to }: Range) => {
    removed = { from: removed?.from ?? from, to }
  }
  try {
    while (writer.prune(request, onHidden)) yield
  } finally {
    if (removed) log.info('Removed old blocks', { ...removed, ...whyOf(request) })
  }
  if (request.alerts) {
    const { alerts: limits } = request
    const { step, removed } = alerts.begin(limits)
    for (let more = true; more; ) {
      writer.also(() => {
        more = step()
      })
      yield
    }
    if (removed() > 0)
      log.info('Removed old alerts', { alerts: removed(), before: new Date(limits.before).toISOString() })
  }
  end()
}

/** What is kept, in the words of the settings. */
const whyOf = ({ below, keepBlocks, keepSeconds }: PruneRequest) => ({
  ...(below !== undefined && { before: below }),
  ...(keepBlocks !== undefined && { keepBlocks }),
  ...(keepSeconds !== undefined && { keepFor: showDuration(keepSeconds) }),
})

const showDuration = (seconds: number): string =>
  `${seconds % 86_400 === 0 ? seconds / 86_400 : (seconds / 86_400).toFixed(2)}d`
