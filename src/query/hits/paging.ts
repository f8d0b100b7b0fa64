import { refuse } from '../../lib/errors.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { QueryValue } from '../ast.ts'
import { type JsonNode, toList, toScalar, toText, toWhole, unexpected, where } from '../json-node.ts'
import { nodeKey, readBodyKeys } from '../keys.ts'
import { readDouble } from '../numbers.ts'
import type { After, BlockSlice, ChainPlace, Collapse, SearchRequest, SortSpec } from '../request.ts'
import type { SortScope } from './sort.ts'
import { readScore, readSortValue, sortDateWriter, standInOf, standsForMissing } from './sort-value.ts'

/** Keys of pagination: those that position a page, and those that exclude them. */
type PagingKeys = {
  readonly [key in 'search_after' | 'slice' | 'resume' | 'collapse' | 'aggs' | 'aggregations']?: JsonNode | undefined
}

type ParsedPaging = Pick<SearchRequest, 'after' | 'slice' | 'tiebreak' | 'resume'>

interface PagingScope extends SortScope {
  sort: readonly SortSpec[]
  from: number
  size: number
  collapse: Collapse | undefined
  /** For an open scroll or point in time: whether hits show an extra sort value. */
  cursor?: SearchRequest['tiebreak']
}

export const parsePaging = (keys: PagingKeys, scope: PagingScope): ParsedPaging => {
  const slice = keys.slice && parseSlice(keys.slice, scope)
  const after = keys.search_after && parseAfter(keys.search_after, scope)
  const resume = keys.resume && parseResume(keys, keys.resume, scope)
  return {
    ...(resume !== undefined && { resume }),
    ...(after && { after }),
    ...(slice && { slice }),
    ...(scope.cursor && { tiebreak: scope.cursor }),
  }
}

