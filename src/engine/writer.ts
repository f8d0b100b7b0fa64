import { retry, stop } from '../lib/errors.ts'
import type { Range } from '../lib/ranges.ts'
import { byKind, RECORD_KINDS } from '../mapping/index.ts'
import type { WritableDb } from '../sqlite/database.ts'
import { createNoteAltered } from './alterations.ts'
import { createCoverageWriter } from './coverage.ts'
import { createDictionaryWriter } from './dictionary-writer.ts'
import type { SegmentBatch } from './documents/batch.ts'
import { blockInserter, contractInserter, recordInserter } from './documents/insert.ts'
import { createMerging, type Merging, truncate } from './index/merge.ts'
import { type Revision, revisedKinds } from './index/redecode-patch.ts'
import { createReplacing, createReviser } from './index/replacing.ts'
import { segmentInserter } from './index/segments.ts'
import { createStructures } from './index/structure.ts'
import type { Replacement, Within } from './port.ts'
import { createPruning, type PruneLimits, type Pruning } from './prune.ts'
import { PLACES_PER_BLOCK } from './schema.ts'
import { createOffloading, type Offloading } from './shipping/offload.ts'
import { createChangedBlocks } from './shipping/partial-blocks.ts'
import { createRestoreWriter } from './shipping/restore-offloaded.ts'
import { createShippingState, type ShippingState } from './shipping/shipping-state.ts'
import { createSimilarWriter } from './similarity-index.ts'

/** The one writer of a network's store. Each method is a transaction: a crash tears no block. */
export type Writer = ReturnType<typeof createWriter>

