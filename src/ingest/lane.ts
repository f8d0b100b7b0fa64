import type { RuleMatch } from '../alerts/alert.ts'
import type { AlertUpdate } from '../alerts/alert-store.ts'
import type { WindowRows } from '../alerts/windows.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { DecodedBlock } from '../documents/document.ts'
import { type CoverageNotes, NO_NOTES } from '../engine/coverage.ts'
import { transferables } from '../engine/documents/batch.ts'
import type { Additions } from '../engine/documents/derived-rows.ts'
import { FULL_SEGMENT } from '../engine/index/segments.ts'
import type { BlockLookups } from '../engine/port.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { gapsIn, holds, mergeRanges, type Range } from '../lib/ranges.ts'
import type { LaneTurns } from '../lib/scheduling/lane-turns.ts'
import type { BuiltPiece } from './decoding/builders/thread.ts'
import type { BatchRun } from './decoding/prepare.ts'
import type { LaneName } from './messages.ts'
import type { PipelineOptions } from './pipeline.ts'
import type { FoundInBlock } from './rules/rule-matching.ts'
import { joinStored, type Replacing, type ReplacingOptions } from './scoped/partial-blocks.ts'
import type { WriterLink } from './writer/writer-link.ts'

export type BlockLane = ReturnType<typeof createLane>

interface ScopedChange {
  blocks: readonly RawBlock[]
  notes: CoverageNotes
}

export interface LaneContext
  extends Pick<PipelineOptions, 'preparer' | 'ruleWatcher' | 'blocks' | 'signal' | 'storeBatch'>,
    Pick<WriterLink, 'send'> {
  neighbours: LinkedBlocks
  turns: LaneTurns<LaneName>
  joining: ReplacingOptions
  seen(): Range[]
  noteScoped(number: number): void
  /** Sends updates before all waiting batches, in their own order: the newest must win. */
  tellUpdate(): void
  /** Calls `build` again if a merge has changed the segments to replace. */
  replace(lane: LaneName, build: () => Replacing, notes: CoverageNotes, update: AlertUpdate | undefined): Promise<void>
  committed(additions: readonly Additions[]): void
  count(more: { blocks: number; logs: number; events: number }): void
  noteAdded(range: Range): void
  track<T>(take: () => Promise<T>): Promise<T>
}

/** Backpressure: a lane with more batches before the writer takes no further block. */
const MAX_WAITING_BATCHES: Record<LaneName, number> = { fill: 2, head: 64 }

export const createLane = (name: LaneName, context: LaneContext) => {
  const { preparer, ruleWatcher, blocks, signal, storeBatch, send, neighbours, turns, joining } = context
  const { seen, noteScoped, tellUpdate, replace, committed, count, noteAdded, track } = context
  const { held } = neighbours
  let run: BatchRun | undefined
  let hits: RuleMatch[] = []
  let rows: WindowRows[] = []
  let last = -1
  const sent: Promise<void>[] = []

  const handOver = () => {
    if (!run || run.blocks === 0) return
    const batch = run.finish()
    const update = updateOf(hits, rows)
    tellUpdate()
    run = undefined
    hits = []
    rows = []
    const { first, last: to, log: logs, events, added: additions } = batch
    const isPartly = blocks.partial({ from: first, to }).length > 0
    let whole = batch
    const build = (): Replacing => {
      const { batches, replaces } = joinStored([], { from: first, to }, held(), joining)
      const all = [...batches, whole].sort((a, b) => a.first - b.first)
      // The writer retains new dictionary entries even if it cannot take the blocks.
      whole = { ...batch, added: nothingNew(additions) }
      return { batches: all, replaces }
    }
    const sending = isPartly
      ? replace(name, build, NO_NOTES, update)
      : send({ type: 'batch', lane: name, batch, update }, transferables(batch)).then(() => committed([additions]))
    const done = sending.then(() => {
      count({ blocks: to - first + 1, logs, events })
      noteAdded({ from: first, to })
    })
    done.catch(() => {})
    sent.push(done)
  }

  const room = async () => {
    while (sent.length > MAX_WAITING_BATCHES[name]) await sent.shift()
  }

  const flush = async () => {
    const started = performance.now()
    handOver()
    turns.spend(name, performance.now() - started)
    await room()
  }

  /** `taken` is called at once and must count the block as held. */
  const look = async (raw: RawBlock, taken: (decoded: DecodedBlock, found: FoundInBlock) => void) => {
    // A rule created while a block waits must match it. From the last look at the rules until
    // the block counts as held, nothing awaits.
    let decoded: DecodedBlock
    let found: FoundInBlock
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
      for (const hit of found.hits) hits.push(hit)
      if (found.rows) rows.push(found.rows)
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
        hits.push(...found.hits)
        noteScoped(Number(raw.block.number))
      })
    tellUpdate()
    const from = Number(fresh[0]?.block.number ?? 0)
    const to = Number(fresh.at(-1)?.block.number ?? -1)
    const nothing = { batches: [], replaces: [] }
    const build = () => (fresh.length === 0 ? nothing : joinStored(fresh, { from, to }, held(), joining))
    ruleWatcher.noteScoped()
    await replace(name, build, notes, updateOf(hits, []))
    const logs = fresh.flatMap(({ receipts }) => receipts).reduce((sum, it) => sum + it.logs.length, 0)
    count({ blocks: fresh.length, logs, events: 0 })
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
    const taken = await track(() => inTurn(take))
    await room()
    return taken
  }

  return {
    add: (raw: RawBlock) => whileTaking(() => take(raw)),
    /** Adds blocks built elsewhere; false: none is taken, since one needs a closer look. */
    addBuilt: (built: BuiltPiece) => whileTaking(() => takeBuilt(built)),
    addScoped: (change: ScopedChange) => whileTaking(() => takeScoped(change)),
    flush,
  }
}

