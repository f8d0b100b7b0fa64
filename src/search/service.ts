import type { SimilarRequest } from '../engine/query/similar-contracts.ts'
import type { RowShape } from '../engine/show/row.ts'
import type { Kind } from '../mapping/index.ts'
import type { Parameters } from '../query/parameters.ts'
import type { SourceFilter } from '../query/request.ts'
import type { WideIntegers } from './columns/argument-values.ts'

/**
 * Interface of the search room for the HTTP room and the command line. Bodies are bytes: the event
 * loop neither parses large queries nor builds large answers.
 */
export interface SearchService {
  /**
   * Searchable networks, as `technology/blockchain/network`; refreshed if `wanted` is unknown. The
   * same list until it is read again.
   */
  networks(wanted?: string): readonly string[]
  search(request: NetworkCaller & SearchParams): Promise<SearchAnswer>
  cursors: CursorService
  /** Renders a template; `isJson`: a result that is no JSON is refused. */
  render(request: Omit<NetworkCaller, 'network'> & { body: Uint8Array; isJson?: boolean }): Promise<RenderedTemplate>
  /** Names of the network that somebody who typed `q` may mean. */
  suggest(request: NetworkCaller & { q: string; size: number }): Promise<SearchAnswer>
  /** Contracts, or entities at them, whose code has most in common with one contract's. */
  similar(request: NetworkCaller & SimilarRequest): Promise<SearchAnswer>
  get(request: NetworkCaller & { entity: string; id: string } & DocumentOptions): Promise<SearchAnswer>
  /** Several documents at once, in their order. */
  documents(
    request: NetworkCaller & { wanted: readonly DocumentRef[]; filterPath?: readonly string[] | undefined },
  ): Promise<SearchAnswer>
  /** Number of documents of each kind, and their bytes. */
  holdings(request: NetworkCaller): Promise<Holdings>
  /** The coverage of partial blocks, for a header of answers; undefined without such blocks. */
  coverage?(network: string): string | undefined
}

export interface RenderedTemplate {
  body: Uint8Array
  /** Whether the search explains scores. */
  explain: boolean
}

export interface SearchParams {
  /** Comma-joined kinds; without any, nothing is found. */
  entities: string
  body: Uint8Array | undefined
  /** Parameters of the URL, which win over the body. */
  parameters?: Parameters | undefined
  /** `NATIVE_DIALECT` by default. */
  dialect?: Dialect | undefined
  /** The content of the answer: hits by default. */
  form?: AnswerForm | undefined
  /** Whether the path names the target, as by default; a point in time contains its own. */
  isNamed?: boolean | undefined
  /** Keep-alive of the scroll that the search opens, as it was written. */
  scroll?: string | undefined
  /** Format of hits: JSON by default. */
  format?: AnswerFormat | undefined
}

/**
 * `count`: number of matches. `validity`: whether the query is valid; with `why`, also the reason.
 * `match`: whether and why one document matches; with `source`, also the document.
 */
export type AnswerForm =
  | { tell: 'count' }
  | { tell: 'validity'; why: boolean }
  | { tell: 'match'; kind: Kind; id: string; source?: SourceFilter | undefined }

export interface DocumentOptions {
  /** All of it by default. */
  source?: SourceFilter | undefined
  /** Whether to return `_source` alone. */
  bare?: boolean | undefined
}

/** A requested document, or the JSON that replaces it. */
export type DocumentRef = { kind: Kind; id: string; source: SourceFilter } | { instead: string }

export interface Holdings {
  counts: Record<Kind, number>
  bytes: number
  /** Bytes of the disk of the file; undefined for documents in a cluster. */
  disk?: { free: number; size: number }
}

/** `raw-csv` does not escape texts that a spreadsheet would run as formulas. */
export type RowFormat = 'ndjson' | 'csv' | 'raw-csv' | 'parquet'

/** `csv+text`: each argument in a column of its own, and large integers as text. */
export type AnswerFormat = Exclude<RowFormat, 'parquet'> | `${RowFormat}+${WideIntegers}`

