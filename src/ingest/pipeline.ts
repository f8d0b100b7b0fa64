import type { RuleMatch } from '../alerts/alert.ts'
import type { AlertUpdate } from '../alerts/alert-store.ts'
import type { BlockRef } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { PatchLine } from '../cluster/ship/line.ts'
import type { DecodedBlock } from '../documents/decoded-block.ts'
import { type CoverageNotes, type Narrowed, NO_NOTES } from '../engine/coverage.ts'
import type { Additions } from '../engine/documents/additions.ts'
import { type Batch, transferables } from '../engine/documents/batch.ts'
import type { Revision } from '../engine/index/revision.ts'
import { FULL_SEGMENT } from '../engine/index/segments.ts'
import type { Blocks, Lookups } from '../engine/port.ts'
import { gapsIn, holds, merged, type Range } from '../lib/ranges.ts'
import { aborted } from '../lib/shutdown.ts'
import type { BuiltPiece } from './builders/facts.ts'
import type { LaneName, Revised } from './messages.ts'
import { createNeighbours } from './neighbours.ts'
import type { Preparer, Run } from './prepare.ts'
import type { RuleWatcher } from './rule-watcher.ts'
import { type Cut, cutStored, joinStored, type Replacing } from './scoped/replacing.ts'
import type { StoredBlocks } from './scoped/stored.ts'
import { createTurns } from './turns.ts'
import { createWriterLink, type WriterLink, type WriterLinkOptions } from './writer-link.ts'

/**
 * The way of a block into the store: checked against its stored neighbours, added to the run at hand, handed to the writer as one
 * transaction, and counted when that is committed.
 */
export interface Pipeline extends Omit<WriterLink, 'send' | 'post'> {
  /** A lane takes blocks in ascending order; a block that is not next to the last one starts another run. */
  lane(name: LaneName): Lane
  /** Removes all blocks above this one, after what was handed to the writer before. */
  rollback(to: number): Promise<void>
  /** The block of this number that is stored or on its way. */
  stored(number: number): BlockRef | undefined
  /** Ranges that are stored whole, or on their way. */
  held(): Range[]
  /** The same, with the newest block that is stored in part. */
  seen(): Range[]
  readonly counts: { blocks: number; logs: number; events: number }
  added(): Range[]
  /** Hands on hits in what is stored already. */
  tell(update: AlertUpdate): Promise<void>
  /** Has what is stored decoded otherwise; resolves when that is committed, or its segment is found to be no more. */
  revise(revision: Revision): Promise<Revised>
  /**
   * Puts blocks back into the store whose documents lay in a cluster, in place of the end of an emptied segment; `build` is called when the dictionaries may be
   * asked. False where that segment is no more.
   */
  restore(segment: number, build: () => Batch): Promise<boolean>
  /** What was restored last is the same as in the cluster. Whether the store answers searches from now on. */
  verified(): Promise<boolean>
  /**
   * Has documents of the cluster be others; resolves when that is done, or a block is found to be no more. Nobody else waits for that. Rejects when the
   * program stops.
   */
  patch(lines: readonly PatchLine[]): Promise<Revised>
  /**
   * Forgets blocks of which these indices of a cluster lost documents that the store no longer has: see `Writer.forget`. Resolves when they are gone; what is
   * held then is what the store holds.
   */
  forget(blocks: readonly Range[], indices: readonly string[]): Promise<void>
  /** Takes out of the partial blocks of a range what is not to stay, and notes what goes on to count. Resolves when that is committed. */
  cut(range: Range, cut: Cut, narrowed?: Narrowed): Promise<void>
  /** Resolves when every block that was decoded before now is committed. */
  caughtUp(): Promise<void>
  /** Calls `run` when no block is on its way; no lane takes any meanwhile. Decoding again may still be under way. */
  rest(run: () => void): Promise<void>
  /** Ends all runs at hand, and resolves when they are committed. */
  flush(): Promise<void>
  /** Resolves when all that is stored lies in the cluster, or the program stops. */
  shipped(): Promise<void>
}

