import type { Range } from '../lib/ranges.ts'
import { RECORD_KINDS } from '../mapping/index.ts'
import type { Db } from '../sqlite/database.ts'
import { createNoteAltered } from './alterations.ts'
import { newestBlock } from './blocks.ts'
import { createCoverageWriter } from './coverage.ts'
import { createPendingDeletions } from './pending-deletions.ts'
import { positionOf } from './schema.ts'
import { createShippingState } from './shipping/shipping-state.ts'

/** Blocks to prune. Whole segments go: a block stays if its segment has one to keep. */
export interface PruneLimits {
  /** Blocks from this one on may be indexed again. */
  floor?: number | undefined
  /** Prunes blocks below this number, the new floor. */
  below?: number | undefined
  /** Prunes blocks with at least this number of newer stored ones. */
  keepBlocks?: number | undefined
  /** Prunes blocks that are this much older than the newest one. */
  keepSeconds?: number | undefined
}

/**
 * Deletes old blocks: unlists their segment, which hides them from searches, then deletes the rest
 * incrementally. Contracts, tokens, upgrades and dictionaries stay, as decoding and rules use them.
 */
export type Pruning = ReturnType<typeof createPruning>

/** The newest blocks stay in any case: they may still be reorganised. */
export const KEPT_BLOCKS = 64

export const createPruning = (db: Db) => {
  const newest = newestBlock(db)
  const coverage = createCoverageWriter(db)
  const shelf = createShippingState(db)
  const noteAltered = createNoteAltered(db)
  const oldest = db.prepare<[], { id: number; first: number; last: number }>(
    'SELECT id, first, last FROM segment ORDER BY first LIMIT 1',
  )
  const emptied = db.prepare<[number, number], { id: number; first: number; last: number }>(
    'SELECT id, first, last FROM segment WHERE emptied = 1 AND first <= ? AND last >= ? ORDER BY first',
  )
  const timeOf = db.prepare<[number], number>('SELECT time FROM block WHERE number = ?').pluck()
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const drop = db.prepare('INSERT INTO dropped (segment) VALUES (?)')
  const readFloor = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'floor'").pluck()
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('floor', ?)")
  const deleteBlock = db.prepare('DELETE FROM block WHERE number = ?')
  const deleteDocuments = RECORD_KINDS.map(kind => db.prepare(`DELETE FROM ${kind} WHERE pos >= ? AND pos < ?`))
  /** Hidden blocks whose documents are not deleted yet. */
  const hidden = createPendingDeletions(db, 'pruning', number => {
    deleteBlock.run(number)
    for (const table of deleteDocuments) table.run(positionOf(number, 0), positionOf(number + 1, 0))
  })
  const floor = () => readFloor.get() ?? 0
  /** By the earlier of chain time and now: neither a fast clock nor a future block ages any. */
  const isOlder = (number: number, top: number, seconds: number): boolean => {
    const [time, newest] = [timeOf.get(number), timeOf.get(top)]
    return time !== undefined && newest !== undefined && time < Math.min(newest, Date.now() / 1_000) - seconds
  }

  return {
    /** Hides the oldest segment if it is unwanted; returns its blocks. Within a transaction. */
    hide({ floor: asked, below = 0, keepBlocks, keepSeconds }: PruneLimits): Range | undefined {
      if (asked !== undefined && asked < floor()) set.run(asked)
      const top = newest()
      const kept = top - KEPT_BLOCKS + 1
      const limit = Math.min(kept, Math.max(below, keepBlocks === undefined ? 0 : top - keepBlocks + 1))
      if (limit > floor()) set.run(limit)
      const segment = oldest.get()
      if (!segment || segment.last >= kept) return undefined
      const { id, first, last } = segment
      if (last >= limit && !(keepSeconds !== undefined && isOlder(last, top, keepSeconds))) return undefined
      if (last >= floor()) set.run(last + 1)
      coverage.lose({ from: 0, to: last })
      shelf.prune(last)
      unlist.run(id)
      drop.run(id)
      noteAltered('pruned', { from: first, to: last })
      hidden.add({ from: first, to: last })
      return { from: first, to: last }
    },

    /**
     * Hides offloaded segments of blocks whose remote documents were lost, to store these again;
     * local data of their other blocks is shipped again. Returns whether there were any. Within a
     * transaction.
     */
    forget(blocks: readonly Range[]): boolean {
      let any = false
      for (const { from, to } of blocks) {
        for (const { id, first, last } of emptied.all(to, from)) {
          const range = { from: first, to: last }
          coverage.lose(range)
          shelf.forget(range)
          unlist.run(id)
          noteAltered('pruned', range)
          hidden.add(range)
          any = true
        }
        shelf.kill({ from, to })
        shelf.lose([{ from, to }])
      }
      return any
    },
    /** Deletes some hidden blocks; returns whether there are more. Within a transaction. */
    sweep: hidden.step,
    /** Deletes these hidden blocks at once, as they will be stored again. Within a transaction. */
    makeRoom: (from: number, to: number): void => hidden.finish({ from, to }),
    /** Lowers the floor if all blocks above `to` were removed: a new chain is not pruned there. */
    removed(to: number): void {
      if (to < floor()) set.run(to + 1)
    },
  }
}
