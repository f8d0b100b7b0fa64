import { COUNTED_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { newestBlock } from '../blocks.ts'
import { MIN_LOCAL_BLOCKS } from './evict.ts'

/** How much of a store waits to be shipped and evicted. */
export type Journal = ReturnType<typeof createJournal>

/** Bytes of the store that a document takes with its index, as measured on mainnet: see docs/internals.md. */
export const DOCUMENT_BYTES = 300
/** A count holds so many times as long as it took. */
const HOLDS = 20

/** `most`: bytes. What a store held before it was shipped for the first time is allowed for until it is shipped. */
export const createJournal = (db: Db, most: number) => {
  const sum = COUNTED_KINDS.map(kind => `"${kind}"`).join(' + ')
  const documents = db
    .prepare<[number], number>(
      // Those of the head stay, and those of scopes, also where they are shipped.
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
    /** Whether it has grown by more than it may since it was least. */
    isFull(): boolean {
      const began = performance.now()
      if (began < counted.until) return counted.full
      const full = (count() - (get.get() ?? 0)) * DOCUMENT_BYTES > most
      const now = performance.now()
      counted = { full, until: now + HOLDS * (now - began) }
      return full
    },
    /** To be called within the transaction that emptied something. */
    noteLess,
    /** Allows for what it holds now, as it was filled before it was shipped. Within a transaction. */
    begin,
  }
}
