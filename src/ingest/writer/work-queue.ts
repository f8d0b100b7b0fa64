import type { AlertPruning } from '../../alerts/marks.ts'
import type { Writer } from '../../engine/writer.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Range } from '../../lib/ranges.ts'
import { createLaneShares } from '../../lib/scheduling/lane-turns.ts'
import { LANE_PARTS, type LaneName, type WriterChange } from '../messages.ts'
import { type OpenRequest, openPruneRequest, type PruneRequest } from '../requests.ts'

export type QueuedChange = WriterChange & { id: number }

/** Steps take some milliseconds; each returns whether there may be more to do. */
interface WriterJobs {
  merge(block: number): boolean
  maintain(): boolean
  /** Copies some of the log into the store's file. */
  settle(): void
  unmerged: number[]
}

const MANY_OF_HEAD = 8
/**
 * Head blocks precede merging up to this many unmerged batches, as many small segments are slow to
 * search. From here, `MERGE_STEPS` precede each block; from `MAX_UNMERGED` on, no block goes.
 */
const MANY_UNMERGED = 16
const MAX_UNMERGED = 256
const MERGE_STEPS = 8

/**
 * Orders the writer's work: the head within its share of time, merging, maintenance in turns with a
 * back-fill, and the back-fill.
 */
export const createWorkQueue = ({ merge, maintain, settle, unmerged }: WriterJobs) => {
  const lanes: Record<LaneName, QueuedChange[]> = { head: [], fill: [] }
  const shares = createLaneShares(LANE_PARTS)
  let mergeSteps = 0
  let wasMaintained = false
  let wasHead = false

  const urgentLane = (): LaneName | undefined => {
    if (lanes.head.length === 0) return undefined
    // Changes of rules and reorganisations apply to all later writes.
    const isPlain = lanes.fill.length > 0 && lanes.head.every(({ type }) => type === 'batch')
    return isPlain ? shares.next() : 'head'
  }

  return {
    add: (change: QueuedChange) => void lanes[laneOfChange(change)].push(change),
    putBack: (change: QueuedChange) => void lanes[laneOfChange(change)].unshift(change),
    addUnmerged: (blocks: readonly number[]) => void unmerged.push(...blocks),
    /** Lane to serve next, or `job` after a step of a job. */
    next({ isStopping, isClosing }: { isStopping: boolean; isClosing: boolean }): LaneName | 'job' {
      const isMergingLate = unmerged.length >= (mergeSteps < MERGE_STEPS ? MANY_UNMERGED : MAX_UNMERGED)
      const lane = isMergingLate ? undefined : urgentLane()
      if (!lane && unmerged.length > 0) {
        mergeSteps++
        // Merges the oldest first and leaves no small rest; a later block retries failures.
        if (isStopping || !attemptStep(() => merge(unmerged[0]!))) unmerged.shift()
        return 'job'
      }
      const isDue = !lane && !isClosing && !isStopping && (!wasMaintained || lanes.fill.length === 0)
      wasMaintained = isDue && attemptStep(maintain)
      if (wasMaintained) return 'job'
      // In small parts after each block of the head: a large one would delay the next block.
      if (!lane && wasHead && lanes.fill.length === 0) settle()
      wasHead = false
      return lane ?? 'fill'
    },
    first: (lane: LaneName): QueuedChange | undefined => lanes[lane][0],
    take(lane: LaneName): QueuedChange | undefined {
      mergeSteps = 0
      return lanes[lane].shift()
    },
    /** Records the time of a change; true if shipping may take as much: head idle or overloaded. */
    spend(change: QueuedChange, ms: number): boolean {
      wasHead = laneOfChange(change) === 'head'
      shares.spend(laneOfChange(change), ms)
      return laneOfChange(change) === 'fill' || lanes.head.length >= MANY_OF_HEAD
    },
  }
}

/** Decoding again and restored batches share the back-fill's lane. */
const laneOfChange = (change: WriterChange): LaneName =>
  change.type === 'batch' || change.type === 'replace' ? change.lane : ASIDE.has(change.type) ? 'fill' : 'head'
const ASIDE: ReadonlySet<WriterChange['type']> = new Set(['revise', 'restore', 'verified', 'forget'])

export const attemptStep = (step: () => boolean): boolean => {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.next === 'retry')) throw error
    return false
  }
}

interface WriterMaintenanceOptions {
  store: string
  writer: Pick<Writer, 'prune' | 'also' | 'modernize'>
  alerts: AlertPruning
  log: Log
}

export const PRUNE_LOOK_MS = 1_000

/** Prunes on request, and migrates old index entries step by step. */
export const createWriterMaintenance = (options: WriterMaintenanceOptions): (() => boolean) => {
  let pruning: Iterator<void> | undefined
  let lookAt = 0
  let isModern = false
  return () => {
    if (!pruning && performance.now() >= lookAt) {
      lookAt = performance.now() + PRUNE_LOOK_MS
      pruning = pruneAsAsked(options)
    }
    if (pruning?.next().done === false) return true
    pruning = undefined
    isModern ||= !options.writer.modernize()
    return !isModern
  }
}

/** Removes old blocks and alerts on request; the next look resumes after a stop. */
export function* pruneAsAsked(
  options: Omit<WriterMaintenanceOptions, 'writer'> & { writer: Pick<Writer, 'prune' | 'also'> },
) {
  for (let open = openPruneRequest(options.store); open; open = openPruneRequest(options.store))
    yield* prune(open, options)
}

function* prune(
  { request, end }: OpenRequest,
  { writer, alerts, log }: Parameters<typeof pruneAsAsked>[0],
): Generator<void, void> {
  let blocks: Range | undefined
  const onHidden = ({ from, to }: Range) => {
    blocks = { from: blocks?.from ?? from, to }
  }
  try {
    while (writer.prune(request, onHidden)) yield
  } finally {
    if (blocks) log.info('Removed old blocks', { ...blocks, ...keptBy(request) })
  }
  if (request.alerts) {
    const { step, removed } = alerts.begin(request.alerts)
    for (let more = true; more; ) {
      writer.also(() => {
        more = step()
      })
      yield
    }
    const before = new Date(request.alerts.before).toISOString()
    if (removed() > 0) log.info('Removed old alerts', { alerts: removed(), before })
  }
  end()
}

const keptBy = ({ below, keepBlocks, keepSeconds }: PruneRequest) => ({
  ...(below !== undefined && { before: below }),
  ...(keepBlocks !== undefined && { keepBlocks }),
  ...(keepSeconds !== undefined && { keepFor: inDays(keepSeconds) }),
})

const inDays = (seconds: number): string =>
  `${seconds % 86_400 === 0 ? seconds / 86_400 : (seconds / 86_400).toFixed(2)}d`