const updateOf = (hits: RuleMatch[], rows: WindowRows[]): AlertUpdate | undefined =>
  hits.length + rows.length === 0 ? undefined : { hits, ...(rows.length > 0 && { blocks: rows }) }

const nothingNew = ({ addresses, names, signatures }: Additions): Additions => ({
  addresses: { first: addresses.first + addresses.texts.length, texts: [] },
  names: { first: names.first + names.texts.length, texts: [] },
  signatures: { first: signatures.first + signatures.entries.length, entries: [] },
  codes: [],
  tokens: [],
  links: [],
})

interface Ref {
  number: number
  hash: string
  parentHash: string
}

type LinkedBlocks = ReturnType<typeof createLinkedBlocks>
/** Error code of a block that does not link to a stored one, numbered in `details.block`. */
export const UNLINKED = 'block_unlinked'
export const createLinkedBlocks = (blocks: Pick<BlockLookups, 'hash' | 'parentHash' | 'ranges'>) => {
  const underWay = new Map<number, { hash: string; parentHash: string }>()
  let held = blocks.ranges()

  const hashOf = (number: number): string | undefined => underWay.get(number)?.hash ?? blocks.hash(number)
  const parentOf = (number: number): string | undefined => underWay.get(number)?.parentHash ?? blocks.parentHash(number)

  const linkFault = ({ number, hash, parentHash }: Ref): string | undefined => {
    const below = holds(held, number - 1) ? hashOf(number - 1) : undefined
    if (below !== undefined && below !== parentHash)
      return `block ${number} ${hash} names ${parentHash} as its parent, but the stored block ${number - 1} is ${below}`
    const above = holds(held, number + 1) ? parentOf(number + 1) : undefined
    if (above !== undefined && above !== hash)
      return `the stored block ${number + 1} names ${above} as its parent, but block ${number} is ${hash}`
    return undefined
  }

  return {
    held: () => held,
    hashOf,
    linkFault,
    check(ref: Ref) {
      const fault = linkFault(ref)
      if (fault !== undefined)
        throw new ChainsieveError(
          'stop',
          UNLINKED,
          `${fault}: they belong to different branches or chains. Index them into different data folders, or remove the stored ones`,
          { details: { block: ref.number } },
        )
    },
    take(refs: readonly Ref[]) {
      for (const { number, hash, parentHash } of refs) underWay.set(number, { hash, parentHash })
      held = mergeRanges([...held, { from: refs[0]!.number, to: refs.at(-1)!.number }])
    },
    forget({ from, to }: Range) {
      for (let number = from; number <= to; number++) underWay.delete(number)
    },
    lose(ranges: readonly Range[]) {
      held = held.flatMap(({ from, to }) => gapsIn(ranges, from, to))
    },
    rollback(to: number) {
      for (const number of underWay.keys()) if (number > to) underWay.delete(number)
      held = held.filter(({ from }) => from <= to).map(range => ({ from: range.from, to: Math.min(range.to, to) }))
    },
  }
}
