import { COUNTED_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { newestBlock } from '../blocks.ts'
import { MIN_LOCAL_BLOCKS } from './offload.ts'

/** Backlog of documents to ship and offload, limited by the setting `journal-max`. */
export type Journal = ReturnType<typeof createJournal>

/** Bytes per document with its index, measured on mainnet: see docs/internals.md. */
export const DOCUMENT_BYTES = 300
/** A count is cached for this many times its duration. */
const HOLDS = 20

/** `most`: limit in bytes, on top of what the store held before it was first shipped. */
export const createJournal = (db: Db, most: number) => {
  const sum = COUNTED_KINDS.map(kind => `"${kind}"`).join(' + ')
  const documents = db
    .prepare<[number], number>(
      // Does not count shipped segments at the head or of scopes, as they stay.
      `SELECT coalesce(sum(${sum}), 0) FROM segment INDEXED BY segment_journal WHERE emptied = 0
         AND NOT ((last > ? OR scoped = 1) AND EXISTS (SELECT 1 FROM shelf WHERE shelf.first <= segment.first AND shelf.last >= segment.last))`,
    )
    .pluck()
  const newest = newestBlock(db)
  const count = () => documents.get(newest() - MIN_LOCAL_BLOCKS)!
  const get = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'journal_least'").pluck()
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('journal_least', ?)")
  const noteLess = () => {
    const now = count()
    if (now < (get.get() ?? Number.POSITIVE_INFINITY)) set.run(now)
  }
  noteLess()
  const begin = () => void set.run(count())
  let counted = { full: false, until: Number.NEGATIVE_INFINITY }
  return {
    /** Whether the backlog grew beyond the limit since its minimum. */
    isFull(): boolean {
      const began = performance.now()
      if (began < counted.until) return counted.full
      const full = (count() - (get.get() ?? 0)) * DOCUMENT_BYTES > most
      const now = performance.now()
      counted = { full, until: now + HOLDS * (now - began) }
      return full
    },
    /** Call within the transaction that offloaded documents. */
    noteLess,
    /** Adds the current size to the limit, as it precedes shipping. Call within a transaction. */
    begin,
  }
}
