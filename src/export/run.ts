import { refuse, stop } from '../lib/errors.ts'
import type { ProgressStep } from '../lib/progress.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { KINDS } from '../mapping/index.ts'
import { parseExactJson } from '../query/json.ts'
import type { Parameters } from '../query/parameters.ts'
import { parseSearch } from '../query/parse.ts'
import type { SearchRequest } from '../query/request.ts'
import type { ArgumentTable } from '../search/columns/table.ts'
import { checkTable } from '../search/lines.ts'
import type { EncodedHits, Encoder, ExportFormat } from './lines.ts'
import { type HitList, type ReadPage, readPage } from './page.ts'
import { EXPORT_START, type ExportTarget } from './resume-journal.ts'

/**
 * Requests a page of hits; the answer is JSON. `parameters` are those of the URL, and `table` has
 * the columns that are read of it.
 */
export type AskPage = (
  entities: string,
  body: string,
  signal: AbortSignal,
  parameters?: Parameters,
  table?: Pick<ArgumentTable, 'source' | 'rows'>,
) => Promise<Buffer>

export interface ExportOptions<Hits extends HitList = readonly Buffer[]> {
  ask: AskPage
  entities: string
  /** The search's body, an object as JSON text. */
  query: string
  encoder: Encoder<Hits>
  target: ExportTarget
  signal: AbortSignal
  onStep(step: ProgressStep): void
  /** Hits of the first page; later ones adapt to the size of answers. */
  size?: number
  /** Most hits per page. */
  most?: number
}

export interface Exported {
  /** Number of hits in the file, and of those that this run added. */
  hits: number
  added: number
  bytes: number
}

/** Target size of an answer. */
const TARGET_PAGE_BYTES = 8 << 20
const MAX_PAGE_HITS = 10_000

/**
 * Writes all hits of a query in chain order. After a reorganisation the file is cut back and
 * continued, so at the end it has each hit of the chain once.
 */
export const runExport = async <Hits extends HitList>(options: ExportOptions<Hits>): Promise<Exported> => {
  const { ask, entities, query, encoder, target, signal, onStep } = options
  const { size: first = 500, most = MAX_PAGE_HITS } = options
  const read = encoder.read ?? (readPage as unknown as ReadPage<Hits>)
  let size = first
  const last = () => target.marks.at(-1)
  const before = last()?.hits ?? 0
  let token = last()?.token ?? EXPORT_START
  let pending = 0
  let total: number | undefined
  const commit = async () => {
    const { hits = 0, bytes = 0 } = last() ?? {}
    await target.append(...pagePart(await encoder.take(bytes), token, hits + pending))
    pending = 0
  }

  for (;;) {
    signal.throwIfAborted()
    const answer = await ask(
      entities,
      pageBody(query, { resume: token, size, track_total_hits: total === undefined }),
      signal,
    )
    const page = read(answer)
    if (page.reorganisedFrom !== undefined) {
      encoder.clear()
      pending = 0
      if (last()) target.back()
      token = last()?.token ?? EXPORT_START
      continue
    }
    total ??= (last()?.hits ?? 0) + page.total
    token = page.token
    if (page.hits.length > 0) await encoder.add(page.hits, signal)
    pending += page.hits.length
    const isLast = page.hits.length < size
    // A file without hits still has its head.
    if (isLast ? pending > 0 || !last() : encoder.isFull()) await commit()
    onStep({ blocks: 0, logs: 0, events: 0, done: Math.min(total, (last()?.hits ?? 0) + pending), total })
    if (isLast) break
    size = Math.min(most, nextSize(size, answer.length / page.hits.length))
  }
  const { hits = 0, bytes = 0 } = last() ?? {}
  const notes = target.marks.map(({ note }) => note)
  await target.end((await encoder.tail?.(notes, bytes)) ?? new Uint8Array(0))
  return { hits, added: hits - before, bytes }
}

const pagePart = ({ part, note }: EncodedHits, token: string, hits: number) =>
  [part, { token, hits, ...(note !== undefined && { note }) }] as const

/** Grows slowly, since later hits may be larger. */
const nextSize = (size: number, bytesOfHit: number): number =>
  Math.max(1, Math.min(MAX_PAGE_HITS, size * 2, Math.floor(TARGET_PAGE_BYTES / bytesOfHit)))

/** Adds members to the body without changing its text. */
export const pageBody = (query: string, more: Record<string, unknown>): string => {
  const rest = query.slice(query.indexOf('{') + 1)
  return `${JSON.stringify(more).slice(0, -1)}${/^\s*\}/.test(rest) ? '' : ','}${rest}`
}

/** A stream cannot be cut back, so its progress is not stored. */
export const toStream = (write: (part: Uint8Array) => Promise<void>): ExportTarget => {
  const marks: ExportTarget['marks'][number][] = []
  let bytes = 0
  return {
    marks,
    async append(part, mark) {
      await write(part)
      bytes += part.length
      marks[0] = { ...mark, bytes }
    },
    back() {
      throw stop(
        'reorganised',
        'blocks whose hits were already written are no longer in the chain. Name a file with --out, which is then corrected, or leave out the newest blocks by the query',
      )
    },
    end: write,
    close() {},
  }
}

/** An export has all hits in chain order, and nothing else. */
const NOT_TAKEN = [
  ...['size', 'from', 'sort', 'search_after', 'resume', 'pit', 'slice', 'collapse', 'aggs', 'aggregations'],
  ...['track_total_hits', 'timeout'],
]

/** Reads the body of the search to export. */
export const readExportQuery = (
  query: string,
  { index, entities, format, limits }: { index: string; entities: string; format: ExportFormat; limits: Limits },
): SearchRequest => {
  if (Buffer.byteLength(query) > limits.body) throw overLimit('body', limits, 'The query')
  const root = parseExactJson(query, limits)
  if (!(root instanceof Map)) throw refuse('parsing_exception', 'The query of an export is a JSON object.')
  const other = NOT_TAKEN.find(name => root.has(name))
  if (other !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `[${other}] does not work with an export, which has all hits in the order of the chain: leave it out.`,
    )
  const names = entities.split(',')
  const kinds = KINDS.filter(kind => names.includes(kind))
  const body = pageBody(query, { resume: 'start', size: 1 })
  const request = parseSearch(body, kinds, Date.now(), { limits, index })
  if (format !== 'ndjson') checkTable(request)
  return request
}
