import { gzipSync } from 'node:zlib'
import { asJson, readDocument } from '../documents/show.ts'
import { type ByteWriter, createByteWriter } from '../lib/bytes.ts'
import type { Kind } from '../mapping/index.ts'
import type { SearchRequest } from '../query/request.ts'
import type { Cells } from '../search/columns/cells.ts'
import { createTableWriter } from '../search/columns/rows.ts'
import type { ArgumentTable } from '../search/columns/table.ts'
import { createCsv } from '../search/lines.ts'
import { type HitList, type ReadPage, rowsReader } from './page.ts'

interface ParsedHit {
  _id: string
  _type: Kind
  _source: Record<string, unknown>
}

/** Integers beyond double precision stay as text (`JSON.rawJSON`). */
export const parseHit = (hit: Buffer): ParsedHit => readDocument(hit.toString(), asJson) as ParsedHit

/** Encodes hits as a file, in parts. */
export interface Encoder<Hits extends HitList = readonly Buffer[]> {
  /** Reads a page for `add`; by default, each hit as the search wrote it. */
  read?: ReadPage<Hits>
  /** Adds the hits of a page. */
  add(hits: Hits, signal: AbortSignal): void | Promise<void>
  /** Whether enough was added for a part. */
  isFull(): boolean
  /** Discards hits added since the last part. */
  clear(): void
  /** The bytes of a part, and a note on it for `tail`. `at`: its offset in the file. */
  take(at: number): EncodedHits | Promise<EncodedHits>
  /** The end of the file, from the notes on all parts. */
  tail?(notes: readonly unknown[], at: number): Promise<Uint8Array>
}

export interface EncodedHits {
  part: Uint8Array
  note?: unknown
}

/** Returns and clears the written bytes. */
export const takeBytes = (out: ByteWriter): Uint8Array => {
  const part = out.take()
  out.clear()
  return part
}

const CSV_FORMATS = ['ndjson', 'csv', 'raw-csv', 'parquet'] as const
export type ExportFormat = (typeof CSV_FORMATS)[number]

const CSV_NEWLINE = 10

/** Hits as the search writes them, one per line. */
export const createNdjson = (): Encoder => {
  const out = createByteWriter(1 << 16)
  return {
    add(hits) {
      for (const hit of hits) {
        out.bytes(hit)
        out.byte(CSV_NEWLINE)
      }
    },
    isFull: () => out.length > 0,
    clear: () => out.clear(),
    take: () => ({ part: takeBytes(out) }),
  }
}

/** Rows as the search answers them in `text/csv`. */
export const createCsvRows = (request: Pick<SearchRequest, 'parts' | 'source'>, options: { raw: boolean }): Encoder => {
  const table = createCsv(request, options)
  return createRowEncoder(table.head, (hits, out) => {
    for (const hit of hits) {
      const { _id, _type, _source } = parseHit(hit)
      table.hit({ kind: _type, document: { _id, _source } }, out)
    }
  })
}

/** Rows with one column for each argument. */
export const createArgumentRows = (table: ArgumentTable, format: Exclude<ExportFormat, 'parquet'>): Encoder<Cells> => {
  const { head, rows } = createTableWriter(table.columns, format)
  return { ...createRowEncoder(head, rows), read: rowsReader(table) }
}

const createRowEncoder = <Hits extends HitList>(
  head: (out: ByteWriter) => void,
  rows: (hits: Hits, out: ByteWriter) => void,
): Encoder<Hits> => {
  const out = createByteWriter(1 << 16)
  return {
    add: hits => rows(hits, out),
    isFull: () => out.length > 0,
    clear: () => out.clear(),
    take(at) {
      const rows = takeBytes(out)
      if (at > 0) return { part: rows }
      head(out)
      out.bytes(rows)
      return { part: takeBytes(out) }
    },
  }
}

/** Each part is a gzip member: together they decompress to one text. */
export const gzipped = <Hits extends HitList>(encoder: Encoder<Hits>): Encoder<Hits> => ({
  ...encoder,
  async take(at) {
    const { part, ...rest } = await encoder.take(at)
    return { ...rest, part: gzipSync(part) }
  },
})
