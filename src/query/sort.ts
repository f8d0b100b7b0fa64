import { refuse } from '../lib/errors.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { type FieldPath, type Kind, lookup } from '../mapping/index.ts'
import { elements, isObject, type JsonNode, known, members, string, unexpected, where } from './json-node.ts'
import type { Sort } from './request.ts'
import { checkKnown } from './scope.ts'

/** `"f"`, `{"f": "desc"}`, `{"f": {"order": "desc", "missing": "_first"}}`, and lists of them; an object may hold several. */
export const parseSort = (place: JsonNode | undefined, kinds: readonly Kind[], limits: Limits): Sort[] => {
  const sorts: Sort[] = []
  const add = (name: string, at: JsonNode, given: Options) => {
    if (sorts.length === limits.sorts) throw overLimit('sorts', limits)
    sorts.push(sortBy(name, at, given, kinds))
  }
  for (const at of place === undefined ? [] : elements(place))
    if (typeof at.value === 'string') add(at.value, at, {})
    else
      for (const [name, inner] of members(at, 'the name of a field, or an object such as {"timestamp": "desc"}'))
        add(name, inner, options(inner))
  return sorts
}

type Options = Partial<Record<(typeof KEYS)[number], JsonNode>>

const KEYS = ['order', 'missing', 'unmapped_type', 'mode'] as const

const options = (place: JsonNode): Options => {
  if (isObject(place.value)) return known(place, 'an object such as {"order": "desc"}', KEYS, [])
  return { order: place }
}

const sortBy = (name: string, place: JsonNode, given: Options, kinds: readonly Kind[]): Sort => {
  const order = given.order ? direction(given.order) : name === '_score' ? 'desc' : 'asc'
  if (given.mode !== undefined) checkMode(given.mode, order)
  const missing = given.missing ? missingPlace(given.missing) : '_last'
  if (name === '_score' || name === '_doc') return { by: name, fields: {}, order, missing }

  const fields: Partial<Record<Kind, FieldPath>> = {}
  for (const kind of kinds) {
    const field = lookup(kind, name)
    if (field === undefined) continue
    checkSortable(field, place)
    fields[kind] = field
  }
  if (Object.keys(fields).length === 0 && given.unmapped_type === undefined) {
    if (name === '_id' || name === '_type' || name === '_index') {
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: sorting by [${name}] is not supported. [_doc] sorts in the order of the chain.`,
      )
    }
    checkKnown(name, place, { kinds })
  }
  return { by: 'field', fields, order, missing }
}

const direction = (place: JsonNode): 'asc' | 'desc' => {
  const order = string(place, '"asc" or "desc"').toLowerCase()
  if (order !== 'asc' && order !== 'desc') throw unexpected(place, '"asc" or "desc"')
  return order
}

const missingPlace = (place: JsonNode): '_last' | '_first' => {
  if (place.value === '_last' || place.value === '_first') return place.value
  throw unexpected(place, '"_last" or "_first" (a value in place of a missing one is not supported)')
}

/** Of several values the least counts in an ascending sort and the greatest in a descending one. */
const checkMode = (place: JsonNode, order: 'asc' | 'desc'): void => {
  const only = order === 'asc' ? 'min' : 'max'
  if (string(place, `"${only}"`).toLowerCase() !== only) {
    throw unexpected(place, `"${only}", the one mode that a sort in order "${order}" supports`)
  }
}

const checkSortable = (field: FieldPath, place: JsonNode): void => {
  if (field.es === 'text') {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: fielddata is disabled on text fields, so that [${field.path}] cannot be sorted by. Sort by [${field.path}.raw].`,
    )
  }
  if (field.list?.nested) {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: sorting by a member of the nested list [${field.list.name}] is not supported.`,
    )
  }
}
