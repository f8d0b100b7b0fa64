import { refuse } from '../../lib/errors.ts'
import { overLimit } from '../../limits/index.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import { ALL_NODE, type Node } from '../ast.ts'
import {
  bracketName,
  elements,
  isJsonMap,
  type JsonNode,
  memberNode,
  members,
  unexpected,
  where,
} from '../json-node.ts'
import { asText, direction, keyOr, natural, nodeKey, optionalKey, readBodyKeys } from '../keys.ts'
import type { ElementSort, InnerHits, SearchRequest } from '../request.ts'
import type { QueryScope } from '../scope.ts'
import type { ScoredQuery } from '../score.ts'
import { HIT_OPTION_KEYS, type HitScope, parseHitOptions } from './hit-options.ts'
import { parseSort, type SortScope } from './sort.ts'

const DEFAULT_SIZE = 3
/** As in Elasticsearch (index.max_inner_result_window). */
const MAX_INNER_WINDOW = 100

const INNER_HITS_KEYS = {
  name: optionalKey(asText('a name')),
  from: keyOr(0, natural),
  size: keyOr(DEFAULT_SIZE, natural),
  sort: nodeKey,
  ignore_unmapped: nodeKey,
  ...HIT_OPTION_KEYS,
}

/**
 * Collects a clause's inner hits; `own`, those of its subquery, are shown within them.
 * Clauses without visible hits, such as `must_not`, have no list in `outer` and collect none.
 */
export const takeInnerHits = (
  place: JsonNode | undefined,
  query: Node,
  own: InnerHits[],
  how: Pick<InnerHits, 'by'> & {
    name: string
    inner: QueryScope
    outer: QueryScope
    lower: (place: JsonNode, scope: QueryScope) => ScoredQuery
  },
): void => {
  if (place === undefined) return
  const parsed = parseInnerHits(place, query, own, how)
  const { innerHits } = how.outer
  if (innerHits?.some(({ name }) => name === parsed.name))
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: [inner_hits] already contains an entry for key ${bracketName(parsed.name)}. Give each its own [name].`,
    )
  innerHits?.push(parsed)
}

const parseInnerHits = (
  place: JsonNode,
  query: Node,
  own: InnerHits[],
  { by, name, inner: scope, lower }: Omit<Parameters<typeof takeInnerHits>[3], 'outer'>,
): InnerHits => {
  const { kind, kinds, budget, nested, shape } = scope
  const keys = readBodyKeys(place, 'an object such as {"size": 3}', INNER_HITS_KEYS, [])
  if (by === 'nested' && keys.seq_no_primary_term)
    throw refuse(
      'illegal_argument_exception',
      `${where(memberNode(place, 'seq_no_primary_term'))}: elements of a list have no sequence numbers.`,
    )
  const queries = (at: JsonNode) => ({ [kind]: [lower(at, { ...scope, innerHits: undefined, marks: undefined }).node] })
  const request: SearchRequest = {
    parts: [{ kind, query, marks: [query], ...(own.length > 0 && { innerHits: own }) }],
    sort: by === 'nested' ? [] : parseSort(keys.sort, { ...scope, lower: (at, own) => lower(at, own).node }),
    ...innerPageOf(place, keys),
    trackTotal: true,
    ...parseHitOptions(keys, { kinds, limits: budget.limits, queries, shape }),
  }
  return {
    name: keys.name === undefined ? name : budget.name(keys.name, memberNode(place, 'name')),
    by,
    path: nested,
    request,
    elementSort: by === 'nested' && keys.sort ? parseElementSort(keys.sort, kind, nested!) : [],
  }
}

/** The search that `collapse` shows per group; the group's query is added to it. */
export const parseGroupHits = (
  place: JsonNode,
  kinds: readonly Kind[],
  scope: HitScope & SortScope,
): { name: string; request: SearchRequest } => {
  const { name, ...keys } = readBodyKeys(place, 'an object such as {"name": "newest", "size": 3}', INNER_HITS_KEYS, [])
  if (name === undefined) throw unexpected(place, 'an object with [name]: the answer shows the group under it')
  const request: SearchRequest = {
    parts: kinds.map(kind => ({ kind, query: ALL_NODE })),
    sort: parseSort(keys.sort, scope),
    ...innerPageOf(place, keys),
    trackTotal: true,
    ...parseHitOptions(keys, scope),
  }
  if (name.length > scope.limits.nameLength)
    throw overLimit('nameLength', scope.limits, where(memberNode(place, 'name')))
  return { name, request }
}

const innerPageOf = (
  place: JsonNode,
  { from, size }: Pick<SearchRequest, 'from' | 'size'>,
): Pick<SearchRequest, 'from' | 'size'> => {
  if (from + size <= MAX_INNER_WINDOW) return { from, size }
  const at = memberNode(place, isJsonMap(place.value) && place.value.has('size') ? 'size' : 'from')
  throw refuse(
    'illegal_argument_exception',
    `${where(at)}: Inner result window is too large, from + size must be less than or equal to: [${MAX_INNER_WINDOW}] but was [${from + size}]. Search the documents themselves for more.`,
  )
}

/** `"args.pos"`, `{"args.value.num": "desc"}` and lists of them. */
export const parseElementSort = (place: JsonNode, kind: Kind, path: string): ElementSort[] =>
  elements(place).flatMap(at =>
    typeof at.value === 'string'
      ? [elementSort(at.value, at, undefined, kind, path)]
      : members(at, 'the name of a field, or an object such as {"args.pos": "desc"}').map(([name, inner]) =>
          elementSort(name, inner, inner, kind, path),
        ),
  )

const elementSort = (name: string, at: JsonNode, how: JsonNode | undefined, kind: Kind, path: string): ElementSort => {
  const keys = how && isJsonMap(how.value) ? readBodyKeys(how, EXPECTED_ELEMENT_SORT, ELEMENT_KEYS, []) : undefined
  const order = keys?.order ?? (how && !keys ? direction(how, EXPECTED_ELEMENT_SORT) : 'asc')
  const missing = keys?.missing?.value === '_first' ? '_first' : '_last'
  if (name === '_doc') return { field: undefined, order, missing }
  const field: FieldPath | undefined = lookup(kind, name)
  if (field?.list?.name !== path || field.es === 'text')
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: elements of [${path}] are sorted by their own members, such as [${path}.pos], or by [_doc], their place.`,
    )
  return { field, order, missing }
}

const EXPECTED_ELEMENT_SORT = '"asc", "desc" or an object such as {"order": "desc"}'
const ELEMENT_KEYS = {
  order: optionalKey(place => direction(place, EXPECTED_ELEMENT_SORT)),
  missing: nodeKey,
  unmapped_type: nodeKey,
}
