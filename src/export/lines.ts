import { gzipSync } from 'node:zlib'
import { createByteWriter } from '../lib/bytes.ts'
import type { SearchRequest } from '../query/request.ts'
import { createCsv } from '../search/csv.ts'
import { type Encoder, taken } from './encoder.ts'
import { parseHit } from './hit.ts'

const NEWLINE = 10

/** Hits as the search writes them, one a line. */
export const createNdjson = (): Encoder => {
  const out = createByteWriter(1 << 16)
  return {
    add(hits) {
      for (const hit of hits) {
        out.bytes(hit)
        out.byte(NEWLINE)
      }
    },
    isFull: () => out.length > 0,
    clear: () => out.clear(),
    take: () => ({ part: taken(out) }),
  }
}

/** The rows that the search answers as `text/csv`. */
export const createCsvRows = (request: Pick<SearchRequest, 'parts' | 'source'>, options: { raw: boolean }): Encoder => {
  const table = createCsv(request, options)
  const out = createByteWriter(1 << 16)
  return {
    add(hits) {
      for (const hit of hits) {
        const { _id, _type, _source } = parseHit(hit)
        table.hit({ kind: _type, document: { _id, _source } }, out)
      }
    },
    isFull: () => out.length > 0,
    clear: () => out.clear(),
    take(at) {
      const rows = taken(out)
      if (at > 0) return { part: rows }
      table.head(out)
      out.bytes(rows)
      return { part: taken(out) }
    },
  }
}

/** Each part a member of a gzip file: together they unpack as one text. */
export const gzipped = (encoder: Encoder): Encoder => ({
  ...encoder,
  async take(at) {
    const { part, ...rest } = await encoder.take(at)
    return { ...rest, part: gzipSync(part) }
  },
})
