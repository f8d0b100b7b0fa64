import { refuse } from '../lib/errors.ts'
import { compileGlob, nearestName } from '../lib/name-matching.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import { type FieldPath, type Kind, lookup, queryPaths } from '../mapping/index.ts'
import { ALL_NODE, NONE_NODE, type Node } from './ast.ts'
import { bracketName, type JsonNode, toScalar, where } from './json-node.ts'
import type { InnerHits, SourceShape } from './request.ts'
import { SCORED_NONE, type ScoredQuery } from './score.ts'
import { idsNode, orNode } from './simplify.ts'

export interface QueryScope {
  kind: Kind
  /** All kinds of the search. A field that only some have matches nothing in the others. */
  kinds: readonly Kind[]
  /** Milliseconds since 1970, one moment for the whole request. */
  now: () => number
  /** Path of the surrounding `nested` clause. */
  nested: string | undefined
  budget: QueryBudget
  /** Collects inner hits; undefined if none are shown. */
  innerHits?: InnerHits[] | undefined
  /** Collects conditions that may mark words of hits; undefined if nothing is marked. */
  marks?: Node[] | undefined
  /** The network's name as it stands in `_index`. */
  index?: string | undefined
  /** Of `_source` in hits. */
  shape?: SourceShape | undefined
  /** Collects names of clauses; undefined if they are not needed. */
  collected?: CollectedNames | undefined
}

/**
 * The condition that `make` returns for the field. As in Elasticsearch, only a `nested` clause sees
 * members of its list, and it sees nothing else; conditions on invisible fields match nothing.
 */
export const onField = (
  name: string,
  place: JsonNode,
  scope: QueryScope,
  make: (field: FieldPath) => ScoredQuery,
): ScoredQuery => {
  const field = lookup(scope.kind, name)
  if (field === undefined) {
    checkKnown(name, place, scope)
    return SCORED_NONE
  }
  const made = make(field)
  if (!isInSight(field, scope)) return SCORED_NONE
  return marking(made, scope)
}

/** Hits are marked by this condition, whatever clauses around it make of it. */
export const marking = (made: ScoredQuery, { marks }: QueryScope): ScoredQuery => {
  marks?.push(made.marks ?? made.node)
  return made
}

/** Visible fields at or below a path: `value` covers `value.num`, `value.coin` and so on. */
export const fieldsBelow = (name: string, place: JsonNode, scope: QueryScope): FieldPath[] => {
  const field = lookup(scope.kind, name)
  const fields = field ? [field] : fieldsUnder(scope.kind, name)
  if (fields.length === 0 && scope.kinds.every(kind => fieldsUnder(kind, name).length === 0))
    checkKnown(name, place, scope)
  return fields.filter(field => isInSight(field, scope))
}

/** Refuses paths without a field: objects such as `value`, or unknown names with the nearest. */
export const checkKnown = (name: string, place: JsonNode, scope: Pick<QueryScope, 'kinds'>): void => {
  const { kinds } = scope
  if (kinds.some(kind => lookup(kind, name) !== undefined)) return
  const inner = [...new Set(kinds.flatMap(kind => fieldsUnder(kind, name).map(field => field.path)))]
  const of = kinds.join(', ')
  if (inner.length > 0) {
    throw refuse(
      'query_shard_exception',
      `${where(place)}: [${name}] of ${of} is an object. Ask for one of its fields: ${inner.join(', ')}.`,
    )
  }
  const fields = kinds.flatMap(kind => [...queryPaths(kind).values()])
  const paths = [...fields.map(({ path }) => path), ...META_FIELD_NAMES]
  // Also near to an object: then one of its fields is meant.
  const near = nearestName(name, [...paths, ...fields.map(({ field }) => field)])
  const steps = name.split('.')
  const meant =
    paths.find(path => isAbridged(steps, path.split('.'))) ??
    paths.find(path => path === near) ??
    fields.find(({ field }) => field === near)?.path
  const names = new Set(fields.map(({ field }) => field))
  const remedy = meant === undefined ? `Fields are ${[...names].join(', ')}.` : `Did you mean "${meant}"?`
  throw refuse('query_shard_exception', `${where(place)}: no field ${bracketName(name)} in ${of}. ${remedy}`)
}

/** Whether a name leaves out steps of a path, as `args.type` does of `args.value.type`. */
const isAbridged = (name: string[], path: string[]): boolean =>
  path.reduce((found, step) => (name[found] === step ? found + 1 : found), 0) === name.length