export interface Lane {
  /** Resolves when there is room for the next block. */
  add(raw: RawBlock): Promise<void>
  /**
   * The same of neighbouring blocks that were built elsewhere. False where a rule looks at one of them, or one is stored or does not link
   * to what is: then nothing is taken.
   */
  addBuilt(built: BuiltPiece): Promise<boolean>
  /** Takes what scopes want of some blocks, and what was looked at for it. Resolves when that is committed. */
  addScoped(change: ScopedChange): Promise<void>
  /** Ends the run: what was added is committed as soon as may be. */
  flush(): Promise<void>
}

export interface ScopedChange {
  /** Partial ones, ascending. */
  blocks: readonly RawBlock[]
  notes: CoverageNotes
}

export interface PipelineOptions extends WriterLinkOptions {
  preparer: Preparer
  ruleWatcher: RuleWatcher
  blocks: Pick<Blocks, 'hash' | 'parentHash' | 'ranges'> & Pick<Lookups, 'partial'>
  /** Opened when it is first asked. */
  storedBlocks(): StoredBlocks
  signal: AbortSignal
  /** Told when alerts may have changed their state. */
  onAlerts(): void
  /** Most blocks in one transaction. */
  storeBatch: number
}

/** Batches of each lane that may wait for the writer. */
const WAITING: Record<LaneName, number> = { fill: 2, head: 64 }