export const createWriter = (db: WritableDb) => {
  const dictionaries = createDictionaryWriter(db)
  const rows = createRowWriter(db)
  const structures = createStructures(db)
  const merging = createMerging(db, structures.all)
  const pruning = createPruning(db)
  const emptying = createOffloading(db)
  const returning = createRestoreWriter(db)
  const shelf = createShippingState(db)
  const changed = createChangedBlocks(db)
  const coverage = createCoverageWriter(db)
  const replacing = createReplacing(db)
  const noteAltered = createNoteAltered(db)
  const reviser = createReviser(db)
  const forgetAbove = createForgetting(db)
  const rangeOf = db.prepare<[number], Range>('SELECT first AS "from", last AS "to" FROM segment WHERE id = ?')
  const isStoredAbove = db.prepare('SELECT 1 FROM segment WHERE last > ? LIMIT 1').pluck()

  /** Documents shipped for these blocks are outdated. */
  const noteChanged = (range: Range) => {
    shelf.kill(range)
    changed.add(range)
  }

  /** Sorting and encoding need no transaction. */
  const buildIndex = (batch: SegmentBatch) => structures.all.map(structure => structure.build(batch))

  const put = (batch: SegmentBatch, writeIndex: ReturnType<typeof buildIndex>) => {
    const range = { from: batch.first, to: batch.last }
    rows.refuseStored(range)
    pruning.makeRoom(batch.first, batch.last)
    emptying.forget(range)
    noteChanged(range)
    dictionaries.writeSights(batch.sights)
    const segment = rows.write(batch)
    for (const write of writeIndex) write(segment)
  }

  const attempt = createAttempt(db, () => {
    merging.abandon()
    rows.discard()
    dictionaries.discard()
  })

  /** `work` must not write anything if it returns false. */
  const attemptWithDictionaries = (work: () => boolean): boolean => {
    const done = attempt(work)
    if (done) dictionaries.committed()
    return done
  }

  return {
    /**
     * Registers dictionary entries of a batch or revision. The writer receives each before it
     * applies any, so it has all ids even if they are applied in another order.
     */
    receive: dictionaries.receive,
    /** State of shipped documents. Call methods within a transaction, such as that of `also`. */
    shelf,
    /** Writes a run of blocks that is not stored yet. */
    apply(batch: SegmentBatch, within: Within = nothing) {
      dictionaries.receive(batch)
      const writeIndex = buildIndex(batch)
      attemptWithDictionaries(() => {
        dictionaries.write()
        put(batch, writeIndex)
        within()
        return true
      })
    },
    /** Decodes a segment's documents again. False if it is gone: search the documents again. */
    revise(revision: Revision): boolean {
      dictionaries.receive(revision)
      const patchIndex = structures.all.map(structure => structure.patch(revision))
      let done = false
      attemptWithDictionaries(() => {
        dictionaries.write()
        // A partly built merge contains the old documents.
        merging.abandon()
        const range = rangeOf.get(revision.segment)
        done = reviser(revision)
        if (!done) return true
        noteAltered('decoded', range!, revisedKinds(revision))
        for (const patch of patchIndex) patch()
        return true
      })
      return done
    },
    /**
     * Replaces partly stored segments by runs of blocks, and records what was searched. False,
     * without writing, if the stored segments have changed.
     */
    replace({ batches, replaces, notes }: Replacement, within: Within = nothing): boolean {
      for (const batch of batches) dictionaries.receive(batch)
      const writeIndexes = batches.map(buildIndex)
      return attemptWithDictionaries(() => {
        if (!replacing.isSame(batches, replaces)) return false
        if (replaces.length > 0) merging.abandon()
        for (const id of replaces) {
          const range = rangeOf.get(id)!
          noteChanged(range)
          noteAltered('replaced', range)
        }
        const codes = replaces.flatMap(replacing.remove)
        dictionaries.write()
        for (const [i, batch] of batches.entries()) put(batch, writeIndexes[i]!)
        replacing.restore(codes)
        coverage.note(notes)
        within()
        return true
      })
    },
    /** Writes offloaded blocks in place of the end of their segment; false if that is gone. */
    restore(batch: SegmentBatch, segment: number): boolean {
      dictionaries.receive(batch)
      const writeIndex = buildIndex(batch)
      return attemptWithDictionaries(() => {
        if (!returning.take(batch, segment)) return false
        merging.abandon()
        dictionaries.write()
        put(batch, writeIndex)
        return true
      })
    },
    /** The restored blocks match the remote ones. */
    verified: () => attempt(returning.verified),
    /** Reorganisation: removes all blocks above `to`. Below 0, answers of contracts go, too. */
    rollback: (to: number, within: Within = nothing) =>
      attempt(() => {
        merging.abandon()
        const range = { from: to + 1, to: Number.MAX_SAFE_INTEGER }
        if (isStoredAbove.get(to) !== undefined) noteAltered('reorganised', range)
        truncate(db, to, structures)
        forgetAbove(to)
        coverage.rollback(to)
        pruning.removed(to)
        emptying.forget(range)
        shelf.rollback(to)
        within()
      }),
    ...createUpkeep(db, attempt, { merging, pruning, emptying, shelf }),
    /** Runs only `within`. */
    also: (within: Within) => attempt(within),
  }
}

const nothing = () => {}
/** Merges around no block, and only removes unlisted segments. */
const NO_BLOCK = -1

/** Runs work in one transaction. `onFailure` discards buffered rows, which a rollback loses. */
const createAttempt = (db: WritableDb, onFailure: () => void) => {
  const transaction = db.transaction((work: () => unknown) => work())
  return <T>(work: () => T): T => {
    try {
      return guard(() => {
        const result = transaction.immediate(work) as T
        db.settle()
        return result
      })
    } catch (error) {
      onFailure()
      throw error
    }
  }
}

interface UpkeepParts {
  merging: Merging
  pruning: Pruning
  emptying: Offloading
  shelf: ShippingState
}

