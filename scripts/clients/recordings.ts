import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'

/** What an unmodified client sent, and what Elasticsearch 7.17 answered. */
export interface Call {
  kind: 'client'
  client: string
  version: string
  /** What its user called. One call may be several requests. */
  call: string
  method: string
  path: string
  headers: Record<string, string>
  body: string
  reference: { status: number; contentType?: string; response: string; cut?: boolean }
}

/** A query body, and what several servers answered. */
export interface Body {
  kind: 'dsl'
  name: string
  method: string
  path: string
  body: object
  answers: Record<string, { status: number; response: string; cut?: boolean }>
}

/** What a dashboard sends, by its source. */
export interface Panel {
  kind: 'grafana'
  client: string
  call: string
  method: string
  path: string
  headers: Record<string, string>
  body: string
  response: string
}

export interface Recordings {
  calls: Call[]
  bodies: Body[]
  panels: Panel[]
}

/** What public scripts ask, with the answers of real servers. */
const PUBLISHED_ANSWERS = fileURLToPath(new URL('../../test/clients/published.ndjson.br', import.meta.url))

export const readPublished = (): Body[] =>
  !existsSync(PUBLISHED_ANSWERS)
    ? []
    : brotliDecompressSync(readFileSync(PUBLISHED_ANSWERS))
        .toString()
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as Body)

export const writePublished = (bodies: readonly Body[]): void =>
  writeFileSync(PUBLISHED_ANSWERS, brotliCompressSync(bodies.map(body => `${JSON.stringify(body)}\n`).join('')))

export const REFERENCE = 'elasticsearch 7.17.29'

/** Beside the repository, since they are large; another place by CLIENT_RECORDINGS. */
export const RECORDINGS =
  process.env.CLIENT_RECORDINGS ?? new URL('../../../shared/recorded-clients-717.jsonl.gz', import.meta.url).pathname

/** Undefined where there are none. */
export const readRecordings = (file = RECORDINGS): Recordings | undefined => {
  if (!existsSync(file)) return undefined
  const lines = gunzipSync(readFileSync(file))
    .toString()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Call | Body | Panel)
  return {
    calls: lines.filter(line => line.kind === 'client'),
    bodies: lines.filter(line => line.kind === 'dsl'),
    panels: lines.filter(line => line.kind === 'grafana'),
  }
}
