import { closeSync, copyFileSync, existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { ChainsieveError, stop } from '../lib/errors.ts'
import { mergeRanges, type Range } from '../lib/ranges.ts'
import { RECORD_KINDS } from '../mapping/index.ts'
import { asDamage, isDamage } from '../sqlite/damage.ts'
import type { WritableDb } from '../sqlite/database.ts'
import { SQLITE_PAGE_BYTES } from '../sqlite/wal.ts'
import { createCoverageWriter } from './coverage.ts'
import { openForWriting } from './open.ts'
import { copyDictionaries, namelessSegments, removeNameless } from './salvage-dictionaries.ts'
import { positionOf } from './schema.ts'
import { createShippingState } from './shipping/shipping-state.ts'

interface SalvageResult {
  /** Blocks that could not be read. */
  lost: Range[]
  /** Alerts that could not be read. */
  lostAlerts: number
}

interface SalvagedSegment {
  id: number
  block: number
  first: number
  last: number
}

/**
 * Recovers a corrupt store: copies its undamaged part to a new one. Damaged pages are blanked in a
 * copy first, which makes SQLite fail on them instead of returning wrong data. Segments are lost as
 * a whole, also if they refer to lost dictionary entries. Tables that all documents need must be intact.
 */
export const salvageStore = (
  store: string,
  made: string,
  damagedPages: readonly number[],
  native?: string,
): SalvageResult => {
  const copy = `${made}-source`
  removeStoreFiles(copy)
  removeStoreFiles(made)
  try {
    for (const suffix of ['', '-wal']) if (existsSync(store + suffix)) copyFileSync(store + suffix, copy + suffix)
    emptyPages(copy, damagedPages, native)
    const db = openForWriting(made, native)
    const source = new Database(copy, native ? { nativeBinding: native } : {})
    try {
      db.prepare('ATTACH ? AS old').run(copy)
      const { isLacking, ...result } = copyWhole(db, source)
      db.exec('DETACH old')
      if (isLacking) result.lost.push(...dropSegments(db, namelessSegments(made, native)))
      const lost = mergeRanges(result.lost)
      loseCoverage(db, lost)
      return { ...result, lost }
    } finally {
      source.close()
      db.close()
    }
  } catch (error) {
    if (error instanceof ChainsieveError && error.code === 'store_lost')
      throw stop('store_lost', `${store}: ${error.message}`, error.cause)
    throw asDamage(error, store)
  } finally {
    removeStoreFiles(copy)
  }
}

/** Schedules lost blocks for indexing and shipping. */
const loseCoverage = (db: WritableDb, lost: readonly Range[]) => {
  const coverage = createCoverageWriter(db)
  const shelf = createShippingState(db)
  db.transaction(() => {
    for (const range of lost) {
      coverage.lose(range)
      shelf.lose([range])
    }
  }).immediate()
}

export const removeStoreFiles = (store: string) => {
  for (const suffix of ['', '-wal', '-shm', '-sums', '-sums-new']) rmSync(store + suffix, { force: true })
}

/** Blank overflow pages go undetected, so the page where the value begins is blanked too. */
const emptyPages = (copy: string, damagedPages: readonly number[], native?: string) => {
  // Pages that the file lacks are as good as damaged ones; SQLite opens no file that is too short.
  truncateSync(copy, Math.max(statSync(copy).size, SQLITE_PAGE_BYTES * (damagedPages.at(-1) ?? 0)))
  const db = new Database(copy, native ? { nativeBinding: native } : {})
  const pages = new Set(damagedPages)
  try {
    // Pages in the WAL replace damaged ones.
    db.pragma('wal_checkpoint(TRUNCATE)')
    for (const page of overflowOwners(db, damagedPages)) pages.add(page)
  } catch (error) {
    if (isDamage(asDamage(error, copy))) throw lostAll('the list of its tables is damaged', error)
    throw error
  } finally {
    db.close()
  }
  if (pages.has(1)) throw lostAll('its first page is damaged')
  const file = openSync(copy, 'r+')
  try {
    for (const page of pages)
      writeSync(file, Buffer.alloc(SQLITE_PAGE_BYTES), 0, SQLITE_PAGE_BYTES, (page - 1) * SQLITE_PAGE_BYTES)
  } finally {
    closeSync(file)
  }
}

const overflowOwners = (db: Database.Database, pages: readonly number[]): number[] => {
  const overflows = db.prepare<[number], { name: string; path: string }>(
    "SELECT name, path FROM dbstat WHERE pageno = ? AND pagetype = 'overflow'",
  )
  const owner = db.prepare<[string, string], number>('SELECT pageno FROM dbstat WHERE name = ? AND path = ?').pluck()
  return pages.flatMap(page => {
    const found = overflows.get(page)
    return found ? owner.all(found.name, found.path.replace(/[0-9a-f]+\+[0-9a-f]+$/, '')) : []
  })
}

/** Tables that all documents need, besides the dictionaries. */
const NEEDED = [
  'contract',
  'token',
  'link',
  'upgrade',
  'similar',
  'scope',
  'coverage',
  'looked',
  'child',
  'shelf',
  'batch',
  'hidden',
] as const

const copyWhole = (db: Database.Database, source: Database.Database): SalvageResult & { isLacking: boolean } => {
  const needed = (table: string, copyTable: () => void) => {
    try {
      copyTable()
    } catch (error) {
      throw lostAll(`all documents need the table ${table}, which has a damaged page`, error)
    }
  }
  needed('meta', () => db.exec('DELETE FROM meta; INSERT INTO meta SELECT * FROM old.meta'))
  const isLacking = copyDictionaries(db, source, 'old')
  for (const table of NEEDED)
    needed(table, () => db.exec(`INSERT INTO "${table}" SELECT * FROM old."${table}" NOT INDEXED`))
  // Bits are recomputed from the vectors.
  db.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('similar_bits', 0)")
  needed('rule', () => db.exec('INSERT INTO rule SELECT * FROM old.rule'))
  needed('sqlite_sequence', () => {
    const counted = ['segment', 'alert', 'outbox', 'repeat']
    for (const name of counted) {
      const seq = db.prepare<[string], number>('SELECT seq FROM old.sqlite_sequence WHERE name = ?').pluck().get(name)
      db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name)
      if (seq !== undefined) db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, seq)
    }
  })
  const lostAlerts = copyRows(db, 'alert') + copyRows(db, 'outbox')
  copyTogether(db, ['rule_window', 'rule_rows', 'row_list', 'episode', 'held', 'repeat', 'across', 'across_alert'])
  copyTogether(db, ['quiet'])
  // Pending removals are dropped.
  db.prepare("DELETE FROM meta WHERE key = 'pruning'").run()
  const nameless = isLacking ? removeNameless(db) : []
  return { lost: copySegments(db, nameless), lostAlerts, isLacking }
}

