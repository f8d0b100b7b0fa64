import { membersOf, parseJson, toJson } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'

/** What a text in the box asks for. */
export interface Question {
  /** The text of a query clause, of which no digit is lost; undefined for everything. */
  query: string | undefined
  /** As the reader is told. */
  as: 'everything' | 'an address' | 'a hash' | 'a block number' | 'a query in JSON' | 'a query string'
}

/** Throws an error whose message says what is wrong with the text. */
export const readQuestion = (text: string, kinds: readonly Kind[]): Question => {
  const typed = text.trim()
  if (typed === '') return { query: undefined, as: 'everything' }
  if (typed.startsWith('{')) return { query: clauseOf(typed), as: 'a query in JSON' }
  if (/^0x[0-9a-f]{40}$/i.test(typed)) return { query: toJson(ofAddress(typed, kinds)), as: 'an address' }
  if (/^0x[0-9a-f]{64}$/i.test(typed)) return { query: toJson(anyOf(HASHES, kinds, typed)), as: 'a hash' }
  if (/^\d{1,10}$/.test(typed)) return { query: toJson(anyOf(HEIGHTS, kinds, typed)), as: 'a block number' }
  return { query: toJson({ query_string: { query: typed } }), as: 'a query string' }
}

/** A body is taken for its query; what else it may have does not fit a table of hits. */
const clauseOf = (text: string): string | undefined => {
  parse(text)
  const members = membersOf(text)
  if (members.length === 0) return undefined
  if (!members.some(([name]) => name === 'query')) return text
  const other = members.find(([name], i) => name !== 'query' || i > members.findIndex(([name]) => name === 'query'))
  if (other) throw new Error(`Explore shows the hits of one query, and cannot use "${other[0]}": take it out.`)
  return members[0]![1]
}

const parse = (text: string) => {
  try {
    parseJson(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}.`)
  }
}

type Fields = Readonly<Record<Kind, readonly string[]>>

/** A field that none of the kinds has would be refused. */
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
