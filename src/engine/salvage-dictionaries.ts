import type Database from 'better-sqlite3'
import { asJson } from '../documents/show.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { COUNTED_KINDS } from '../mapping/index.ts'
import { createDocuments } from './query/documents.ts'
import { endOrdinal, positionOfOrdinal } from './query/fields/ordinals.ts'
import { openReader } from './reader.ts'
import { PLACES_PER_BLOCK } from './schema.ts'

/** Tables that documents refer to by id; `covered`: the column that an index duplicates. */
const DICTIONARIES = [
  { table: 'address', covered: 'bytes' },
  { table: 'name', covered: 'name' },
  { table: 'signature', covered: undefined },
  { table: 'code', covered: undefined },
] as const

/**
 * Copies the readable rows of a damaged store's dictionaries; returns whether any may be missing.
 * `source` and the schema `attached` of `db` are the same file. An index duplicates addresses and
 * names, so one damaged page loses none of them. Other tables are read from both ends.
 */
export const copyDictionaries = (db: Database.Database, source: Database.Database, attached: string): boolean => {
  let isWhole = true
  for (const { table, covered } of DICTIONARIES) {
    try {
      db.exec(`INSERT INTO "${table}" SELECT * FROM ${attached}."${table}" NOT INDEXED`)
    } catch {
      if (!rescue(db, source, table, covered)) isWhole = false
    }
  }
  return !isWhole
}

/** Whether all rows were read by one of the access paths. */
const rescue = (
  db: Database.Database,
  source: Database.Database,
  table: string,
  covered: string | undefined,
): boolean => {
  const columns = (db.pragma(`table_info("${table}")`) as { name: string }[]).map(({ name }) => `"${name}"`)
  const insert = db.prepare(
    `INSERT OR IGNORE INTO "${table}" (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
  )
  const ways = [
    'NOT INDEXED ORDER BY id',
    'NOT INDEXED ORDER BY id DESC',
    ...(covered === undefined
      ? []
      : ['', ' DESC'].map(order => `INDEXED BY sqlite_autoindex_${table}_1 ORDER BY "${covered}"${order}`)),
  ]
  return ways.some(way => {
    try {
      const rows = source.prepare<[], unknown[]>(`SELECT ${columns.join()} FROM "${table}" ${way}`).raw().iterate()
      for (const row of rows) insert.run(row)
      return true
    } catch (error) {
      if (!/^SQLITE_CORRUPT/.test(String((error as { code?: unknown }).code))) throw error
      return false
    }
  })
}

/**
 * Removes rows that refer to lost entries, which could be mistaken for new ones. Returns their
 * blocks, to be indexed again.
 */
export const removeNameless = (db: Database.Database): number[] =>
  Object.entries(NAMING).flatMap(([table, columns]) => {
    const where = Object.entries(columns)
      .map(([column, of]) => `("${column}" IS NOT NULL AND "${column}" NOT IN (SELECT id FROM "${of}"))`)
      .join(' OR ')
    // Links are requested again from contracts, and similarities are recomputed.
    const block = table === 'link' || table === 'similar' ? 'NULL' : `pos / ${PLACES_PER_BLOCK}`
    const blocks = db.prepare<[], number | null>(`DELETE FROM "${table}" WHERE ${where} RETURNING ${block}`).pluck()
    return blocks.all().flatMap(number => (number === null ? [] : [Math.floor(number)]))
  })

/** Columns that refer to a dictionary. */
const NAMING = {
  contract: { address: 'address', creator: 'address', implementation: 'address', code: 'code', name: 'name' },
  token: { id: 'address', name: 'name', symbol: 'name' },
  upgrade: { address: 'address', implementation: 'address' },
  link: { id: 'address' },
  similar: { id: 'code' },
}

/** Ids of segments with documents that refer to lost entries. Reads all documents. */
export const namelessSegments = (store: string, native?: string): number[] => {
  const reader = openReader(store, native)
  try {
    reader.begin()
    const { load } = createDocuments(reader, asJson)
    return reader.segments().flatMap(segment => {
      if (segment.emptied) return []
      const header = reader.header(segment)
      try {
        for (const kind of COUNTED_KINDS) {
          const count = endOrdinal(header, kind, header.times.length - 1)
          for (let ordinal = 0; ordinal < count; ordinal++) {
            const position = positionOfOrdinal(header, kind, ordinal)
            load(kind, [position])
            if (kind === 'log') load('event', [position])
          }
        }
        return []
      } catch (error) {
        if (!(error instanceof ChainsieveError)) throw error
        return [segment.id]
      }
    })
  } finally {
    reader.close()
  }
}