export const rowFormatOf = (format: AnswerFormat): RowFormat => format.split('+')[0] as RowFormat
/** How columns of arguments show large integers; undefined without such columns. */
export const argumentColumnsOf = (format: AnswerFormat | undefined): WideIntegers | undefined =>
  format?.split('+')[1] as WideIntegers | undefined

/** Scrolls and points in time. */
export interface CursorService {
  /** The next page. `scroll`: its keep-alive from now on, as it was written. */
  scroll(
    request: NetworkCaller & { id: string; scroll: string | undefined; dialect?: Dialect | undefined },
  ): Promise<SearchAnswer>
  openPit(request: NetworkCaller & PitOpening): Promise<OpenedPit>
  /** Closes cursors by their ids, or all of the account's: the ids of those that were open. */
  close(request: Omit<NetworkCaller, 'signal'> & { kind: 'scroll' | 'pit'; ids: readonly string[] | 'all' }): string[]
  pits(request: Omit<NetworkCaller, 'signal'>): OpenedPit[]
}

export interface PitOpening {
  entities: string
  keepAlive: string
  dialect: 'elasticsearch' | 'opensearch'
}

export interface OpenedPit {
  id: string
  /** Milliseconds since 1970. */
  opened: number
  keepAliveMs: number
}

export interface NetworkCaller {
  network: string
  /** Id of the account that asks: threads are shared out by it. */
  account: number
  /** Aborts when the caller no longer waits. */
  signal: AbortSignal
}

/** Account of the program's own requests and of the command line. */
export const NO_ACCOUNT = 0

/** An HTTP answer: JSON text, whole or as a stream of chunks in constant memory. */
export interface SearchAnswer {
  status: number
  body: Uint8Array | ReadableStream<Uint8Array>
  /** The same as a stream without copies; then `body` must not be read. */
  pieces?: Pieces | undefined
  /** Absent for JSON. */
  format?: AnswerFormat | undefined
}

/** A long answer, piece by piece. */
export interface Pieces {
  /** The bytes are valid until the next call; undefined after the last piece. */
  next(): Promise<Uint8Array | undefined>
  /** Discards the rest. */
  cancel(reason?: unknown): void
  /** Aborts when the answer is given up before its end. */
  signal: AbortSignal
}

/** Answer format that the client expects. */
export interface Dialect {
  /** `integer`: a number, as before version 7. `object`: `{value, relation}`, if wanted. */
  totals: 'integer' | 'object'
  /** Whether the names of aggregations are written with their types: `avg#price`. */
  typedKeys: boolean
  /** Whether hits have `_parent`; default true. */
  parents?: boolean | undefined
  /** Of plain hits as rows of a table, from stores that write them. */
  rows?: RowShape | undefined
  /** Parts of the answer to write; all by default. */
  filterPath?: readonly string[] | undefined
  /** Whether patterns address the answer as one of the `responses` of several searches. */
  isItem?: boolean | undefined
}
/** Dialect of `…/search/`. */
export const NATIVE_DIALECT: Dialect = { totals: 'integer', typedKeys: false, parents: true }
/** One of several answers in the list that it stands in. */
export const wrapResponse = (json: Uint8Array): Uint8Array => Buffer.concat([RESPONSES_START, json, RESPONSES_END])
/** The answer without that list; undefined where nothing is left. */
export const unwrapResponse = (json: Uint8Array): Uint8Array | undefined =>
  json.length > RESPONSES_START.length ? json.subarray(RESPONSES_START.length, -RESPONSES_END.length) : undefined
/** `{"took": …}` with a member more. */
export const withStatus = (json: Uint8Array, status: number): Uint8Array =>
  Buffer.concat([json.subarray(0, -1), Buffer.from(`,"status":${status}}`)])
const RESPONSES_START = Buffer.from('{"responses":[')
const RESPONSES_END = Buffer.from(']}')
