import { parseJson, stringifyJson } from '../../api/json.ts'
import type { Suggestion } from '../../api/suggest.ts'
import type { Kind } from '../../api/wire.ts'
import { readTree } from './tree.ts'

export interface BoxQuestion {
  /** Clause text with all digits; undefined matches everything. */
  query: string | undefined
  /** How the text was understood. */
  as: '' | 'an address' | 'a hash' | 'a block number' | 'a query in JSON' | 'a query string'
}

/** Throws if the text is invalid. */
export const readQuestion = (text: string, kinds: readonly Kind[]): BoxQuestion => {
  const typed = text.trim()
  if (typed === '') return { query: undefined, as: '' }
  if (typed.startsWith('{')) return { query: queryClause(typed), as: 'a query in JSON' }
  if (/^0x[0-9a-f]{40}$/i.test(typed)) return { query: stringifyJson(ofAddress(typed, kinds)), as: 'an address' }
  if (/^0x[0-9a-f]{64}$/i.test(typed)) return { query: stringifyJson(anyOf(HASHES, kinds, typed)), as: 'a hash' }
  if (/^\d{1,10}$/.test(typed)) return { query: stringifyJson(anyOf(HEIGHTS, kinds, typed)), as: 'a block number' }
  return { query: stringifyJson({ query_string: { query: typed } }), as: 'a query string' }
}

/** Uses only the query of a body; the rest does not fit a table. */
const queryClause = (text: string): string | undefined => {
  parse(text)
  const members = readTree(text).members ?? []
  if (members.length === 0) return undefined
  const at = members.findIndex(({ name }) => name === 'query')
  if (at < 0) return text
  const other = members.find((_, i) => i !== at)
  if (other) throw new Error(`Explore shows the hits of one query, and cannot use "${other.name}": take it out.`)
  const { from, to } = members[at]!.value
  return text.slice(from, to)
}