/** Maintenance between blocks; each call does one step. */
const createUpkeep = (
  db: WritableDb,
  attempt: ReturnType<typeof createAttempt>,
  { merging, pruning, emptying, shelf }: UpkeepParts,
) => {
  const similar = createSimilarWriter(db)
  const newest = db.prepare('SELECT first FROM segment ORDER BY first DESC LIMIT ?').pluck()
  return {
    /** First blocks of the newest segments, ascending: a crash may have left some to merge. */
    small: (most = 16) => newest.all(most).reverse() as number[],
    /**
     * Merges small segments around a block in steps; returns whether more are left. Separate from
     * `apply`, which must not wait for it.
     */
    merge: (block: number): boolean => attempt(() => merging.step(block)),
    /** Upgrades data of an older version in steps; returns whether more is left. */
    modernize: (): boolean => attempt(similar.addBits),
    /** Removes old blocks in steps; returns whether more are left. `onHidden`: blocks hidden. */
    prune(limits: PruneLimits, onHidden: (blocks: Range) => void = nothing): boolean {
      const { hidden, more } = attempt(() => {
        const hidden = pruning.hide(limits)
        if (hidden) merging.abandon()
        return { hidden, more: hidden !== undefined || pruning.sweep() || merging.step(NO_BLOCK) }
      })
      if (hidden) onHidden(hidden)
      return more
    },
    /**
     * Forgets offloaded blocks whose remote documents in `indices` were lost, in steps; returns
     * whether more are left. The indices are to be created again.
     */
    forget: (blocks: readonly Range[], indices: readonly string[]): boolean =>
      attempt(() => {
        for (const index of indices) shelf.renew(index)
        const hidden = pruning.forget(blocks)
        if (hidden) merging.abandon()
        return hidden || pruning.sweep()
      }),
    /** Offloads shipped documents in steps; `first`: first block of a segment now offloaded. */
    empty: () =>
      attempt(() => {
        const first = emptying.mark()
        if (first !== undefined) merging.abandon()
        return { more: first !== undefined || emptying.sweep() || merging.step(NO_BLOCK), first }
      }),
  }
}

/** Writes the rows of a batch, but not its index. */
const createRowWriter = (db: WritableDb) => {
  const insertBlocks = blockInserter(db)
  const insertContracts = contractInserter(db)
  const insertRecords = byKind(RECORD_KINDS, kind => recordInserter(db, kind))
  const insertSegment = segmentInserter(db)
  const insertUpgrade = db.prepare('INSERT OR REPLACE INTO upgrade (pos, address, implementation) VALUES (?, ?, ?)')
  const insertChainId = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('chain_id', ?)")
  const overlapping = db.prepare<[number, number], { first: number; last: number }>(
    'SELECT first, last FROM segment WHERE first <= ? AND last >= ?',
  )
  return {
    refuseStored({ from, to }: Range) {
      const clash = overlapping.get(to, from)
      if (clash)
        throw stop('block_stored', `blocks ${from} to ${to} overlap the stored blocks ${clash.first} to ${clash.last}`)
    },
    /** Returns the id of its segment. */
    write(batch: SegmentBatch): number {
      if (batch.chainId !== undefined) insertChainId.run(batch.chainId)
      insertBlocks.add(batch.blocks)
      insertContracts.add(batch.contracts)
      for (const kind of RECORD_KINDS) insertRecords[kind].add(batch.records[kind])
      for (const { position, address, implementation } of batch.upgrades)
        insertUpgrade.run(position, address, implementation)
      return insertSegment(batch, batch.header)
    },
    discard() {
      for (const { discard } of [insertBlocks, insertContracts, ...Object.values(insertRecords)]) discard()
    },
  }
}

/** Removes blocks and documents above a block, but neither index nor progress. */
const createForgetting = (db: WritableDb) => {
  const blocks = db.prepare('DELETE FROM block WHERE number > ?')
  // On another chain, other contracts may have the same addresses.
  const tokens = db.prepare('DELETE FROM token WHERE pos >= ? OR ? < 0')
  const others = [...RECORD_KINDS, 'contract', 'link', 'upgrade'].map(table =>
    db.prepare(`DELETE FROM ${table} WHERE pos >= ?`),
  )
  return (to: number) => {
    const from = (to + 1) * PLACES_PER_BLOCK
    for (const table of others) table.run(from)
    blocks.run(to)
    tokens.run(from, to)
  }
}

/** Translates system errors into instructions for the operator. */
const guard = <T>(write: () => T): T => {
  try {
    return write()
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (/^SQLITE_(FULL|IOERR_WRITE|IOERR_SHMSIZE)$/.test(code))
      throw retry(
        'disk_full',
        'the disk of the data folder is full: free some space, and indexing continues by itself',
        { cause: error, retryAfterMs: 5000 },
      )
    if (code.startsWith('SQLITE_READONLY'))
      throw stop('store_readonly', 'the data folder cannot be written to: check its owner and permissions', error)
    throw error
  }
}
