import type { Searcher } from '../engine/query/execute.ts'
import type { Hit } from '../engine/query/hits.ts'
import type { ByteWriter } from '../lib/bytes.ts'
import { refuse } from '../lib/errors.ts'
import { DEFAULT_LIMITS, overLimit, overNow } from '../limits/index.ts'
import type { SearchRequest } from '../query/request.ts'
import type { AnswerOptions, Parts, Reply } from './answer.ts'
import { createCsv } from './csv.ts'
import type { Format } from './service.ts'

const NEWLINE = 10

/** Hits alone, one a line: as JSON, or as rows of a table. */
export const answerLines = (
  searcher: Searcher,
  index: string,
  request: SearchRequest,
  options: AnswerOptions,
  out: ByteWriter,
): Reply => {
  const { format = 'ndjson', limits = DEFAULT_LIMITS, mayStream = true, after } = options
  checkShown(request, format)
  const asked = { ...request, trackTotal: false }
  if (request.size < 0 && !mayStream) throw overNow('streams', limits)
  const lines = format === 'ndjson' ? ndjson() : csv()
  if (request.size < 0) return { status: 200, format, body: streamed(lines, out) }
  const fail = () => overLimit('answer', limits)
  out.clear({ most: limits.answer, fail })
  lines.head()
  lines.all()
  if (out.length > limits.answer) throw fail()
  return { status: 200, format, body: out.take() }

  function ndjson(): Lines {
    const writing = { index, out, between: NEWLINE }
    const end = (hits: number) => {
      if (hits > 0) out.byte(NEWLINE)
    }
    return {
      head() {},
      all: () => end(searcher.write(asked, options, writing).hits),
      begin() {
        const { pages, at, goTo } = searcher.writePages(asked, options, writing, after)
        return { at, goTo, pages: each(pages, end) }
      },
    }
  }

  function csv(): Lines {
    const table = createCsv(request, { raw: format === 'raw-csv' })
    const write = (hits: readonly Hit[]) => {
      for (const hit of hits) table.hit(hit, out)
    }
    return {
      head() {
        if (!after) table.head(out)
      },
      all: () => write(searcher.search(asked, options).hits),
      begin() {
        const { pages, at, goTo } = searcher.pages(asked, options, after)
        return { at, goTo, pages: each(pages, write) }
      },
    }
  }
}

/** What stands beside the hits, or in them, would be left out. */
const checkShown = (request: SearchRequest, format: Format): void => {
  const { resume, aggregations } = request
  const bad = (why: string) => refuse('illegal_argument_exception', why)
  if (resume !== undefined) throw bad('resume: only JSON has the token of the next page: ask for JSON.')
  if (aggregations) throw bad('aggs: only JSON has aggregations: ask for JSON.')
  if (format !== 'ndjson') checkTable(request)
}

/** A table has no place for what hits show beside `_source`. */
export const checkTable = ({ shown, collapse, parts }: SearchRequest): void => {
  if (!shown && !collapse?.innerHits.length && !parts.some(({ innerHits }) => innerHits)) return
  throw refuse(
    'illegal_argument_exception',
    'A table shows the fields that [_source] selects: leave fields, docvalue_fields, stored_fields, highlight, inner_hits, version, seq_no_primary_term, explain, decimals and args_by_name out, or ask for lines of JSON.',
  )
}

interface Lines {
  head(): void
  all(): void
  begin(): Pick<Parts, 'at' | 'goTo'> & { pages: Iterable<unknown> }
}

function* each<T>(pages: Iterable<T>, write: (page: T) => void): Generator<T> {
  for (const page of pages) {
    write(page)
    yield page
  }
}

/** A part for each page; the one writer is used by others in between. */
const streamed = (lines: Lines, out: ByteWriter): Parts => {
  let ended = false
  const { pages, at, goTo } = lines.begin()
  function* parts() {
    const rest = pages[Symbol.iterator]()
    let isFirst = true
    for (;;) {
      out.clear()
      if (isFirst) lines.head()
      isFirst = false
      if (rest.next().done) break
      yield out.view()
    }
    ended = true
    yield out.view()
  }
  return { parts: parts(), at, goTo, ended: () => ended }
}
