import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { overLimit } from '../../limits/index.ts'
import { type EsType, type FieldPath, type Kind, lookup, nestedPaths } from '../../mapping/index.ts'
import { ALL_NODE, type Node } from '../ast.ts'
import { UTC } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import {
  bracketName,
  elements,
  isJsonMap,
  type JsonNode,
  members,
  toText,
  toWhole,
  unexpected,
  where,
} from '../json-node.ts'
import { direction, keyOr, nodeKey, optionalKey, readBodyKeys, readKeyValues, type ValuesOf } from '../keys.ts'
import type { NestedSort, SortMode, SortSpec } from '../request.ts'
import { checkKnown, createQueryBudget, type QueryScope } from '../scope.ts'
import { readSortValue, standsForMissing } from './sort-value.ts'

export interface SortScope extends Pick<QueryScope, 'kinds' | 'now' | 'budget'> {
  lower(place: JsonNode, scope: QueryScope): Node
}

/**
 * `"f"`, `{"f": "desc"}`, `{"f": {"order": "desc", "missing": "_first"}}`, or several in a list
 * or an object.
 */
export const parseSort = (place: JsonNode | undefined, scope: SortScope): SortSpec[] => {
  const { limits } = scope.budget
  const sorts: SortSpec[] = []
  const add = (name: string, at: JsonNode, given: SortOptions) => {
    if (sorts.length === limits.sorts) throw overLimit('sorts', limits)
    sorts.push(parseSortKey(name, at, given, scope))
  }
  for (const at of place === undefined ? [] : elements(place))
    if (typeof at.value === 'string') add(at.value, at, NO_SORT_OPTIONS)
    else
      for (const [name, inner] of members(at, 'the name of a field, or an object such as {"timestamp": "desc"}'))
        add(name, inner, readSortOptions(inner))
  return sorts
}

type SortOptions = ValuesOf<typeof SORT_OPTION_KEYS>

const SORT_OPTION_KEYS = {
  order: optionalKey(direction),
  missing: nodeKey,
  unmapped_type: nodeKey,
  mode: nodeKey,
  nested: nodeKey,
  nested_path: nodeKey,
  nested_filter: nodeKey,
  format: nodeKey,
  numeric_type: nodeKey,
}

const NO_SORT_OPTIONS = readKeyValues(SORT_OPTION_KEYS, {})

const readSortOptions = (place: JsonNode): SortOptions =>
  isJsonMap(place.value)
    ? readBodyKeys(place, 'an object such as {"order": "desc"}', SORT_OPTION_KEYS, [])
    : { ...NO_SORT_OPTIONS, order: direction(place) }

const META_SORTS: ReadonlyMap<string, '_score' | '_doc' | '_shard_doc'> = new Map([
  ['_score', '_score'],
  ['_doc', '_doc'],
  ['_shard_doc', '_shard_doc'],
])