const parse = (text: string) => {
  try {
    parseJson(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}.`)
  }
}

type Fields = Readonly<Record<Kind, readonly string[]>>

/** Unknown fields would be refused. */
const anyOf = (fields: Fields, kinds: readonly Kind[], value: string) => {
  const names = new Set(kinds.flatMap(kind => fields[kind]))
  return { bool: { should: [...names].map(name => ({ term: { [name]: value } })), minimum_should_match: 1 } }
}

const [OF_BLOCK, OF_TX] = [['blockHash'], ['blockHash', 'transactionHash']]

const HEIGHTS: Fields = {
  ...{ block: ['number.num'], tx: ['blockNumber.num'], event: ['blockNumber.num'], log: ['blockNumber.num'] },
  ...{ call: ['blockNumber.num'], trace: ['blockNumber.num'], contract: ['blockNumber.num'], token: ['firstSeen.num'] },
}

const HASHES: Fields = {
  ...{ block: ['hash'], tx: ['hash', ...OF_BLOCK], event: OF_TX, log: [...OF_TX, 'topics'] },
  ...{ call: OF_TX, trace: OF_TX, contract: [...OF_TX, 'codeHash'], token: OF_BLOCK },
}

const ADDRESSES: Fields = {
  block: ['miner', 'withdrawals.address'],
  tx: ['from', 'to', 'contractAddress'],
  event: ['address'],
  log: ['address'],
  call: ['from', 'to'],
  trace: ['from', 'to', 'address', 'refundAddress', 'author'].map(name => `action.${name}`).concat('result.address'),
  contract: ['address', 'creator', 'origin', 'implementation'],
  token: ['address'],
}

const ofAddress = (address: string, kinds: readonly Kind[]) => {
  const { bool } = anyOf(ADDRESSES, kinds, address)
  const hasArguments = kinds.includes('event') || kinds.includes('call')
  const inArguments = { nested: { path: 'args', query: { term: { 'args.value.hex': address } } } }
  return { bool: { ...bool, should: [...bool.should, ...(hasArguments ? [inArguments] : [])] } }
}

/** Bodies are built as text, so that the query stays as typed. */
export interface ExploreQuery {
  query: string | undefined
  from?: number | undefined
  to?: number | undefined
  sort?: Sort | undefined
  /** Fields of extra columns. */
  shown?: readonly string[]
  /** Field that splits the counts over time. */
  split?: string | undefined
}

/** `field`: a sort path. */
export interface Sort {
  field: string
  order: 'asc' | 'desc'
}

export const EXPLORE_PAGE_SIZE = 100

/** Chain order, unique across kinds. */
export const CHAIN_ORDER = '_shard_doc'

/** First page with counts over time. */
export const firstBody = (asked: ExploreQuery): string => body(asked, [`"aggs":${JSON.stringify(countsBy(asked))}`])

export const nextBody = (asked: ExploreQuery, after: string): string => body(asked, [`"search_after":${after}`])

export const resumeBody = (asked: ExploreQuery, token: string): string =>
  objectOf([
    `"resume":${JSON.stringify(token)}`,
    `"size":${NEW}`,
    `"_source":${sourceFields(asked)}`,
    `"query":${fullQuery(asked)}`,
  ])

/** New hits per request. */
export const NEW = 200

/** All hits, with all fields or those of the columns. */
export const allBody = (asked: ExploreQuery, fields: readonly string[] | undefined): string =>
  objectOf([
    '"size":-1',
    ...(asked.sort ? [`"sort":${sortOf(asked)}`] : []),
    ...(fields ? [`"_source":${JSON.stringify(fields)}`] : []),
    `"query":${fullQuery(asked)}`,
  ])

/** The same request for programs. */
export const plainBody = (asked: ExploreQuery): string =>
  objectOf([`"size":${EXPLORE_PAGE_SIZE}`, `"sort":${sortOf(asked)}`, `"query":${fullQuery(asked)}`])

const body = (asked: ExploreQuery, more: readonly string[]): string =>
  objectOf([
    `"size":${EXPLORE_PAGE_SIZE}`,
    `"sort":${sortOf(asked)}`,
    `"_source":${sourceFields(asked)}`,
    `"query":${fullQuery(asked)}`,
    ...more,
  ])

const objectOf = (members: readonly string[]): string => `{${members.join()}}`

const sortOf = ({ sort }: ExploreQuery): string =>
  JSON.stringify([
    ...(sort && sort.field !== CHAIN_ORDER ? [{ [sort.field]: { order: sort.order, missing: '_last' } }] : []),
    { [CHAIN_ORDER]: sort?.field === CHAIN_ORDER ? sort.order : 'desc' },
  ])

const fullQuery = ({ query, from, to }: ExploreQuery): string => {
  const own = query ?? '{"match_all":{}}'
  if (from === undefined && to === undefined) return own
  const range = JSON.stringify({ range: { timestamp: { gte: from, lt: to, format: 'epoch_millis' } } })
  return `{"bool":{"must":[${own}],"filter":[${range}]}}`
}

const countsBy = ({ split }: ExploreQuery) => {
  const names = { split: { terms: { field: split, size: 20 } } }
  const counts = { auto_date_histogram: { field: 'timestamp', buckets: 80 } }
  return split === undefined ? { counts } : { ...names, counts: { ...counts, aggs: names } }
}

const sourceFields = ({ shown = [] }: ExploreQuery): string => JSON.stringify([...ROW_FIELDS, ...shown])

/** Fields of rows; an opened hit is read whole. */
const ROW_FIELDS = [
  ...['timestamp', 'number', 'blockNumber', 'firstSeen', 'hash', 'transactionHash', 'address', 'from', 'to'],
  ...['action.from', 'action.to', 'action.author', 'creator', 'str', 'method', 'event', 'name', 'symbol', 'standard'],
  ...['value', 'action.value', 'status', 'error', 'reverted', 'type', 'gasUsed', 'miner', 'signature', 'transactions'],
  'args',
]

/** The word before the cursor. */
export const wordBefore = (text: string, caret: number): { from: number; word: string } => {
  const [word] = /[^\s():"{}[\]]*$/.exec(text.slice(0, caret))!
  return { from: caret - word.length, word }
}

/** Applies a suggestion: new text, cursor, and a required kind. */
export const applySuggestion = (
  text: string,
  caret: number,
  { text: chosen, kind, field, entity, address }: Suggestion,
) => {
  const { from, word } = wordBefore(text, caret)
  const isAlone = text.trim() === word
  const isValue = text[from - 1] === ':'
  const quoted = `"${chosen.replace(/["\\]/g, '\\$&')}"`
  const insert =
    kind === 'field'
      ? `${chosen}:`
      : address !== undefined
        ? isAlone || isValue
          ? address
          : `address:${address}`
        : isValue
          ? quoted
          : `${field}:${quoted}`
  const next = text.slice(0, from) + insert + text.slice(caret)
  const needs = entity.split(',') as Kind[]
  return { text: next, caret: from + insert.length, needs: address === undefined ? needs : [] }
}

export type FileForm = 'csv' | 'ndjson' | 'parquet'

const [QUOTE, NEWLINE] = [34, 10]

/** Counts hits: lines outside quotes, without the header; none in Parquet, which has no lines. */
export const countLines = (form: FileForm) => {
  let lines = form === 'csv' ? -1 : 0
  let quoted = false
  return {
    add(chunk: Uint8Array): number {
      if (form === 'parquet') return 0
      for (const byte of chunk) {
        if (byte === QUOTE && form === 'csv') quoted = !quoted
        else if (byte === NEWLINE && !quoted) lines++
      }
      return Math.max(lines, 0)
    },
    lines: () => Math.max(lines, 0),
  }
}
