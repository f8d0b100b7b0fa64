import { stop } from '../lib/errors.ts'
import { type Cells, createCells } from '../search/columns/cells.ts'
import { endOfHit } from '../search/columns/scanner.ts'
import type { ArgumentTable } from '../search/columns/table.ts'

/** Hits of a page: each as the search wrote it, unless the reader of the page does more. */
export type HitList = readonly Buffer[] | Cells

/** A page of a search in chain order. */
export interface HitsPage<Hits extends HitList = readonly Buffer[]> {
  /** Valid until the next page is read. */
  hits: Hits
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

const COMMA_CODE = 0x2c
const PAGE_END = 0x5d
const BEGIN = Buffer.from('"hits":[')

/** Reads a page of an answer. */
export type ReadPage<Hits extends HitList = readonly Buffer[]> = (answer: Buffer) => HitsPage<Hits>

/** Splits an answer without parsing hits: their numbers keep every digit. */
export const readPage: ReadPage = answer => pageWith(answer, from => splitHits(answer, from))

/** Reads hits as rows of a table. */
export const rowsReader = ({ columns, scan }: Pick<ArgumentTable, 'columns' | 'scan'>): ReadPage<Cells> => {
  const hits = createCells(columns)
  return answer =>
    pageWith(answer, from => {
      hits.clear()
      const end = scan(answer, from, hits)
      if (end < 0) throw notAnAnswer(answer)
      return { hits, end }
    })
}

const pageWith = <Hits extends HitList>(
  answer: Buffer,
  read: (from: number) => { hits: Hits; end: number },
): HitsPage<Hits> => {
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
  let at = begin
  while (answer[at] !== PAGE_END) {
    if (hits.length > 0 && answer[at++] !== COMMA_CODE) throw notAnAnswer(answer)
    const end = endOfHit(answer, at)
    if (end < 0) throw notAnAnswer(answer)
    hits.push(answer.subarray(at, end))
    at = end
  }
  return { hits, end: at }
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
