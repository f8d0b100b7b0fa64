import { membersOf, parseJson, toJson } from '../../api/json.ts'

/** What a text in the box asks for. */
export interface Question {
  /** The text of a query clause, of which no digit is lost; undefined for everything. */
  query: string | undefined
  /** As the reader is told. */
  as: 'everything' | 'an address' | 'a hash' | 'a block number' | 'a query in JSON' | 'a query string'
}

/** Throws an error whose message says what is wrong with the text. */
export const readQuestion = (text: string): Question => {
  const typed = text.trim()
  if (typed === '') return { query: undefined, as: 'everything' }
  if (typed.startsWith('{')) return { query: clauseOf(typed), as: 'a query in JSON' }
  if (/^0x[0-9a-f]{40}$/i.test(typed)) return { query: toJson(ofAddress(typed)), as: 'an address' }
  if (/^0x[0-9a-f]{64}$/i.test(typed)) return { query: toJson(ofHash(typed)), as: 'a hash' }
  if (/^\d{1,10}$/.test(typed)) return { query: toJson(anyOf(HEIGHTS, typed)), as: 'a block number' }
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

const anyOf = (fields: readonly string[], value: string) => ({
  bool: { should: fields.map(field => ({ term: { [field]: value } })), minimum_should_match: 1 },
})

const HEIGHTS = ['number.num', 'blockNumber.num', 'firstSeen.num']

const ofHash = (hash: string) => anyOf(['hash', 'blockHash', 'transactionHash', 'topics', 'codeHash'], hash)

const ADDRESSES = [
  ...['address', 'from', 'to', 'contractAddress', 'miner', 'creator', 'origin', 'implementation'],
  ...['action.from', 'action.to', 'action.address', 'action.refundAddress', 'action.author', 'result.address'],
]

const ofAddress = (address: string) => {
  const { bool } = anyOf(ADDRESSES, address)
  const inArguments = {
    nested: { path: 'args', query: { term: { 'args.value.hex': address } }, ignore_unmapped: true },
  }
  return { bool: { ...bool, should: [...bool.should, inArguments] } }
}
