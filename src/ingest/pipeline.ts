import type { MessagePort } from 'node:worker_threads'
import type { RuleMatch } from '../alerts/alert.ts'
import type { AlertCounts, AlertUpdate } from '../alerts/alert-store.ts'
import type { BlockRef } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { DecodedBlock } from '../documents/decoded-block.ts'
import { type CoverageNotes, NO_NOTES } from '../engine/coverage.ts'
import type { Additions } from '../engine/documents/additions.ts'
import { type Batch, transferables } from '../engine/documents/batch.ts'
import type { Revision } from '../engine/index/revision.ts'
import { FULL_SEGMENT } from '../engine/index/segments.ts'
import type { Blocks, Lookups } from '../engine/port.ts'
import { stop } from '../lib/errors.ts'
import { fromFailure } from '../lib/failure.ts'
import type { Log } from '../lib/log.ts'
import type { MetricSnapshot } from '../lib/metrics.ts'
import { holds, merged, type Range } from '../lib/ranges.ts'
import type { BuiltPiece } from './builders/facts.ts'
import type { FromWriter, LaneName, Revised, ToWriter, Waiting } from './messages.ts'
import type { Preparer, Run } from './prepare.ts'
import type { RuleWatcher } from './rule-watcher.ts'
import { joinStored, type Replacing } from './scoped/replacing.ts'
import type { StoredBlocks } from './scoped/stored.ts'
import { createTurns } from './turns.ts'

/**
 * The way of a block into the store: checked against its stored neighbours, added to the run at hand, handed to the writer as one
 * transaction, and counted when that is committed.
 */
export interface Pipeline {
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
  /** Alerts that came into each state since the start. */
  alerts(): AlertCounts
  added(): Range[]
  /** Why the writer waits. */
  readonly stuck: Omit<Waiting, 'since'> | undefined
  /** Metrics of the writer. */
  readonly metrics: readonly MetricSnapshot[]
  /** Hands on hits in what is stored already. */
  tell(update: AlertUpdate): Promise<void>
  /** Has what is stored decoded otherwise; resolves when that is committed, or its segment is found to be no more. */
  revise(revision: Revision): Promise<Revised>
  /** Resolves when every block that was decoded before now is committed. */
  caughtUp(): Promise<void>
  /** Calls `run` when no block is on its way; no lane takes any meanwhile. Decoding again may still be under way. */
  rest(run: () => void): Promise<void>
  /** Resolves when all that was handed over is committed. */
  settled(): Promise<void>
  /** Whether nothing is handed over that is not committed. */
  isSettled(): boolean
  /** Ends all runs at hand, and resolves when they are committed. */
  flush(): Promise<void>
  close(): void
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

export interface PipelineOptions {
  port: MessagePort
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
  log: Log
  /** Told when something could not be written; nothing more is taken then. */
  onFailure(error: Error): void
}

/** A block as its neighbours know it. */
interface Ref {
  number: number
  hash: string
  parentHash: string
}

/** Batches of each lane that may wait for the writer. */
const WAITING: Record<LaneName, number> = { fill: 2, head: 64 }

export const createPipeline = (options: PipelineOptions): Pipeline => {
  const { port, preparer, ruleWatcher, blocks, signal, storeBatch, log, onAlerts, onFailure } = options
  /** Blocks on their way: hash and parent's hash by number. */
  const underWay = new Map<number, { hash: string; parentHash: string }>()
  const waiting = new Map<number, { resolve(revised: Revised | undefined): void; reject(error: Error): void }>()
  const open = new Set<Promise<unknown>>()
  /** Blocks that are being taken in. */
  const taking = new Set<Promise<unknown>>()
  const counts = { blocks: 0, logs: 0, events: 0 }
  let alerts: AlertCounts = {}
  let held = blocks.ranges()
  /** The newest block that is stored in part. */
  let scopedTop = blocks.partial({ from: 0, to: Number.MAX_SAFE_INTEGER }).at(-1)?.last ?? -1
  const seen = (): Range[] => (scopedTop < 0 ? held : merged([...held, { from: scopedTop, to: scopedTop }]))
  let added: Range[] = []
  let stuck: Omit<Waiting, 'since'> | undefined
  let metrics: readonly MetricSnapshot[] = []
  let failed: Error | undefined
  let ids = 0

  port.on('message', (message: FromWriter) => {
    if (message.type === 'stuck') {
      const { why, code } = message
      stuck = why === null ? undefined : { kind: code === 'disk_full' ? 'disk' : 'store', for: why }
      if (why === null) log.info('Writes again')
      else log.warn('Cannot write now, will retry', { why })
      return
    }
    if (message.type === 'metrics') {
      metrics = message.metrics
      return
    }
    const waiter = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.type === 'done') {
      alerts = message.alerts
      waiter?.resolve(message.revised)
    } else {
      failed ??= fromFailure(message.failure)
      waiter?.reject(failed)
      onFailure(failed)
    }
  })

  const send = (message: ToWriter & { id: number }, transfer: ArrayBuffer[] = []): Promise<Revised | undefined> => {
    if (failed) return Promise.reject(failed)
    const done = new Promise<Revised | undefined>((resolve, reject) => waiting.set(message.id, { resolve, reject }))
    port.postMessage(message, transfer)
    open.add(done)
    done.then(
      () => open.delete(done),
      () => open.delete(done),
    )
    return done
  }

