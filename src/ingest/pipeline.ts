import type { AlertUpdate } from '../alerts/alert-store.ts'
import { type Narrowed, NO_NOTES } from '../engine/coverage.ts'
import { type SegmentBatch, transferables } from '../engine/documents/batch.ts'
import type { Additions } from '../engine/documents/derived-rows.ts'
import type { BlockLookups, Lookups } from '../engine/port.ts'
import { gapsIn, holds, mergeRanges, type Range } from '../lib/ranges.ts'
import { createLaneTurns } from '../lib/scheduling/lane-turns.ts'
import { aborted } from '../lib/shutdown.ts'
import type { Preparer } from './decoding/prepare.ts'
import { type BlockLane, createLane, createLinkedBlocks, type LaneContext } from './lane.ts'
import { LANE_PARTS, type LaneName, type Revised, type WriterChange } from './messages.ts'
import type { PatchLine } from './remote.ts'
import type { RuleWatcher } from './rules/rule-watcher.ts'
import { cutStored, type ScopeCut, type StoredBlocks } from './scoped/partial-blocks.ts'
import { createWriterLink, type WriterLink, type WriterLinkOptions } from './writer/writer-link.ts'

export type Pipeline = ReturnType<typeof createPipeline>

export interface PipelineOptions extends WriterLinkOptions {
  preparer: Preparer
  ruleWatcher: RuleWatcher
  blocks: Pick<BlockLookups, 'hash' | 'parentHash' | 'ranges'> & Pick<Lookups, 'partial'>
  storedBlocks(): StoredBlocks
  signal: AbortSignal
  onAlerts(): void
  storeBatch: number
}

/** The way of a block into the store: checked against neighbours, batched, committed, counted. */
export const createPipeline = (options: PipelineOptions) => {
  const { preparer, ruleWatcher, blocks, signal, onAlerts } = options
  const link = createWriterLink(options)
  const { send } = link
  const neighbours = createLinkedBlocks(blocks)
  const { held } = neighbours
  const counts = { blocks: 0, logs: 0, events: 0 }
  let added: Range[] = []
  let scopedTop = blocks.partial({ from: 0, to: Number.MAX_SAFE_INTEGER }).at(-1)?.last ?? -1
  const seen = (): Range[] => (scopedTop < 0 ? held() : mergeRanges([...held(), { from: scopedTop, to: scopedTop }]))
  const committed = (all: readonly Additions[]) => {
    for (const additions of all) preparer.committed(additions)
    onAlerts()
  }
  const { track, tracked, pause } = createIntakeGate()
  const replace: LaneContext['replace'] = async (lane, build, notes, update) => {
    const additions: Additions[] = []
    for (;;) {
      const { batches, replaces } = build()
      additions.push(...batches.map(({ added }) => added))
      const { done } = await send({ type: 'replace', lane, change: { batches, replaces, notes }, update })
      if (done) return committed(additions)
    }
  }
  const joining = { lookups: blocks, stored: options.storedBlocks, preparer }
  const context: LaneContext = {
    ...{ ...options, send, neighbours, turns: createLaneTurns(LANE_PARTS), joining, seen, replace, committed, track },
    noteScoped(number) {
      scopedTop = Math.max(scopedTop, number)
    },
    tellUpdate() {
      const update = ruleWatcher.takeUpdate()
      if (update) send({ type: 'update', update: { ...update, hits: [] } }).catch(() => {})
    },
    count({ blocks, logs, events }) {
      counts.blocks += blocks
      counts.logs += logs
      counts.events += events
    },
    noteAdded(range) {
      added = mergeRanges([...added, range])
      neighbours.forget(range)
    },
  }
  const lanes = new Map<LaneName, BlockLane>()

  const flushAll = async () => {
    for (const lane of lanes.values()) await lane.flush()
    await link.settled()
  }

  const caughtUp = async () => {
    await tracked()
    await flushAll()
  }

  return {
    /** A lane takes blocks in ascending order; a gap starts another run. */
    lane(name: LaneName) {
      const lane = createLane(name, context)
      lanes.set(name, lane)
      return lane
    },
    async rollback(to: number) {
      await send({ type: 'rollback', to })
      onAlerts()
      neighbours.rollback(to)
      scopedTop = Math.min(scopedTop, to)
    },
    stored(number: number) {
      const hash = holds(held(), number) ? neighbours.hashOf(number) : undefined
      return hash === undefined ? undefined : { number, hash }
    },
    held,
    seen,
    counts,
    ...{ alerts: link.alerts, notes: link.notes },
    added: () => added,
    ...{ stuck: link.stuck, metrics: link.metrics, shipping: link.shipping },
    async tell({ scans = [], ...found }: AlertUpdate) {
      const update = ruleWatcher.takeUpdate()
      await send({
        type: 'update',
        update: { ...update, ...found, scans: [...(update?.scans ?? []), ...scans] },
      })
      onAlerts()
    },
    apply: createApplier({ preparer, blocks, signal, neighbours, joining, link, track, replace }),
    caughtUp,
    /** Calls `run` while no block is under way and lanes are paused; decoding again may go on. */
    rest: (run: () => void) =>
      pause(async () => {
        await caughtUp()
        run()
      }),
    settled: link.settled,
    isSettled: link.isSettled,
    flush: flushAll,
    async shipped() {
      await send({ type: 'ship' })
    },
    close: link.close,
  }
}

