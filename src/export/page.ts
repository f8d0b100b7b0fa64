import { stop } from '../lib/errors.ts'
import type { TableCell } from '../search/columns/argument-values.ts'
import type { ArgumentTable, TableDocument } from '../search/columns/table.ts'

/** A page of a search in chain order. */
export interface HitsPage<Hit = Buffer> {
  /** Each as the search wrote it, unless the reader of the page does more. */
  hits: readonly Hit[]
  /** Cursor after the last hit. */
  token: string
  /** First reorganised block; hits of it or above on earlier pages are invalid. */
  reorganisedFrom: number | undefined
  /** Number of hits from this page on, if requested. */
  total: number
}

interface Envelope {
  timed_out?: boolean
  hits: { total?: number }
  resume: { token: string; reorganised_from?: number }
}

const QUOTE = 0x22
const BACKSLASH_CODE = 0x5c
const OPEN = 0x7b
const CLOSE_CODE = 0x7d
const PAGE_END = 0x5d
const BEGIN = Buffer.from('"hits":[')

/** Reads a page of an answer. */
export type ReadPage<Hit = Buffer> = (answer: Buffer) => HitsPage<Hit>

/** Splits an answer without parsing hits: their numbers keep every digit. */
export const readPage: ReadPage = answer => pageWith(answer, from => splitHits(answer, from))

/** Reads hits as rows of a table. */
export const rowsReader =
  ({ scan, read }: Pick<ArgumentTable, 'scan' | 'read'>): ReadPage<TableCell[]> =>
  answer =>
    pageWith(answer, from => {
      const scanned = scan(answer, from)
      if (scanned) return { hits: scanned.rows, end: scanned.end }
      const { hits, end } = splitHits(answer, from)
      return { hits: hits.map(hit => read(JSON.parse(hit.toString()) as TableDocument)), end }
    })

const pageWith = <Hit>(answer: Buffer, read: (from: number) => { hits: Hit[]; end: number }): HitsPage<Hit> => {
  const begin = answer.indexOf(BEGIN) + BEGIN.length
  if (begin < BEGIN.length) throw notAnAnswer(answer)
  const { hits, end } = read(begin)
  const envelope = parsePage(Buffer.concat([answer.subarray(0, begin), answer.subarray(end)]))
  if (typeof envelope.resume?.token !== 'string') throw notAnAnswer(answer)
  return {
    hits,
    token: envelope.resume.token,
    reorganisedFrom: envelope.resume.reorganised_from,
    total: envelope.hits.total ?? 0,
  }
}

/** The hits of an answer without further pages. */
export const readHits = (answer: Buffer): Buffer[] => {
  const begin = answer.indexOf(BEGIN) + BEGIN.length
  if (begin < BEGIN.length) throw notAnAnswer(answer)
  return splitHits(answer, begin).hits
}

const splitHits = (answer: Buffer, begin: number) => {
  const hits: Buffer[] = []
  let depth = 0
  let start = begin
  for (let at = begin; at < answer.length; at++) {
    switch (answer[at]) {
      case QUOTE:
        at = stringEnd(answer, at)
        break
      case OPEN:
        if (depth++ === 0) start = at
        break
      case CLOSE_CODE:
        if (--depth === 0) hits.push(answer.subarray(start, at + 1))
        break
      case PAGE_END:
        if (depth === 0) return { hits, end: at }
    }
  }
  throw notAnAnswer(answer)
}

/** Position of the quotation mark that ends the string starting at `at`. */
const stringEnd = (answer: Buffer, at: number): number => {
  for (let end = answer.indexOf(QUOTE, at + 1); end > 0; end = answer.indexOf(QUOTE, end + 1)) {
    let first = end
    while (answer[first - 1] === BACKSLASH_CODE) first--
    if ((end - first) % 2 === 0) return end
  }
  throw notAnAnswer(answer)
}

const parsePage = (json: Buffer): Envelope => {
  try {
    return JSON.parse(json.toString()) as Envelope
  } catch (error) {
    throw notAnAnswer(json, error)
  }
}

const notAnAnswer = (answer: Buffer, cause?: unknown) =>
  stop(
    'not_an_answer',
    `the search did not answer with a page of hits: ${JSON.stringify(answer.subarray(0, 200).toString())}. Check that --server names a Chainsieve of this version`,
    cause,
  )