const fieldsUnder = (kind: Kind, name: string): FieldPath[] =>
  Array.from(queryPaths(kind).values()).filter(field => field.path.startsWith(`${name}.`))

export const isInSight = ({ list }: FieldPath, { nested }: QueryScope): boolean =>
  nested === undefined ? list?.nested !== true : list?.nested === true && list.name === nested

export interface CollectedNames {
  names: NamedClause[]
}

/** A named clause; hits list the names of clauses that they match. */
export interface NamedClause {
  name: string
  kind: Kind
  query: Node
}

export const META_FIELD_NAMES = ['_id', '_type', '_index'] as const

export const isMeta = (name: string): name is (typeof META_FIELD_NAMES)[number] =>
  (META_FIELD_NAMES as readonly string[]).includes(name)

/** Condition on a metadata field; undefined for another name. */
export const onMetaField = (name: string, values: readonly JsonNode[], scope: QueryScope): Node | undefined => {
  if (name === '_id') {
    const place = values[0]
    if (place !== undefined) checkIdsInSight(place, scope)
    return idsNode(values.map(place => canonicalId(toScalar(place, 'an id'))))
  }
  if (name === '_type') return orNode(values.map(place => decided(toScalar(place, 'an entity') === scope.kind)))
  if (name === '_index')
    return orNode(values.map(place => decided(isIndexName(toScalar(place, 'the name of an index'), scope))))
  return undefined
}

/** Condition that a text of a metadata field passes a test. Ids only match as a whole. */
export const testedMetaField = (
  clause: string,
  name: string,
  place: JsonNode,
  scope: QueryScope,
  test: (text: string) => boolean,
): Node | undefined => {
  if (name === '_type') return decided(test(scope.kind))
  if (name === '_index') return decided(indexNamesOf(scope).some(test))
  if (name !== '_id') return undefined
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: ${bracketName(name)} does not support ${clause} queries.`,
  )
}

const decided = (holds: boolean): Node => (holds ? ALL_NODE : NONE_NODE)

/** An index is named by its entity, optionally with the network in front. */
const indexNamesOf = ({ kind, index }: QueryScope): string[] =>
  index === undefined ? [kind] : [`${index}-${kind}`, kind]

/** As Elasticsearch has it, names of indices may hold `*`. */
const isIndexName = (text: string, scope: QueryScope): boolean => {
  const names = indexNamesOf(scope)
  if (!text.includes('*')) return names.includes(text) || (scope.index === undefined && text.endsWith(`-${scope.kind}`))
  return names.some(compileGlob(text))
}

export const checkIdsInSight = (place: JsonNode, scope: QueryScope): void => {
  if (scope.nested === undefined) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: ids belong to documents, not to the elements of [${scope.nested}]. Put this condition next to the nested clause, both in one bool.`,
  )
}

/** Lower-cases the leading hash of an id: explorers differ in letter case. The rest stays. */
export const canonicalId = (id: string): string => id.replace(/^0[xX][0-9a-fA-F]+/, hash => hash.toLowerCase())

export type QueryBudget = ReturnType<typeof createQueryBudget>

export interface QueryBudgetOptions {
  limits?: Limits | undefined
  /** Called with every clause; throws to stop reading the query. */
  check?: (() => void) | undefined
}
/** Counts what one query requests, and refuses excess before doing any work for it. */
export const createQueryBudget = ({ limits = DEFAULT_LIMITS, check }: QueryBudgetOptions = {}) => {
  let clauses = 0
  let values = 0
  const zones = new Set<string>()
  return {
    limits,
    /** Also calls `check`: see `QueryBudgetOptions`. */
    clauses(more: number, place: JsonNode) {
      check?.()
      clauses += more
      if (clauses > limits.clauses) throw overLimit('clauses', limits, `The query up to ${where(place)}`)
    },
    values(more: number, place: JsonNode) {
      values += more
      if (values > limits.values) throw overLimit('values', limits, `The query up to ${where(place)}`)
    },
    text(text: string, place: JsonNode): string {
      if (text.length > limits.text) throw overLimit('text', limits, where(place))
      return text
    },
    /** A name, key or format, which the answer may repeat very often. */
    name(text: string, place: JsonNode): string {
      if (text.length > limits.nameLength) throw overLimit('nameLength', limits, where(place))
      return text
    },
    timeZone(name: string, place: JsonNode) {
      zones.add(name)
      if (zones.size > limits.timeZones) throw overLimit('timeZones', limits, `The query up to ${where(place)}`)
    },
  }
}