const parseSortKey = (name: string, place: JsonNode, given: SortOptions, scope: SortScope): SortSpec => {
  const order = given.order ?? (name === '_score' ? 'desc' : 'asc')
  const meta = META_SORTS.get(name)
  if (meta !== undefined) return { by: meta, fields: {}, order, missing: plainMissing(given.missing) }

  if (name === '_id') return idSort(order, given, scope)

  const { kinds } = scope
  const nested = parseNested(given, scope)
  const fields: Partial<Record<Kind, FieldPath>> = {}
  for (const kind of kinds) {
    const field = lookup(kind, name)
    if (field === undefined) continue
    checkSortable(field, nested?.path, place)
    fields[kind] = field
  }
  const [field] = Object.values(fields)
  const unmapped = given.unmapped_type && unmappedType(given.unmapped_type)
  if (field === undefined && unmapped === undefined) {
    if (name === '_type' || name === '_index') {
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: sorting by [${name}] is not supported. [_doc] sorts in the order of the chain.`,
      )
    }
    checkKnown(name, place, { kinds })
  }
  const mode = given.mode && modeOf(given.mode, { field, order, nested: nested !== undefined })
  const as = given.numeric_type && castOf(given.numeric_type, field)
  const format = given.format && field && sortFormatOf(given.format, field)
  return {
    ...{ by: 'field', fields, order, missing: sortMissingOf(given.missing, { field, as, order }, scope) },
    ...(mode && { mode }),
    ...(nested && { nested }),
    ...(format !== undefined && { format }),
    ...(as && { as }),
    ...(field === undefined && unmapped && { unmapped }),
  }
}

const plainMissing = (place: JsonNode | undefined): '_last' | '_first' => {
  if (place === undefined || place.value === null || place.value === '_last') return '_last'
  if (place.value === '_first') return '_first'
  throw unexpected(place, '"_last" or "_first"')
}

const sortMissingOf = (
  place: JsonNode | undefined,
  { field, as, order }: { field: FieldPath | undefined; as: SortSpec['as']; order: SortSpec['order'] },
  scope: SortScope,
): SortSpec['missing'] => {
  if (place === undefined || place.value === null || place.value === '_last') return '_last'
  if (place.value === '_first') return '_first'
  if (field === undefined) throw unexpected(place, '"_last" or "_first" for a field that no entity of the search has')
  const value = readSortValue(place, { field, as, missing: true }, scope)
  if (value === null) return '_last'
  const isSame = (missing: '_last' | '_first') =>
    standsForMissing(value, { fields: { [scope.kinds[0]!]: field }, order, missing, as })
  return isSame('_last') ? '_last' : isSame('_first') ? '_first' : { value }
}

const SORT_MODES: readonly string[] = ['min', 'max', 'sum', 'avg', 'median'] satisfies SortMode[]

/** Undefined for the default mode. */
const modeOf = (
  place: JsonNode,
  { field, order, nested }: { field: FieldPath | undefined; order: SortSpec['order']; nested: boolean },
): SortMode | undefined => {
  const mode = toText(place, `one of ${SORT_MODES.join(', ')}`).toLowerCase() as SortMode
  if (!SORT_MODES.includes(mode)) throw unexpected(place, `one of ${SORT_MODES.join(', ')}`)
  if (mode !== 'min' && mode !== 'max' && field && field.es === 'keyword') {
    throw refuse(
      'query_shard_exception',
      `${where(place)}: we only support AVG, MEDIAN and SUM on number based fields, and [${field.path}] is not one. Its modes are min and max.`,
    )
  }
  if (mode === 'median' && nested)
    throw refuse('illegal_argument_exception', `${where(place)}: Unsupported sort mode: MEDIAN, of a nested list.`)
  return mode === (order === 'asc' ? 'min' : 'max') ? undefined : mode
}

const UNMAPPED_TYPES: ReadonlyMap<string, EsType> = new Map([
  ...(['long', 'integer', 'short', 'byte', 'unsigned_long'] as const).map(name => [name, 'long'] as const),
  ...(['double', 'float', 'half_float', 'scaled_float'] as const).map(name => [name, 'double'] as const),
  ...(['keyword', 'text', 'ip', 'wildcard', 'constant_keyword', 'version'] as const).map(
    name => [name, 'keyword'] as const,
  ),
  ['boolean', 'boolean'],
  ['date', 'date'],
  ['date_nanos', 'date'],
])

const unmappedType = (place: JsonNode): EsType => {
  const type = UNMAPPED_TYPES.get(toText(place, 'the name of a type, such as "long"'))
  if (type === undefined) throw unexpected(place, `one of ${[...UNMAPPED_TYPES.keys()].join(', ')}`)
  return type
}

/** Undefined if the type changes nothing. */
const castOf = (place: JsonNode, field: FieldPath | undefined): SortSpec['as'] => {
  const type = toText(place, '"long", "double", "date" or "date_nanos"')
  if (!['long', 'double', 'date', 'date_nanos'].includes(type))
    throw unexpected(place, '"long", "double", "date" or "date_nanos"')
  if (field === undefined) return undefined
  const casts: Partial<Record<EsType, Partial<Record<string, SortSpec['as'] | 'same'>>>> = {
    long: { long: 'same', date: 'same', double: 'double' },
    double: { double: 'same', long: 'long' },
    date: { long: 'same', date: 'same', date_nanos: 'date_nanos' },
  }
  const cast = casts[field.es]?.[type]
  if (cast !== undefined) return cast === 'same' ? undefined : cast
  throw refuse(
    'query_shard_exception',
    casts[field.es] === undefined
      ? `${where(place)}: [numeric_type] option cannot be set on a non-numeric field, got ${field.es}. Leave it out for [${field.path}].`
      : `${where(place)}: [${field.path}] of type ${field.es} cannot be sorted as ${type}: it can be as ${Object.keys(casts[field.es]!).join(', ')}.`,
  )
}

const sortFormatOf = (place: JsonNode, field: FieldPath): string => {
  const format = toText(place, 'the format of a date')
  if (field.es !== 'date') {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: Field [${field.path}] of type [${field.es}] does not support custom formats: leave the format out.`,
    )
  }
  dateWriterOf(place, format, UTC)
  return format
}