/** Copies readable rows by bisecting the range of `n`; returns the number of lost rows. */
const copyRows = (db: Database.Database, table: string): number => {
  const last = db.prepare<[string], number>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) ?? 0
  const insert = db.prepare(`INSERT INTO "${table}" SELECT * FROM old."${table}" NOT INDEXED WHERE n BETWEEN ? AND ?`)
  let lost = 0
  const copyRun = (from: number, to: number) => {
    try {
      insert.run(from, to)
    } catch {
      if (from === to) lost++
      else {
        const middle = (from + to) >> 1
        copyRun(from, middle)
        copyRun(middle + 1, to)
      }
    }
  }
  if (last > 0) copyRun(1, last)
  return lost
}

/** All or nothing, since a window with less would decide wrongly; without them, rules begin anew. */
const copyTogether = (db: Database.Database, tables: readonly string[]) => {
  try {
    db.transaction(() => {
      for (const table of tables) db.exec(`INSERT INTO ${table} SELECT * FROM old.${table} NOT INDEXED`)
    })()
  } catch {
    for (const table of tables) db.exec(`DELETE FROM ${table}`)
  }
}

/** Range of posting ids reserved for each segment. */
const POSTINGS_PER_SEGMENT = 2 ** 20

/** Tables with rows of a segment; the segment itself comes last. */
const SEGMENT_PARTS = [
  { table: 'block', where: 'number BETWEEN @first AND @last' },
  ...RECORD_KINDS.map(table => ({ table, where: 'pos >= @from AND pos < @behind' })),
  { table: 'post', where: `id >= @id * ${POSTINGS_PER_SEGMENT} AND id < (@id + 1) * ${POSTINGS_PER_SEGMENT}` },
  ...['col', 'num'].map(table => ({ table, where: 'segment = @id' })),
  { table: 'segment', where: 'id = @id' },
]

const segmentParameters = ({ id, first, last }: SalvagedSegment) => ({
  ...{ id, first, last },
  ...{ from: positionOf(first, 0), behind: positionOf(last + 1, 0) },
})

/** Copies segments without `nameless` blocks; returns the blocks that were not copied. */
const copySegments = (db: Database.Database, nameless: readonly number[]): Range[] => {
  const copies = SEGMENT_PARTS.map(({ table, where }) =>
    db.prepare(`INSERT INTO ${table} SELECT * FROM old.${table} WHERE ${where}`),
  )
  const count = db.prepare<[number, number], number>('SELECT count(*) FROM block WHERE number BETWEEN ? AND ?').pluck()
  const copySegment = db.transaction((segment: SalvagedSegment) => {
    for (const copy of copies) copy.run(segmentParameters(segment))
    if (count.get(segment.first, segment.last) !== segment.block) throw new Error('blocks are missing')
  })
  const lost: Range[] = []
  for (const segment of segmentsIn(db)) {
    try {
      if (nameless.some(block => block >= segment.first && block <= segment.last)) {
        lost.push({ from: segment.first, to: segment.last })
        continue
      }
      copySegment(segment)
    } catch (error) {
      if (
        !/^SQLITE_(CORRUPT|CONSTRAINT)/.test(String((error as { code?: unknown }).code)) &&
        error instanceof Database.SqliteError
      )
        throw error
      lost.push({ from: segment.first, to: segment.last })
    }
  }
  return lost
}

/** Removes segments with their documents; returns their blocks. */
const dropSegments = (db: Database.Database, ids: readonly number[]): Range[] => {
  const find = db.prepare<[number], SalvagedSegment>('SELECT id, first, last, block FROM segment WHERE id = ?')
  const drops = SEGMENT_PARTS.map(({ table, where }) => db.prepare(`DELETE FROM ${table} WHERE ${where}`))
  return ids.map(id => {
    const segment = find.get(id)!
    db.transaction(() => {
      for (const drop of drops) drop.run(segmentParameters(segment))
    })()
    return { from: segment.first, to: segment.last }
  })
}

/** Segments whose rows are readable without overflow pages. */
const segmentsIn = (db: Database.Database): SalvagedSegment[] => {
  try {
    return db
      .prepare<[], SalvagedSegment>('SELECT id, first, last, block FROM old.segment NOT INDEXED ORDER BY first')
      .all()
  } catch (error) {
    throw lostAll('the list of its segments is damaged', error)
  }
}

const lostAll = (why: string, cause?: unknown) =>
  stop(
    'store_lost',
    `nothing can be salvaged from the damaged store, because ${why}: restore a backup, or move the file away and index again`,
    cause,
  )
