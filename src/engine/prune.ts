import type { Range } from '../lib/ranges.ts'
import { RECORD_KINDS } from '../mapping/index.ts'
import type { Db } from '../sqlite/database.ts'
import { createNoteAltered } from './alterations.ts'
import { newestBlock } from './blocks.ts'
import { createCoverageWriter } from './coverage.ts'
import { createRuns } from './pending-ranges.ts'
import { positionOf } from './schema.ts'
import { createShippingState } from './shipping/shipping-state.ts'

/** Which blocks are no longer wanted. Segments go as a whole: blocks stay that share one with others that are wanted. */
export interface PruneLimits {
  /** Blocks from this one on may be indexed again. */
  floor?: number | undefined
  /** Those below this number, which is the new floor. */
  below?: number | undefined
  /** Those of which so many newer ones are stored. */
  keepBlocks?: number | undefined
  /** Those that are older by so many seconds than the newest one. */
  keepSeconds?: number | undefined
}

/**
 * Takes old blocks out of a store. First their segment is unlisted, by which no search sees them any more; what is left of them is then
 * removed a little at a time. Contracts, tokens, upgrades and dictionaries stay, since decoding and rules go by what is known of them.
 */
export type Pruning = ReturnType<typeof createPruning>

/** The newest blocks stay whatever is asked for: they may still be reorganised. */
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
  /** Of blocks that no segment lists and whose documents are still there. */
  const hidden = createRuns(db, 'pruning', number => {
    deleteBlock.run(number)
    for (const table of deleteDocuments) table.run(positionOf(number, 0), positionOf(number + 1, 0))
  })
  const floor = () => readFloor.get() ?? 0
  /** By the time of the chain: a clock that is wrong makes no block old. A block from the future makes none old either. */
  const isOlder = (number: number, top: number, seconds: number): boolean => {
    const [time, newest] = [timeOf.get(number), timeOf.get(top)]
    return time !== undefined && newest !== undefined && time < Math.min(newest, Date.now() / 1_000) - seconds
  }

  return {
    /** Hides the oldest segment where it is not wanted; returns its blocks. Within a transaction. */
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
     * Hides blocks whose remote documents were lost after they were evicted here: they may be stored again. The rest of
     * their segments goes with them; what the store has of the others is shipped again. Whether there were any. Within a
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
    /** Removes some of what is hidden; whether there is more. Within a transaction. */
    sweep: hidden.step,
    /** Removes at once what is hidden of these blocks, which are about to be stored anew. Within a transaction. */
    makeRoom: (from: number, to: number): void => hidden.finish({ from, to }),
    /** All blocks above this one were removed: where another chain begins, nothing of it was pruned. */
    removed(to: number): void {
      if (to < floor()) set.run(to + 1)
    },
  }
}