export const createPipeline = (options: PipelineOptions): Pipeline => {
  const { preparer, ruleWatcher, blocks, signal, storeBatch, onAlerts } = options
  const link = createWriterLink(options)
  const { send } = link
  const neighbours = createNeighbours(blocks)
  const { held } = neighbours
  /** Blocks that are being taken in. */
  const taking = new Set<Promise<unknown>>()
  const counts = { blocks: 0, logs: 0, events: 0 }
  let added: Range[] = []
  /** The newest block that is stored in part. */
  let scopedTop = blocks.partial({ from: 0, to: Number.MAX_SAFE_INTEGER }).at(-1)?.last ?? -1
  const seen = (): Range[] => (scopedTop < 0 ? held() : merged([...held(), { from: scopedTop, to: scopedTop }]))

  /** Updates go before all batches that wait, in their own order: an older one must not have the last word. */
  const tellUpdate = () => {
    const update = ruleWatcher.takeUpdate()
    if (update) send({ type: 'update', update: { ...update, hits: [] } }).catch(() => {})
  }

  /** Blocks in place of what is stored of them in part. Merging may have changed the segments meanwhile: then they are read again. */
  const replace = async (
    lane: LaneName,
    build: () => Replacing,
    { notes, hits }: { notes: CoverageNotes; hits: readonly RuleMatch[] },
  ): Promise<Batch[]> => {
    const additions: Additions[] = []
    for (;;) {
      const { batches, replaces } = build()
      additions.push(...batches.map(({ added }) => added))
      const update = hits.length > 0 ? { hits } : undefined
      const change = { batches, replaces, notes }
      const revised = await send({ type: 'replace', lane, change, update })
      if (!revised.done) continue
      for (const added of additions) preparer.committed(added)
      onAlerts()
      return batches
    }
  }
  const restoredAdditions: Additions[] = []
  const joining = { lookups: blocks, stored: options.storedBlocks, preparer }

  const turns = createTurns()
  /** Until it resolves, no lane takes a block. */
  let resting: Promise<void> | undefined
  const lanes = new Map<LaneName, Lane>()
  const createLane = (name: LaneName): Lane => {
    let run: Run | undefined
    let hits: RuleMatch[] = []
    let last = -1
    const sent: Promise<void>[] = []

    const handOver = () => {
      if (!run || run.blocks === 0) return
      const batch = run.finish()
      const update = hits.length > 0 ? { hits } : undefined
      tellUpdate()
      run = undefined
      hits = []
      const { first, last: to, log: logs, events, added: additions } = batch
      const isPartly = blocks.partial({ from: first, to }).length > 0
      let whole = batch
      const build = (): Replacing => {
        const { batches, replaces } = joinStored([], { from: first, to }, held(), joining)
        const all = [...batches, whole].sort((a, b) => a.first - b.first)
        // The writer keeps what is new in the dictionaries, whether or not it can take the blocks.
        whole = { ...batch, added: nothingNew(additions) }
        return { batches: all, replaces }
      }
      const sending = isPartly
        ? replace(name, build, { notes: NO_NOTES, hits: update?.hits ?? [] })
        : send({ type: 'batch', lane: name, batch, update }, transferables(batch)).then(() => {
            onAlerts()
            preparer.committed(additions)
          })
      const done = sending.then(() => {
        counts.blocks += to - first + 1
        counts.logs += logs
        counts.events += events
        added = merged([...added, { from: first, to }])
        neighbours.forget({ from: first, to })
      })
      done.catch(() => {})
      sent.push(done)
    }

    const room = async () => {
      while (sent.length > WAITING[name]) await sent.shift()
    }

    const flush = async () => {
      const started = performance.now()
      handOver()
      turns.spend(name, performance.now() - started)
      await room()
    }

    /** `taken` must count the block as held: it is called at once. */
    const look = async (raw: RawBlock, taken: (decoded: DecodedBlock, found: readonly RuleMatch[]) => void) => {
      // By the rules of this moment: what came up while it was waited for is looked for as well. From the last look at them until the
      // block counts as held, nothing is waited for: a rule that comes up has either looked at the block, or knows that it is there.
      let decoded: DecodedBlock
      let found: RuleMatch[]
      let generation: number
      do {
        ruleWatcher.refresh(seen())
        ;({ generation } = ruleWatcher)
        await ruleWatcher.complete(raw, signal)
        decoded = preparer.decode(raw)
        found = await ruleWatcher.match(decoded, signal)
      } while (generation !== ruleWatcher.generation)
      taken(decoded, found)
    }

    const take = async (raw: RawBlock) => {
      const number = Number(raw.block.number)
      if (run && number !== last + 1) handOver()
      await look(raw, (decoded, found) => {
        const ref = { number, hash: raw.block.hash, parentHash: raw.block.parentHash }
        neighbours.check(ref)
        run ??= preparer.start()
        run.add(decoded)
        for (const hit of found) hits.push(hit)
        neighbours.take([ref])
        last = number
        handOverFull()
      })
    }

    const takeScoped = async ({ blocks: all, notes }: ScopedChange) => {
      handOver()
      const fresh = all.filter(({ block }) => !holds(held(), Number(block.number)))
      const hits: RuleMatch[] = []
      for (const raw of fresh)
        await look(raw, (_, found) => {
          hits.push(...found)
          scopedTop = Math.max(scopedTop, Number(raw.block.number))
        })
      tellUpdate()
      const from = Number(fresh[0]?.block.number ?? 0)
      const to = Number(fresh.at(-1)?.block.number ?? -1)
      const nothing = { batches: [], replaces: [] }
      const build = () => (fresh.length === 0 ? nothing : joinStored(fresh, { from, to }, held(), joining))
      await replace(name, build, { notes, hits })
      counts.blocks += fresh.length
      for (const { receipts } of fresh) for (const { logs } of receipts) counts.logs += logs.length
    }

    const takeBuilt = (built: BuiltPiece): boolean => {
      const { blocks } = built
      const [from, to] = [blocks[0]!, blocks.at(-1)!]
      if (run && (from.number !== last + 1 || run.blocks + blocks.length > storeBatch)) handOver()
      ruleWatcher.refresh(seen())
      if (blocks.some(({ number }) => ruleWatcher.wants(number) || holds(held(), number))) return false
      if ([from, to].some(ref => neighbours.linkFault(ref) !== undefined)) return false
      run ??= preparer.start()
      run.addPiece(built)
      neighbours.take(blocks)
      last = to.number
      handOverFull()
      return true
    }

    const handOverFull = () => {
      if (run && (run.blocks >= storeBatch || run.documents >= FULL_SEGMENT)) handOver()
    }

    const inTurn = async <T>(take: () => T | Promise<T>): Promise<T> => {
      const leave = await turns.enter(name)
      try {
        return await take()
      } finally {
        leave()
      }
    }
    const whileTaking = async <T>(take: () => T | Promise<T>): Promise<T> => {
      while (resting) await resting
      const taken = inTurn(take)
      taking.add(taken)
      const result = await taken.finally(() => taking.delete(taken))
      await room()
      return result
    }
    const lane: Lane = {
      add: raw => whileTaking(() => take(raw)),
      addBuilt: built => whileTaking(() => takeBuilt(built)),
      addScoped: change => whileTaking(() => takeScoped(change)),
      flush,
    }
    lanes.set(name, lane)
    return lane
  }

  const flushAll = async () => {
    for (const lane of lanes.values()) await lane.flush()
    await link.settled()
  }

  const caughtUp = async () => {
    await Promise.allSettled(taking)
    await flushAll()
  }

  return {
    lane: createLane,
    async rollback(to) {
      await send({ type: 'rollback', to })
      onAlerts()
      neighbours.rollback(to)
      scopedTop = Math.min(scopedTop, to)
    },
    stored(number) {
      const hash = holds(held(), number) ? neighbours.hashOf(number) : undefined
      return hash === undefined ? undefined : { number, hash }
    },
    held,
    seen,
    counts,
    alerts: link.alerts,
    added: () => added,
    get stuck() {
      return link.stuck
    },
    get metrics() {
      return link.metrics
    },
    get shipping() {
      return link.shipping
    },
    async tell({ hits, scans = [], marks }) {
      const update = ruleWatcher.takeUpdate()
      await send({
        type: 'update',

        update: { ...update, hits, scans: [...(update?.scans ?? []), ...scans], ...(marks && { marks }) },
      })
      onAlerts()
    },
    async revise(revision) {
      const revised = await send({ type: 'revise', revision })
      preparer.committed(revision.added)
      return revised
    },
    async restore(segment, build) {
      while (resting) await resting
      const putting = (async () => {
        const batch = build()
        restoredAdditions.push(batch.added)
        const restored = await send({ type: 'restore', segment, batch }, transferables(batch))
        // The writer keeps what is new in the dictionaries until it writes something.
        if (restored.done) for (const added of restoredAdditions.splice(0)) preparer.committed(added)
        return restored.done
      })()
      taking.add(putting)
      return putting.finally(() => taking.delete(putting))
    },
    async verified() {
      return (await send({ type: 'verified' })).done
    },
    async forget(lost, indices) {
      const before = blocks.ranges()
      let step = await send({ type: 'forget', blocks: lost, indices })
      const after = blocks.ranges()
      neighbours.lose(before.flatMap(({ from, to }) => gapsIn(after, from, to)))
      while (!step.done) step = await send({ type: 'forget', blocks: [], indices: [] })
    },
    async patch(lines) {
      const stopped = aborted(signal).then((): never => {
        throw signal.reason
      })
      return Promise.race([link.post({ type: 'patch', lines }), stopped])
    },
    async cut(range, keep, narrowed) {
      while (resting) await resting
      const notes = narrowed ? { ...NO_NOTES, narrowed } : NO_NOTES
      const taken = replace('fill', () => cutStored(range, keep, held(), joining), { notes, hits: [] })
      taking.add(taken)
      await taken.finally(() => taking.delete(taken))
    },
    caughtUp,
    async rest(run) {
      while (resting) await resting
      const { promise, resolve } = Promise.withResolvers<void>()
      resting = promise
      try {
        await caughtUp()
        run()
      } finally {
        resting = undefined
        resolve()
      }
    },
    settled: link.settled,
    isSettled: link.isSettled,
    flush: flushAll,
    async shipped() {
      await send({ type: 'ship' })
    },
    close: link.close,
  }
}

/** Of the same place in the dictionaries. */
const nothingNew = ({ addresses, names, signatures }: Additions): Additions => ({
  addresses: { first: addresses.first + addresses.texts.length, texts: [] },
  names: { first: names.first + names.texts.length, texts: [] },
  signatures: { first: signatures.first + signatures.entries.length, entries: [] },
  codes: [],
  tokens: [],
  links: [],
})