const parseResume = (keys: PagingKeys, place: JsonNode, { sort, from, size, cursor }: PagingScope): string => {
  const others = [
    ...(sort.length > 0 ? ['sort'] : []),
    ...(from > 0 ? ['from'] : []),
    ...(['search_after', 'collapse', 'aggs', 'aggregations'] as const).filter(name => keys[name]),
    ...(cursor ? ['scroll or pit'] : []),
    ...(size < 0 ? ['"size": -1'] : []),
  ]
  if (others.length > 0)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: hits after a token come in chain order, page by page: leave out ${others.join(', ')}.`,
    )
  return toText(place, '"start", "now", or the token of the last answer')
}

const MOST_SLICES = 1024

const ofNumber = { ...nodeKey, schema: { type: 'integer' } }
export const SLICE_KEYS = { id: ofNumber, max: ofNumber, field: nodeKey }

const parseSlice = (place: JsonNode, { cursor }: PagingScope): BlockSlice => {
  const keys = readBodyKeys(place, 'an object such as {"id": 0, "max": 2}', SLICE_KEYS, [])
  if (cursor === undefined)
    throw refuse(
      'search_exception',
      `${where(place)}: [slice] can only be used with [scroll] or [point-in-time] requests.`,
    )
  if (keys.field !== undefined && toScalar(keys.field, 'the name of a field') !== '_id')
    throw refuse(
      'illegal_argument_exception',
      `${where(keys.field)}: slices are made of blocks, not of the values of a field: leave out [field].`,
    )
  if (keys.id === undefined || keys.max === undefined) throw unexpected(place, 'an object with [id] and [max]')
  const id = toWhole(keys.id, 'the number of the slice, from 0 on')
  const max = toWhole(keys.max, 'how many slices there are')
  const bad = (at: JsonNode, why: string) => refuse('illegal_argument_exception', `${where(at)}: ${why}.`)
  if (id < 0) throw bad(keys.id, 'id must be greater than or equal to 0')
  if (max <= 1) throw bad(keys.max, 'max must be greater than 1')
  if (max <= id) throw bad(keys.max, 'max must be greater than id')
  if (max > MOST_SLICES)
    throw bad(keys.max, `The number of slices [${max}] is too large. It must be less than [${MOST_SLICES}]`)
  return { id, max }
}

const parseAfter = (place: JsonNode, scope: PagingScope): After => {
  const { sort, from, cursor, kinds, collapse } = scope
  const bad = (why: string) => refuse('illegal_argument_exception', `${where(place)}: ${why}`)
  const values = toList(place, 'a list: what the last hit has in its [sort]')
  if (values.length === 0) throw bad('Values must contains at least one value.')
  if (sort.length === 0) throw bad('Sort must contain at least one field.')
  if (from > 0) throw bad('`from` parameter must be set to 0 when `search_after` is used.')
  const more = hasImplicitKey(sort, cursor)
  if (values.length !== sort.length && !(more && values.length === sort.length + 1))
    throw bad(`search_after has ${values.length} value(s) but sort has ${sort.length}.`)
  const last = values.length > sort.length ? values.at(-1) : undefined
  const placeAt = (at: JsonNode) => placeOfNumber(readPlace(at), kinds)
  const implicit = last && placeAt(last)
  const found = sort.map((one, i) => readAfterValue(one, values[i]!, scope))
  const explicit = sort.findIndex(({ by }) => by === '_shard_doc')
  const named = explicit < 0 ? undefined : placeAt(values[explicit]!)
  if (kinds.length > 1 && explicit < 0 && !implicit && sort.some(({ by }) => by === '_doc'))
    throw bad(
      'documents of several entities share places in the chain, so [_doc] alone does not say where to continue. Sort by [_shard_doc].',
    )
  if (!collapse) return { values: found, place: implicit ?? named }
  if (!isSortedByGroup(sort, collapse))
    throw bad(
      'Cannot use [collapse] in conjunction with [search_after] unless the search is sorted on the same field. Multiple sort fields are not allowed.',
    )
  // All of the group is passed.
  return { values: found, place: undefined }
}

const isSortedByGroup = ([first, ...others]: readonly SortSpec[], { fields }: Collapse): boolean =>
  others.length === 0 && KINDS.every(kind => first?.fields[kind]?.path === fields[kind]?.path)

/** Whether hits show the extra sort value of a point in time, as in Elasticsearch. */
export const hasImplicitKey = (sort: readonly SortSpec[], tiebreak: SearchRequest['tiebreak']): boolean =>
  tiebreak === 'shown' && sort.length > 0 && !sort.some(({ by }) => by === '_shard_doc')

const readAfterValue = (sort: SortSpec, place: JsonNode, scope: PagingScope): QueryValue | null => {
  switch (sort.by) {
    case '_doc':
    case '_shard_doc':
      return readPlace(place)
    case '_score':
      return readScore(place)
    case '_id':
      return place.value === null ? null : toScalar(place, 'an id')
    case 'field': {
      const [field] = Object.values(sort.fields)
      if (!field || isShownForMissing(place.value, sort)) return null
      const value = readSortValue(place, { field, format: sort.format, as: sort.as }, scope)
      return value === null || standsForMissing(value, sort) ? null : value
    }
  }
}

/** The format may write a stand-in that cannot be parsed. */
const isShownForMissing = (value: unknown, sort: SortSpec): boolean => {
  const standIn = standInOf(sort)
  if (typeof value !== 'string' || sort.format === undefined || typeof standIn !== 'bigint') return false
  return value === sortDateWriter(sort.format, sort.as)(standIn)
}

const readPlace = (place: JsonNode): bigint => {
  const text = toScalar(place, 'a place in the order of the chain')
  if (/^-?\d{1,20}$/.test(text)) return BigInt(text)
  throw unexpected(place, 'a place in the order of the chain, as the [sort] of the last hit has it')
}

/** The number that `_shard_doc` shows: with one kind its position in the chain. */
export const numberOfPlace = ({ kind, position }: ChainPlace, kinds: readonly Kind[]): bigint =>
  BigInt(position) * BigInt(kinds.length) + BigInt(kinds.indexOf(kind))

export const placeOfNumber = (number: bigint, kinds: readonly Kind[]): ChainPlace => {
  const count = BigInt(kinds.length)
  const kind = ((number % count) + count) % count
  const position = Number((number - kind) / count)
  return { kind: kinds[Number(kind)]!, position: Math.max(-1, Math.min(position, Number.MAX_SAFE_INTEGER)) }
}

/** Options that exclude `terminate_after`. */
interface Beside {
  size: number
  cursor: unknown
  collapse: Collapse | undefined
  given: { readonly [key in 'slice' | 'resume' | 'post_filter' | 'aggs' | 'aggregations']?: JsonNode | undefined }
}

/** Maximum counted matches per kind; undefined for all. Elasticsearch cuts fractions off, too. */
export const parseTerminateAfter = (place: JsonNode, { size, cursor, collapse, given }: Beside): number | undefined => {
  toScalar(place, 'the number of matches after which the search ends')
  const most = Math.trunc(readDouble(place))
  if (most < 0) throw refuse('illegal_argument_exception', `${where(place)}: terminateAfter must be > 0.`)
  if (most === 0) return undefined
  const others = [
    ...(size < 0 ? ['"size": -1'] : []),
    ...(cursor === undefined ? [] : ['scroll or pit']),
    ...(['slice', 'resume'] as const).filter(name => given[name]),
    ...(collapse && collapse.innerHits.length > 0 ? ['inner_hits of collapse'] : []),
    ...(given.post_filter && (given.aggs ?? given.aggregations) ? ['post_filter with aggregations'] : []),
  ]
  if (others.length === 0) return most
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [terminate_after] is not supported beside ${others.join(', ')}: leave one of the two out.`,
  )
}
