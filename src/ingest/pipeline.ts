import type { AlertUpdate } from '../alerts/alert-store.ts'
import type { Additions } from '../engine/documents/additions.ts'
import type { Blocks, Lookups } from '../engine/port.ts'
import { holds, mergeRanges, type Range } from '../lib/ranges.ts'
import { createLaneTurns } from '../lib/scheduling/lane-turns.ts'
import type { Preparer } from './decoding/prepare.ts'
import { type BlockLane, createLane, createLinkedBlocks, type LaneContext } from './lane.ts'
import { LANE_PARTS, type LaneName } from './messages.ts'
import type { RuleWatcher } from './rules/rule-watcher.ts'
import type { StoredBlocks } from './scoped/partial-blocks.ts'
import { createApplier } from './stored-changes.ts'
import { createWriterLink, type WriterLinkOptions } from './writer/writer-link.ts'

export type Pipeline = ReturnType<typeof createPipeline>

export interface PipelineOptions extends WriterLinkOptions {
  preparer: Preparer
  ruleWatcher: RuleWatcher
  blocks: Pick<Blocks, 'hash' | 'parentHash' | 'ranges'> & Pick<Lookups, 'partial'>
  storedBlocks(): StoredBlocks
  signal: AbortSignal
  onAlerts(): void
  storeBatch: number
}

/** A block's way into the store: checked against its neighbours, batched, committed, counted. */
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
  const replace: LaneContext['replace'] = async (lane, build, notes, hits) => {
    const additions: Additions[] = []
    const update = hits.length > 0 ? { hits } : undefined
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
    /** A lane takes blocks in ascending order; a block that is not next to the last one starts another run. */
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
    alerts: link.alerts,
    added: () => added,
    ...{ stuck: link.stuck, metrics: link.metrics, shipping: link.shipping },
    async tell({ hits, scans = [], marks }: AlertUpdate) {
      const update = ruleWatcher.takeUpdate()
      await send({
        type: 'update',
        update: { ...update, hits, scans: [...(update?.scans ?? []), ...scans], ...(marks && { marks }) },
      })
      onAlerts()
    },
    apply: createApplier({ preparer, blocks, signal, neighbours, joining, link, track, replace }),
    caughtUp,
    /** Calls `run` when no block is on its way; no lane takes any meanwhile. Decoding again may still be under way. */
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