  const hashOf = (number: number): string | undefined => underWay.get(number)?.hash ?? blocks.hash(number)
  const parentOf = (number: number): string | undefined => underWay.get(number)?.parentHash ?? blocks.parentHash(number)

  /** A block next to a stored one must link to it; what is wrong where it does not. */
  const linkFault = ({ number, hash, parentHash }: Ref): string | undefined => {
    const below = holds(held, number - 1) ? hashOf(number - 1) : undefined
    if (below !== undefined && below !== parentHash)
      return `block ${number} ${hash} names ${parentHash} as its parent, but the stored block ${number - 1} is ${below}`
    const above = holds(held, number + 1) ? parentOf(number + 1) : undefined
    if (above !== undefined && above !== hash)
      return `the stored block ${number + 1} names ${above} as its parent, but block ${number} is ${hash}`
    return undefined
  }

  const checkNeighbours = (ref: Ref) => {
    const fault = linkFault(ref)
    if (fault !== undefined)
      throw stop(
        'block_unlinked',
        `${fault}: they belong to different branches or chains. Index them into different data folders, or remove the stored ones`,
      )
  }

  const note = ({ number, hash, parentHash }: Ref) => underWay.set(number, { hash, parentHash })

  /** Updates go before all batches that wait, in their own order: an older one must not have the last word. */
  const tellUpdate = () => {
    const update = ruleWatcher.takeUpdate()
    if (update) send({ type: 'update', id: ++ids, update: { ...update, hits: [] } }).catch(() => {})
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
      const revised = await send({ type: 'replace', id: ++ids, lane, change, update })
      if (!revised!.done) continue
      for (const added of additions) preparer.committed(added)
      onAlerts()
      return batches
    }
  }
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
        const { batches, replaces } = joinStored([], { from: first, to }, held, joining)
        const all = [...batches, whole].sort((a, b) => a.first - b.first)
        // The writer keeps what is new in the dictionaries, whether or not it can take the blocks.
        whole = { ...batch, added: nothingNew(additions) }
        return { batches: all, replaces }
      }
      const sending = isPartly
        ? replace(name, build, { notes: NO_NOTES, hits: update?.hits ?? [] })
        : send({ type: 'batch', id: ++ids, lane: name, batch, update }, transferables(batch)).then(() => {
            onAlerts()
            preparer.committed(additions)
          })
      const done = sending.then(() => {
        counts.blocks += to - first + 1
        counts.logs += logs
        counts.events += events
        added = merged([...added, { from: first, to }])
        for (let number = first; number <= to; number++) underWay.delete(number)
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
        checkNeighbours(ref)
        run ??= preparer.start()
        run.add(decoded)
        for (const hit of found) hits.push(hit)
        note(ref)
        held = merged([...held, { from: number, to: number }])
        last = number
        handOverFull()
      })
    }

    const takeScoped = async ({ blocks: all, notes }: ScopedChange) => {
      handOver()
      const fresh = all.filter(({ block }) => !holds(held, Number(block.number)))
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
      const build = () => (fresh.length === 0 ? nothing : joinStored(fresh, { from, to }, held, joining))
      await replace(name, build, { notes, hits })
      counts.blocks += fresh.length
      for (const { receipts } of fresh) for (const { logs } of receipts) counts.logs += logs.length
    }

    const takeBuilt = (built: BuiltPiece): boolean => {
      const { blocks } = built
      const [from, to] = [blocks[0]!, blocks.at(-1)!]
      if (run && (from.number !== last + 1 || run.blocks + blocks.length > storeBatch)) handOver()
      ruleWatcher.refresh(seen())
      if (blocks.some(({ number }) => ruleWatcher.wants(number) || holds(held, number))) return false
      if (linkFault(from) !== undefined || linkFault(to) !== undefined) return false
      run ??= preparer.start()
      run.addPiece(built)
      for (const ref of blocks) note(ref)
      held = merged([...held, { from: from.number, to: to.number }])
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

  const settled = async () => {
    await Promise.all(open)
    if (failed) throw failed
  }

  const flushAll = async () => {
    for (const lane of lanes.values()) await lane.flush()
    await settled()
  }

  const caughtUp = async () => {
    await Promise.allSettled(taking)
    await flushAll()
  }

  return {
    lane: createLane,
    async rollback(to) {
      await send({ type: 'rollback', id: ++ids, to })
      onAlerts()
      for (const number of underWay.keys()) if (number > to) underWay.delete(number)
      scopedTop = Math.min(scopedTop, to)
      held = held.filter(({ from }) => from <= to).map(range => ({ from: range.from, to: Math.min(range.to, to) }))
    },
    stored(number) {
      const hash = holds(held, number) ? hashOf(number) : undefined
      return hash === undefined ? undefined : { number, hash }
    },
    held: () => held,
    seen,
    counts,
    alerts: () => alerts,
    added: () => added,
    get stuck() {
      return stuck
    },
    get metrics() {
      return metrics
    },
    async tell({ hits, scans = [], marks }) {
      const update = ruleWatcher.takeUpdate()
      await send({
        type: 'update',
        id: ++ids,
        update: { ...update, hits, scans: [...(update?.scans ?? []), ...scans], ...(marks && { marks }) },
      })
      onAlerts()
    },
    async revise(revision) {
      const revised = await send({ type: 'revise', id: ++ids, revision })
      preparer.committed(revision.added)
      return revised!
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
    settled,
    isSettled: () => open.size === 0,
    flush: flushAll,
    close: () => port.postMessage({ type: 'close' } satisfies ToWriter),
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