const checkSortable = (field: FieldPath, nested: string | undefined, place: JsonNode): void => {
  if (field.es === 'text') {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead: sort by [${field.path}.raw].`,
    )
  }
  const list = field.list?.nested ? field.list.name : undefined
  if (list === nested) return
  throw refuse(
    'query_shard_exception',
    list === undefined
      ? `${where(place)}: [${field.path}] is not a member of the nested list [${nested}]: leave out [nested].`
      : `${where(place)}: it is mandatory to set the [nested] context on the nested sort field: [${field.path}]. Write "nested": {"path": "${list}"}, and perhaps a filter on its elements.`,
  )
}

const readMost = (place: JsonNode): number => {
  const count = toWhole(place, 'an integer: how many elements are looked at')
  if (count < 0) throw unexpected(place, 'an integer from 0 on')
  return count === 2 ** 31 - 1 ? Number.POSITIVE_INFINITY : count
}

const NESTED_KEYS = {
  path: nodeKey,
  filter: nodeKey,
  max_children: keyOr(Number.POSITIVE_INFINITY, readMost),
  nested: nodeKey,
}

type NestedKeys = Pick<SortOptions, 'nested' | 'nested_path' | 'nested_filter'>

/** Reads `nested`, or its older spelling: the elements of a list whose values are sorted by. */
const parseNested = (given: NestedKeys, { kinds, now, budget, lower }: SortScope): NestedSort | undefined => {
  const {
    path: pathPlace,
    filter,
    max_children: most,
    nested,
  } = given.nested
    ? readBodyKeys(given.nested, 'an object such as {"path": "args"}', NESTED_KEYS, [])
    : { ...readKeyValues(NESTED_KEYS, {}), path: given.nested_path, filter: given.nested_filter }
  if (pathPlace === undefined) {
    if (given.nested === undefined && filter === undefined) return undefined
    throw unexpected(given.nested ?? filter!, 'an object with [path], such as {"path": "args"}')
  }
  if (given.nested !== undefined && (given.nested_path ?? given.nested_filter) !== undefined)
    throw refuse('parsing_exception', `${where(given.nested)}: write [nested] alone, without [nested_path].`)
  const path = toText(pathPlace, 'the name of a nested list')
  const lists = [...new Set(kinds.flatMap(nestedPaths))]
  if (!lists.includes(path)) {
    throw refuse(
      'query_shard_exception',
      `${where(pathPlace)}: [nested] failed to find nested object under path ${bracketName(path)}.${didYouMean(path, lists)} Nested lists of ${kinds.join(', ')}: ${lists.join(', ') || 'none'}.`,
    )
  }
  if (!isUnset(nested))
    throw refuse(
      'query_shard_exception',
      `${where(nested)}: there is no nested list inside of [${path}]: leave it out.`,
    )
  const conditions: Partial<Record<Kind, Node>> = {}
  for (const kind of kinds) {
    if (!nestedPaths(kind).includes(path)) continue
    // Each kind reads the same clauses, which count once.
    const own = kind === kinds[0] ? budget : createQueryBudget({ limits: budget.limits })
    conditions[kind] = isUnset(filter) ? ALL_NODE : lower(filter, { kind, kinds, now, nested: path, budget: own })
  }
  return { path, filter: conditions, most }
}

const isUnset = (place: JsonNode | undefined): place is (JsonNode & { value: null }) | undefined =>
  place === undefined || place.value === null

/** Each document has one id, so `missing`, `mode` and `nested` change nothing. */
const idSort = (order: SortSpec['order'], given: SortOptions, scope: SortScope): SortSpec => {
  const { mode, format, numeric_type } = given
  if (mode && !['min', 'max'].includes(toText(mode, '"min" or "max"').toLowerCase()))
    throw refuse(
      'query_shard_exception',
      `${where(mode)}: we only support AVG, MEDIAN and SUM on number based fields, and [_id] is not one. Its modes are min and max.`,
    )
  if (numeric_type)
    throw refuse(
      'query_shard_exception',
      `${where(numeric_type)}: [numeric_type] option cannot be set on a non-numeric field, got _id. Leave it out.`,
    )
  if (format)
    throw refuse(
      'illegal_argument_exception',
      `${where(format)}: Field [_id] of type [_id] does not support custom formats: leave the format out.`,
    )
  parseNested(given, scope)
  return { by: '_id', fields: {}, order, missing: '_last' }
}
