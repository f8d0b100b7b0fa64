import type { Hit } from '../engine/query/hits.ts'
import type { AwaitedPages, SearchPages, StoreSearcher, WrittenPages } from '../engine/query/searcher.ts'
import type { ByteWriter } from '../lib/bytes.ts'
import { refuse } from '../lib/errors.ts'
import { compileGlobs } from '../lib/name-matching.ts'
import { type Eventually, whenThere } from '../lib/scheduling/event-loop.ts'
import { DEFAULT_LIMITS, overLimit, overNow } from '../limits/index.ts'
import { type Field, fieldsOf, isListField, KINDS, type Kind, MAPPING } from '../mapping/index.ts'
import { compileSourcePaths } from '../query/hits/source-filter.ts'
import type { SearchRequest, SourceFilter } from '../query/request.ts'
import type { AnswerOptions, Reply } from './answer.ts'
import { csvRowWriter } from './columns/csv.ts'
import type { AnswerFormat } from './service.ts'

const NEWLINE_BYTE = 10

/** Hits alone, one a line: as JSON, or as rows of a table. */
export const answerLines = (
  searcher: StoreSearcher,
  index: string,
  request: SearchRequest,
  options: AnswerOptions,
  out: ByteWriter,
): Eventually<Reply> => {
  const { format = 'ndjson', limits = DEFAULT_LIMITS, mayStream = true, after, dialect } = options
  checkShown(request, format)
  const asked = { ...request, trackTotal: false }
  if (request.size < 0 && !mayStream) throw overNow('streams', limits)
  const { head, write, writePages } = format === 'ndjson' ? ndjson() : csv()
  if (request.size < 0)
    return whenThere(writePages(), found => ({
      ...{ status: 200, format },
      body: answerParts(found, out, { begin: isFirst => isFirst && head() }),
    }))
  const fail = () => overLimit('answer', limits)
  out.clear({ most: limits.answer, fail })
  head()
  return whenThere(write(), () => {
    if (out.length > limits.answer) throw fail()
    return { status: 200, format, body: out.take() }
  })

  function ndjson() {
    const writing = { index, out, parents: dialect?.parents, between: NEWLINE_BYTE }
    const end = (hits: number) => {
      if (hits > 0) out.byte(NEWLINE_BYTE)
    }
    return {
      head() {},
      write: () => whenThere(searcher.write(asked, options, writing), ({ hits }) => end(hits)),
      writePages: () => whenThere(searcher.writePages(asked, options, writing, after), found => eachPage(found, end)),
    }
  }

  function csv() {
    const table = createCsv(request, { raw: format === 'raw-csv' })
    const write = (hits: readonly Hit[]) => {
      for (const hit of hits) table.hit(hit, out)
    }
    return {
      head() {
        if (!after) table.head(out)
      },
      write: () => whenThere(searcher.search(asked, options), ({ hits }) => write(hits)),
      writePages: () => whenThere(searcher.pages(asked, options, after), found => eachPage(found, write)),
    }
  }
}

/** Writes each page when it is taken. */
const eachPage = <T>(
  found: SearchPages<T> & AwaitedPages,
  write: (page: T) => void,
): SearchPages<T> & AwaitedPages => ({
  ...found,
  pages: (function* () {
    for (const page of found.pages) {
      write(page)
      yield page
    }
  })(),
})

/** Refuses requests whose answers lines cannot represent. */
export const checkShown = (request: SearchRequest, format: AnswerFormat): void => {
  const { resume, aggregations } = request
  const bad = (why: string) => refuse('illegal_argument_exception', why)
  if (resume !== undefined) throw bad('resume: only JSON has the token of the next page: ask for JSON.')
  if (aggregations) throw bad('aggs: only JSON has aggregations: ask for JSON.')
  if (format !== 'ndjson') checkTable(request)
}

/** Tables can show only `_source`. */
export const checkTable = ({ shown, collapse, parts }: SearchRequest): void => {
  if (!shown && !collapse?.innerHits.length && !parts.some(({ innerHits }) => innerHits)) return
  throw refuse(
    'illegal_argument_exception',
    'A table shows the fields that [_source] selects: leave fields, docvalue_fields, stored_fields, highlight, inner_hits, version, seq_no_primary_term, explain, decimals and args_by_name out, or ask for lines of JSON.',
  )
}