const createIntakeGate = () => {
  const taking = new Set<Promise<unknown>>()
  let paused: Promise<void> | undefined
  return {
    async track<T>(take: () => Promise<T>): Promise<T> {
      while (paused) await paused
      const taken = take()
      taking.add(taken)
      return taken.finally(() => taking.delete(taken))
    },
    tracked: () => Promise.allSettled(taking),
    async pause(run: () => Promise<void>) {
      while (paused) await paused
      const { promise, resolve } = Promise.withResolvers<void>()
      paused = promise
      try {
        await run()
      } finally {
        paused = undefined
        resolve()
      }
    },
  }
}

export type StoredChange =
  | Extract<WriterChange, { type: 'revise' | 'verified' | 'forget' }>
  /** See `WriterChange`; `build` is called when dictionaries may be used. */
  | { type: 'restore'; segment: number; build(): SegmentBatch }
  | { type: 'cut'; range: Range; keep: ScopeCut; narrowed?: Narrowed }
  /** Replaces remote documents. Done if all their blocks are still on the chain. */
  | { type: 'patch'; lines: readonly PatchLine[] }
/** A job as its changes. Each `yield` returns the outcome or throws; null yields to the head. */
export type JobChanges<R = void> = AsyncGenerator<StoredChange | null, R, Revised>
export const applyJobChanges = async (
  changes: JobChanges,
  apply: (change: StoredChange) => Promise<Revised>,
  yieldToHead: () => Promise<void> = async () => {},
): Promise<void> => {
  for (let next = await changes.next(NOTHING_DONE); !next.done; ) {
    let outcome = NOTHING_DONE
    try {
      if (next.value) outcome = await apply(next.value)
      else await yieldToHead()
    } catch (error) {
      next = await changes.throw(error)
      continue
    }
    next = await changes.next(outcome)
  }
}

const NOTHING_DONE: Revised = { done: false, took: 0 }
interface ApplierContext extends Pick<LaneContext, 'preparer' | 'blocks' | 'signal' | 'neighbours' | 'joining'> {
  link: WriterLink
  track: LaneContext['track']
  replace: LaneContext['replace']
}

const createApplier = (context: ApplierContext) => {
  const { preparer, blocks, signal, neighbours, joining, link, track, replace } = context
  /** Entries of restored batches, which the writer retains until its next write. */
  const restored: Additions[] = []

  return async (change: StoredChange): Promise<Revised> => {
    switch (change.type) {
      case 'verified':
        return link.send(change)
      case 'revise': {
        const revised = await link.send(change)
        preparer.committed(change.revision.added)
        return revised
      }
      case 'restore':
        return track(async () => {
          const { segment } = change
          const batch = change.build()
          restored.push(batch.added)
          const revised = await link.send({ type: 'restore', segment, batch }, transferables(batch))
          if (revised.done) for (const added of restored.splice(0)) preparer.committed(added)
          return revised
        })
      case 'forget': {
        const before = blocks.ranges()
        const revised = await link.send(change)
        const after = blocks.ranges()
        neighbours.lose(before.flatMap(({ from, to }) => gapsIn(after, from, to)))
        return revised
      }
      case 'cut': {
        const { range, keep, narrowed } = change
        const notes = narrowed ? { ...NO_NOTES, narrowed } : NO_NOTES
        await track(() => replace('fill', () => cutStored(range, keep, neighbours.held(), joining), notes, undefined))
        return { done: true, took: 0 }
      }
      case 'patch': {
        // Races the signal: a patch may take long, and nothing else waits for it.
        const stopped = aborted(signal).then((): never => {
          throw signal.reason
        })
        return Promise.race([link.post(change), stopped])
      }
    }
  }
}
