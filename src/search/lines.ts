import type { Hit } from '../engine/query/hits.ts'
import type { StoreSearcher, Waiting } from '../engine/query/searcher.ts'
import type { ByteWriter } from '../lib/bytes.ts'
import { refuse } from '../lib/errors.ts'
import { type Eventually, whenThere } from '../lib/scheduling/event-loop.ts'
import { DEFAULT_LIMITS, overLimit, overNow } from '../limits/index.ts'
import type { SearchRequest } from '../query/request.ts'
import type { AnswerOptions, Parts, Reply } from './answer.ts'
import { createCsv } from './csv.ts'
import type { Format } from './service.ts'

const NEWLINE = 10

/** Hits alone, one a line: as JSON, or as rows of a table. */
export const answerLines = (
  searcher: StoreSearcher,
  index: string,
  request: SearchRequest,
  options: AnswerOptions,
  out: ByteWriter,
): Eventually<Reply> => {
  const { format = 'ndjson', limits = DEFAULT_LIMITS, mayStream = true, after } = options
  checkShown(request, format)
  const asked = { ...request, trackTotal: false }
  if (request.size < 0 && !mayStream) throw overNow('streams', limits)
  const lines = format === 'ndjson' ? ndjson() : csv()
  if (request.size < 0) return whenThere(streamed(lines, out), body => ({ status: 200, format, body }))
  const fail = () => overLimit('answer', limits)
  out.clear({ most: limits.answer, fail })
  lines.head()
  return whenThere(lines.all(), () => {
    if (out.length > limits.answer) throw fail()
    return { status: 200, format, body: out.take() }
  })

  function ndjson(): Lines {
    const writing = { index, out, between: NEWLINE }
    const end = (hits: number) => {
      if (hits > 0) out.byte(NEWLINE)
    }
    return {
      head() {},
      all: () => whenThere(searcher.write(asked, options, writing), ({ hits }) => end(hits)),
      begin: () =>
        whenThere(searcher.writePages(asked, options, writing, after), found => ({
          ...{ ...found, pages: each(found.pages, end) },
        })),
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
      all: () => whenThere(searcher.search(asked, options), ({ hits }) => write(hits)),
      begin: () =>
        whenThere(searcher.pages(asked, options, after), found => ({
          ...{ ...found, pages: each(found.pages, write) },
        })),
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

type Begun = Pick<Parts, 'at' | 'goTo'> & Waiting & { pages: Iterable<unknown> }

interface Lines {
  head(): void
  all(): Eventually<void>
  begin(): Eventually<Begun>
}

function* each<T>(pages: Iterable<T>, write: (page: T) => void): Generator<T> {
  for (const page of pages) {
    write(page)
    yield page
  }
}

/** A part for each page; the one writer is used by others in between. */
const streamed = (lines: Lines, out: ByteWriter): Eventually<Parts> =>
  whenThere(lines.begin(), begun => partsOf(begun, lines, out))

const partsOf = ({ pages, at, goTo, ready, close }: Begun, lines: Lines, out: ByteWriter): Parts => {
  let ended = false
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
  return { parts: parts(), at, goTo, ready, close, ended: () => ended }
}
