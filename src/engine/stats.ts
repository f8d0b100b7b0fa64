import { statSync } from 'node:fs'
import type { Range } from '../lib/ranges.ts'
import { RECORD_KINDS } from '../mapping/index.ts'
import { sizeOnDisk } from '../sqlite/verify-pages.ts'
import { createBlocks } from './blocks.ts'
import { openForReading } from './open.ts'

export interface Stats {
  /** Size of the file and, as `log`, of its WAL. */
  bytes: number
  log: number
  /** Bytes in empty pages. */
  free: number
  ranges: Range[]
  parts: StatsPart[]
}

interface StatsPart {
  /** A table with its indexes. */
  part: string
  what: string
  bytes: number
  /** Percentage of the parts' sum, to one decimal. Unlike `bytes`, it includes the WAL. */
  share: number
  /** Null where counting is slow and not informative. */
  rows: number | null
}

/** Content of each table, such as "documents". */
const WHAT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['block', ...RECORD_KINDS].map(kind => [kind, 'documents'])),
  segment: 'index: segments',
  post: 'index: terms',
  num: 'index: numbers of arguments',
  col: 'index: columns',
  address: 'dictionary',
  name: 'dictionary',
  signature: 'dictionary',
  code: 'contracts and tokens',
  contract: 'contracts and tokens',
  token: 'contracts and tokens',
  link: 'contracts and tokens',
  upgrade: 'contracts and tokens',
  similar: 'similar contracts',
  similar_bits: 'similar contracts',
  alert: 'alerts',
  outbox: 'alerts',
  rule: 'alerts',
  shelf: 'cluster',
  batch: 'cluster',
  hidden: 'cluster',
}
/** Tables whose row counts are meaningful. */
const COUNTED_TABLES = new Set(['address', 'name', 'signature', 'contract', 'token', 'alert', 'outbox', 'segment'])

/** Percentages to one decimal that add up to 100, by the largest-remainder method. */
export const sharesOf = (sizes: readonly number[]): number[] => {
  const sum = sizes.reduce((sum, size) => sum + size, 0)
  if (sum === 0) return sizes.map(() => 0)
  const exact = sizes.map(size => (size * 1_000) / sum)
  const missing = 1_000 - exact.reduce((sum, share) => sum + Math.floor(share), 0)
  const up = new Set(
    [...exact.keys()].sort((a, b) => (exact[b]! % 1) - (exact[a]! % 1) || a - b).slice(0, Math.round(missing)),
  )
  return exact.map((share, i) => (Math.floor(share) + (up.has(i) ? 1 : 0)) / 10)
}

/** Sizes of the parts of a store. Reads every page. */
export const readStats = (store: string, native?: string): Stats => {
  const db = openForReading(store, native)
  try {
    const indexes = new Map(
      db.prepare<[], [string, string]>("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index'").raw().all(),
    )
    const bytes = new Map<string, number>()
    for (const [name, size] of db
      .prepare<[], [string, number]>('SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE')
      .raw()
      .all()) {
      const table = indexes.get(name) ?? name
      bytes.set(table, (bytes.get(table) ?? 0) + size)
    }
    const documents = new Map<string, number>(
      ['block', ...RECORD_KINDS].map(kind => [
        kind,
        db
          .prepare<[], number>(
            `SELECT coalesce(sum("${kind}"), 0) FROM segment${kind === 'block' ? '' : ' WHERE emptied = 0'}`,
          )
          .pluck()
          .get()!,
      ]),
    )
    const rowsOf = (table: string): number | null =>
      documents.get(table) ??
      (COUNTED_TABLES.has(table) ? db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get()! : null)
    const sorted = [...bytes].sort(([, a], [, b]) => b - a)
    const shares = sharesOf(sorted.map(([, size]) => size))
    const parts = sorted.map(([part, size], i) => ({
      ...{ part, what: WHAT[part] ?? 'other', bytes: size, share: shares[i]!, rows: rowsOf(part) },
    }))
    const free =
      (db.pragma('freelist_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number)
    return {
      bytes: statSync(store).size,
      log: sizeOnDisk(`${store}-wal`),
      free,
      ranges: createBlocks(db).ranges(),
      parts,
    }
  } finally {
    db.close()
  }
}