/** A long answer. */
export interface AnswerParts extends AwaitedPages, Pick<WrittenPages, 'at' | 'goTo'> {
  /** Each part's bytes are valid until the next write. */
  parts: Iterable<Uint8Array>
  /** Whether the last part was taken: continuing after its last hit would end the answer twice. */
  ended(): boolean
}

/** Writes around the hits of a part. */
interface PartWriter {
  begin?(isFirst: boolean): void
  /** For the last part, which has no hits. */
  end?(isFirst: boolean): void
}

/**
 * One part per page, and a final one. Parts are bytes, which are freed one by one: text would stay
 * until a full collection. Other answers use the writer in between.
 */
export const answerParts = (
  { pages, at, goTo, ready, close }: Omit<SearchPages<unknown>, 'total'> & AwaitedPages,
  out: ByteWriter,
  { begin, end }: PartWriter,
): AnswerParts => {
  let ended = false
  function* parts() {
    const rest = pages[Symbol.iterator]()
    let isFirst = true
    for (;;) {
      out.clear()
      begin?.(isFirst)
      if (rest.next().done) break
      isFirst = false
      yield out.view()
    }
    end?.(isFirst)
    ended = true
    yield out.view()
  }
  return { parts: parts(), at, goTo, ready, close, ended: () => ended }
}

/** A column: a path into `_source`. */
interface CsvColumn {
  path: string
  steps: string[]
}
/** Members of what an integer shows, by its kind. */
const INTEGER_MEMBERS: Partial<Record<Field['kind'], readonly string[]>> = {
  quantity: ['num', 'raw'],
  wide: ['padded', 'raw'],
  amount: ['num', 'coin', 'padded', 'raw'],
}
/** Paths shown by documents of a kind, in mapping order; a list of objects is one column. */
const shownPaths = (kind: Kind): string[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]) => {
    if (isListField(field)) return [name]
    return INTEGER_MEMBERS[field.kind]?.map(member => `${name}.${member}`) ?? [name]
  })
const csvColumns = ({ parts, source }: Pick<SearchRequest, 'parts' | 'source'>): CsvColumn[] => {
  const all = [...new Set(KINDS.filter(kind => parts.some(part => part.kind === kind)).flatMap(shownPaths))]
  const members = new Map(
    parts
      .flatMap(({ kind }) => fieldsOf(kind).flatMap(({ list, path }) => (list ? [[list.name, path] as const] : [])))
      .reduce(
        (lists, [list, path]) => lists.set(list, [...(lists.get(list) ?? []), path]),
        new Map<string, string[]>(),
      ),
  )
  const paths = compileSourcePaths(source)
  const shown = all.filter(path => paths.of(path, members.get(path)) !== 'none')
  return orderedPaths(shown, source).map(path => ({ path, steps: path.split('.') }))
}
/** In the order in which the request names them. */
const orderedPaths = (paths: readonly string[], source: SourceFilter): string[] => {
  if (typeof source === 'boolean' || source.includes.length === 0) return [...paths]
  const named = source.includes.flatMap(pattern => paths.filter(compileGlobs([pattern, `${pattern}.*`])))
  return [...new Set([...named, ...paths])]
}
/** Reads the columns of a table, in their order. */
export const tableValues = (request: Pick<SearchRequest, 'parts' | 'source'>) => {
  const columns = csvColumns(request)
  const { cut } = compileSourcePaths(request.source)
  return {
    columns: columns.map(({ path }) => path),
    isMixed: request.parts.length > 1,
    read: (source: Record<string, unknown>): unknown[] =>
      columns.map(({ path, steps }) => cut(sourceValue(source, steps), path)),
  }
}
/** Hits as rows of CSV: `_id`, `_type` with several kinds, and columns chosen by `_source`. */
export const createCsv = (request: Pick<SearchRequest, 'parts' | 'source'>, { raw = false } = {}) => {
  const { columns, isMixed, read } = tableValues(request)
  const row = csvRowWriter({ raw })
  return {
    head: (out: ByteWriter) => row(['_id', ...(isMixed ? ['_type'] : []), ...columns], out),
    hit({ kind, document: { _id, _source } }: TableHit, out: ByteWriter) {
      row([_id, ...(isMixed ? [kind] : []), ...read(_source)], out)
    },
  }
}
interface TableHit {
  kind: Hit['kind']
  document: Pick<Hit['document'], '_id' | '_source'>
}
const sourceValue = (source: Record<string, unknown>, steps: readonly string[]): unknown => {
  const whole = source[steps.join('.')]
  if (whole !== undefined) return whole
  return steps.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    source,
  )
}
