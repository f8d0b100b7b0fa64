import type { SearchPages, StoreSearcher, Writing } from '../../engine/query/searcher.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { type Eventually, whenThere } from '../../lib/scheduling/event-loop.ts'
import { DEFAULT_LIMITS, overLimit, overNow } from '../../limits/index.ts'
import { parseSearch } from '../../query/parse.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { AnswerOptions, Reply } from '../answer.ts'
import { answerParts, checkShown } from '../lines.ts'
import { type AnswerFormat, argumentColumnsOf, rowFormatOf } from '../service.ts'
import type { WideIntegers } from './argument-values.ts'
import { type Cells, createCells } from './cells.ts'
import { calledKind, type DeclaredArguments, readDeclared, samplesBody } from './declared.ts'
import { createParquetParts } from './parquet.ts'
import { createTableWriter } from './rows.ts'
import { type ArgumentTable, createArgumentTable } from './table.ts'

/** Answers hits as rows with a column for each argument. Only the thread that begins can go on. */
export const answerColumns = (
  searcher: StoreSearcher,
  index: string,
  request: SearchRequest,
  options: AnswerOptions & { format: AnswerFormat },
  out: ByteWriter,
): Eventually<Reply> => {
  const { format, limits = DEFAULT_LIMITS, mayStream = true } = options
  checkShown(request, format)
  if (request.size < 0 && !mayStream) throw overNow('streams', limits)
  const writing = { index, out }
  return whenThere(declaredIn(searcher, request, options, writing), declared => {
    const table = createArgumentTable(declared, request.source, argumentColumnsOf(format) as WideIntegers)
    const asked = { ...request, trackTotal: false, source: { includes: table.source, excludes: [] } }
    const file = createFileWriter(table, format)
    const cells = createCells(table.columns)
    const readRows = () => {
      cells.clear()
      out.text(']')
      table.scan(out.view(), 0, cells)
      out.clear()
      return cells
    }
    if (request.size >= 0) {
      const fail = () => overLimit('answer', limits)
      out.clear({ most: limits.answer, fail })
      return whenThere(searcher.write(asked, options, { ...writing, rows: table.rows }), () => {
        const rows = readRows()
        out.clear({ most: limits.answer, fail })
        file.begin(out)
        file.rows(rows, out)
        file.end(out)
        if (out.length > limits.answer) throw fail()
        return { status: 200, format, body: out.take() }
      })
    }
    return whenThere(searcher.writePages(asked, options, { ...writing, rows: table.rows }), found => {
      const { goTo: _, ...pages } = { ...found, at: () => undefined, pages: rowPages(found, readRows, file, out) }
      // What was written before a page of hits would be read with it.
      const body = answerParts(pages, out, {
        end(isFirst) {
          if (isFirst) file.begin(out)
          file.end(out)
        },
      })
      return { status: 200, format, body }
    })
  })
}

/** Replaces the hits of each page by their rows. */
function* rowPages(
  { pages }: SearchPages<number>,
  readRows: () => Cells,
  file: FileWriter,
  out: ByteWriter,
): Generator<number> {
  let isFirst = true
  for (const page of pages) {
    const rows = readRows()
    if (isFirst) file.begin(out)
    isFirst = false
    file.rows(rows, out)
    yield page
  }
}

const declaredIn = (
  searcher: StoreSearcher,
  request: SearchRequest,
  options: AnswerOptions,
  writing: Writing,
): Eventually<DeclaredArguments> => {
  const kind = calledKind(request.parts.map(part => part.kind).join(','))
  const { limits, now = Date.now() } = options
  const samples = parseSearch(JSON.stringify(samplesBody(kind)), [kind], now, { limits, index: writing.index })
  const asked = { ...samples, parts: request.parts, within: request.within, aggregated: undefined }
  writing.out.clear()
  return whenThere(searcher.write(asked, options, writing), ({ aggregations }) => {
    writing.out.clear()
    return readDeclared(kind, `{"aggregations":${aggregations}}`)
  })
}

interface FileWriter {
  begin(out: ByteWriter): void
  rows(rows: Cells, out: ByteWriter): void
  end(out: ByteWriter): void
}

const createFileWriter = ({ columns }: ArgumentTable, format: AnswerFormat): FileWriter => {
  const form = rowFormatOf(format)
  if (form === 'parquet') return createParquetWriter(columns)
  const { head, rows } = createTableWriter(columns, form)
  return { begin: head, rows, end() {} }
}

const createParquetWriter = (columns: ArgumentTable['columns']): FileWriter => {
  const parts = createParquetParts(columns)
  const notes: unknown[] = []
  let at = 0
  const write = (out: ByteWriter) => {
    const { part, note } = parts.take(at)
    out.bytes(part)
    notes.push(note)
    at += part.length
  }
  return {
    begin() {},
    rows(rows, out) {
      parts.cells.append(rows)
      if (parts.isFull()) write(out)
    },
    end(out) {
      if (parts.cells.length > 0 || at === 0) write(out)
      out.bytes(parts.tail(notes, at))
    },
  }
}
