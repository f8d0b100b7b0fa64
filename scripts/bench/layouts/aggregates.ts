import { statSync } from 'node:fs'
import zlib from 'node:zlib'
import Database from 'better-sqlite3'
import type { Reader } from '../../../src/engine/reader.ts'
import { PLACES, positionOf } from '../../../src/engine/schema.ts'
import { createRandom } from '../random.ts'
import { bitPackedSize, type StoredColumn } from './columns.ts'
import { LOG_FIELDS, openColumns, TX_FIELDS } from './fields.ts'
import { type Contestant, compare, type Figure } from './measure.ts'
import { greatest, hourly, scan, terms } from './scans.ts'

export interface AggregateFigures {
  question: string
  /** `rows` by SQL over today's tables, `columns` read from the store each time, `kept` in memory. */
  figures: Map<string, Figure>
}

const TOP = 10
const INNER = 5
const MATCHES = 100_000

export interface AggregateOptions {
  reader: Reader
  columns: string
  rounds: number
  seed: number
}

/** Times are of the whole store, in microseconds; results of all contestants are compared first. */
export const measureAggregates = ({ reader, columns: path, rounds, seed }: AggregateOptions): AggregateFigures[] => {
  const db = new Database(path, { readonly: true })
  db.pragma('mmap_size = 17179869184')
  const { headers, field } = openColumns(db, reader)
  const sql = (text: string) => reader.prepare(text).raw()
  const questions: { name: string; fields: string[]; rows(): unknown; columns(read: typeof field): unknown }[] = [
    {
      name: 'scan of transactions by gas price',
      fields: ['tx.gasPrice'],
      rows: () =>
        (reader.prepare('SELECT pos FROM tx WHERE gasPrice BETWEEN ? AND ?').pluck().all(2e9, 3e9) as number[]).length,
      columns: read => scan(read('tx.gasPrice'), 2e9, 3e9).reduce((sum, { length }) => sum + length, 0),
    },
    {
      name: 'terms: ten most frequent emitters of logs',
      fields: ['log.address'],
      rows: () => sql(`SELECT address, count(*) AS n FROM log GROUP BY 1 ORDER BY n DESC, 1 LIMIT ${TOP}`).all(),
      columns: read => terms(read('log.address'), TOP),
    },
    {
      name: 'terms: ten most frequent events',
      fields: ['log.signature'],
      rows: () => sql(`SELECT signature, count(*) AS n FROM log GROUP BY 1 ORDER BY n DESC, 1 LIMIT ${TOP}`).all(),
      columns: read => terms(read('log.signature'), TOP),
    },
    {
      name: 'hourly, and the five most frequent emitters of each hour',
      fields: ['log.address'],
      rows: () => hourlyBySql(sql),
      columns: read => hourly(read('log.address'), headers, INNER),
    },
  ]
  const result = questions.map(({ name, fields, rows, columns }) => {
    const kept = new Map<string, StoredColumn[]>(fields.map(name => [name, field(name)]))
    const contestants: (Contestant & { work(): unknown })[] = [
      { name: 'rows', work: rows },
      { name: 'columns', work: () => columns(field) },
      { name: 'kept', work: () => columns(name => kept.get(name)!) },
    ].map(once)
    checkSame(name, contestants)
    return { question: name, figures: compare(contestants, rounds) }
  })
  result.push(...inMillions(field, headers, rounds))
  result.push(sorting(reader, field, { rounds, seed }))
  db.close()
  return result
}

const once = ({ name, work }: { name: string; work(): unknown }) => ({
  name,
  work,
  /** Often enough to be seen by the system's clock of processor time. */
  run() {
    const times = name === 'rows' ? 1 : 10
    for (let i = 0; i < times; i++) work()
    return times
  },
})

const checkSame = (name: string, contestants: readonly { name: string; work(): unknown }[]) => {
  const [first, ...others] = contestants.map(({ work }) => JSON.stringify(work()))
  const other = others.find(text => text !== first)
  if (other !== undefined) throw new Error(`${name}: results differ\n${first}\n${other}`)
}

const hourlyBySql = (sql: (text: string) => ReturnType<Reader['prepare']>) => {
  const rows = sql(
    `SELECT block.timestamp / 3600, log.address, count(*) AS n FROM log JOIN block ON block.pos = log.pos - log.pos % ${PLACES}
       GROUP BY 1, 2 ORDER BY 1, n DESC, 2`,
  ).all() as [hour: number, address: number, count: number][]
  const hours: { hour: number; count: number; top: [number, number][] }[] = []
  for (const [hour, address, count] of rows) {
    if (hours.at(-1)?.hour !== hour) hours.push({ hour, count: 0, top: [] })
    const last = hours.at(-1)!
    last.count += count
    if (last.top.length < INNER) last.top.push([address, count])
  }
  return hours
}

const MILLIONS = 5_000_000

/** The same columns again and again, until they are those of five million logs, an hour behind an hour. */
const inMillions = (
  field: (name: string) => StoredColumn[],
  headers: ReturnType<typeof openColumns>['headers'],
  rounds: number,
): AggregateFigures[] => {
  const emitters = field('log.address')
  const logs = emitters.reduce((sum, { count }) => sum + count, 0)
  const times = Math.max(1, Math.round(MILLIONS / logs))
  const span = headers.at(-1)!.times.at(-1)! - headers[0]!.times[0]! + 1
  const many = <T>(list: readonly T[], change = (one: T, _: number): T => one): T[] =>
    Array.from({ length: times }, (_, i) => list.map(one => change(one, i))).flat()
  const columns = many(emitters)
  const signatures = many(field('log.signature'))
  const later = many(headers, (header, i) => ({ ...header, times: header.times.map(time => time + i * span) }))
  const ask = (question: string, work: () => unknown): AggregateFigures => ({
    question: `${question}, of ${(times * logs).toLocaleString('en')} logs`,
    figures: compare([once({ name: 'kept', work })], rounds),
  })
  return [
    ask('terms: emitters', () => terms(columns, TOP)),
    ask('terms: events', () => terms(signatures, TOP)),
    ask('hourly, and emitters', () => hourly(columns, later, INNER)),
  ]
}

/** The ten transactions that used most gas, of many matches: today all keys of a segment are read by a scan. */
const sorting = (
  reader: Reader,
  field: (name: string) => StoredColumn[],
  { rounds, seed }: Pick<AggregateOptions, 'rounds' | 'seed'>,
): AggregateFigures => {
  const random = createRandom()
  random.seek(seed, 7, 8, 9)
  const segments = reader.segments()
  const all = segments.reduce((sum, { txs }) => sum + txs, 0)
  const share = Math.min(1, MATCHES / all)
  const matches = segments.map(({ txs }) =>
    Uint32Array.from(Array.from({ length: txs }, (_, i) => i).filter(() => random.unit() < share)),
  )
  const select = reader.prepare('SELECT pos, gasUsed FROM tx WHERE pos BETWEEN ? AND ? ORDER BY pos').raw()
  const byRows = () => {
    const found: [number, number, number][] = []
    for (const [s, { first, last }] of segments.entries()) {
      const rows = select.all(positionOf(first, 0), positionOf(last, PLACES - 1)) as [number, number][]
      for (const ordinal of matches[s]!) found.push([s, ordinal, rows[ordinal]![1]])
    }
    return found.sort((a, b) => b[2] - a[2] || b[0] - a[0] || b[1] - a[1]).slice(0, TOP)
  }
  const kept = field('tx.gasUsed')
  const contestants = [
    { name: 'rows', work: byRows },
    { name: 'columns', work: () => greatest(field('tx.gasUsed'), matches, TOP) },
    { name: 'kept', work: () => greatest(kept, matches, TOP) },
  ].map(once)
  const name = `sort of ${matches.reduce((sum, { length }) => sum + length, 0).toLocaleString('en')} transactions by gas used`
  checkSame(name, contestants)
  return { question: name, figures: compare(contestants, rounds) }
}

const FAST = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }

export interface ColumnSize {
  field: string
  /** Bytes a value: as stored, and with bits in place of bytes. */
  stored: number
  bits: number
  /** Compressed by zstd at its lowest level. */
  zstd: number
  form: string
}

/** What each column takes, beside what packing by bits would save. */
export const columnSizes = (path: string): { total: number; columns: ColumnSize[] } => {
  const db = new Database(path, { readonly: true })
  const { field, blobs } = openColumns(db, { segments: () => [] } as unknown as Reader)
  const columns = [...TX_FIELDS.map(name => `tx.${name}`), ...Object.keys(LOG_FIELDS).map(name => `log.${name}`)].map(
    (name): ColumnSize => {
      const stored = field(name)
      const compressed = blobs(name).reduce((sum, blob) => sum + zlib.zstdCompressSync(blob, FAST).length, 0)
      const values = stored.reduce((sum, { count }) => sum + count, 0)
      const bytes = stored.reduce(
        (sum, { values, dictionary }) => sum + (values?.byteLength ?? 0) + (dictionary?.byteLength ?? 0),
        0,
      )
      const bits = stored.reduce((sum, column) => sum + bitPackedSize(column), 0)
      const [first] = stored
      const form = `${first?.values?.BYTES_PER_ELEMENT ?? 0}${first?.dictionary ? ` + dictionary of ${first.dictionary.length}` : ''}`
      return { field: name, stored: bytes / values, bits: bits / values, zstd: compressed / values, form }
    },
  )
  db.close()
  return { total: statSync(path).size, columns }
}
