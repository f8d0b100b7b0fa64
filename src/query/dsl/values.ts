import { refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { NONE_NODE } from '../ast.ts'
import { createDateReader } from '../dates/reader.ts'
import { type BoundPlaces, equalNode, patternOn, termOn, withinNode } from '../field-conditions.ts'
import {
  elements,
  isJsonMap,
  type JsonNode,
  toBoolean,
  toList,
  toScalar,
  toText,
  unexpected,
  where,
} from '../json-node.ts'
import { asText, itself, neededKey, nodeKey, optionalKey, readBodyKeys, SCHEMAS } from '../keys.ts'
import {
  canonicalId,
  checkIdsInSight,
  checkKnown,
  fieldsBelow,
  isInSight,
  isMeta,
  onField,
  onMetaField,
  type QueryScope,
} from '../scope.ts'
import { constantScored, SCORED_ALL, SCORED_NONE, type ScoredQuery, sumOfScores } from '../score.ts'
import { andNode, atLeastNode, existsNode, idsNode, orNode, rangeNode } from '../simplify.ts'
import { type Clause, fieldClause, objectClause, onlyField, withoutCommon } from './clause.ts'

export const termClause = fieldClause({
  name: 'term',
  doc: 'The field has exactly this value. A text field is compared by its lower-case words, its .raw as it is; with case_insensitive in any letter case.',
  example: { event: 'transfer' },
  keys: { case_insensitive: nodeKey },
  make: (field, { value, options, scope }) =>
    inAnyCase(options.case_insensitive, field, value, scope) ?? termOn(field, value, scope),
})

export const spanTermClause: Clause = {
  ...termClause,
  doc: 'As term. Alone it finds the same: other clauses of spans are refused.',
}

/** Option `case_insensitive`: matches the value in any letter case; undefined if it is off. */
const inAnyCase = (
  option: JsonNode | undefined,
  field: FieldPath,
  value: JsonNode,
  scope: QueryScope,
): ScoredQuery | undefined => {
  if (option === undefined || option.value === null || !toBoolean(option)) return undefined
  if (field.compare === 'hex') return constantScored(equalNode(field, value, scope))
  if (field.compare !== 'token' && field.compare !== 'exact')
    throw refuse(
      'illegal_argument_exception',
      `${where(option)}: [${field.path}] does not support case insensitive queries.`,
    )
  const text = scope.budget.text(toText(value, 'a text'), value)
  const lowerCase = { path: value.path, value: text.toLowerCase() }
  if (field.compare === 'token') return constantScored(equalNode(field, lowerCase, scope))
  // An address is a single word, so its analysed form is the same text in lower case.
  if (field.kind === 'address') return constantScored(equalNode(lookup(scope.kind, field.field)!, lowerCase, scope))
  const escaped = text.replace(/[\\*?]/g, '\\$&')
  return patternOn('case insensitive', field, value, { how: 'wildcard', text: escaped, ignoreCase: true })
}

export const termsClause: Clause = {
  doc: 'The field has one of these values, each compared as term does. {"index": "contract", "id": "0x…", "path": "creator"} in place of the list takes the values of a document, in searches of up to 64 KiB; rules do not.',
  example: { event: ['transfer', 'approval'] },
  keys: {},
  lower(place, scope) {
    const [name, at] = onlyField(
      'terms',
      withoutCommon(place, 'an object that names a field, such as {"terms": {"event": […]}}'),
    )
    if (isJsonMap(at.value)) throw unexpected(at, EXPECTED_VALUES)
    const values = toList(at, 'a list of values')
    scope.budget.values(values.length, at)
    const meta = onMetaField(name, values, scope)
    if (meta) return constantScored(meta)
    return onField(name, at, scope, field => {
      const node = orNode(values.map(value => equalNode(field, value, scope)))
      // Each value of a date is a range, and so a condition of its own.
      if (node.op === 'or') scope.budget.clauses(node.of.length, at)
      return constantScored(node)
    })
  },
}

export const termsSetClause = fieldClause({
  name: 'terms_set',
  doc: 'The field has as many of these values as another field of the document says, but at least one. The number is that of minimum_should_match_field.',
  on: 'log',
  example: { topics: { terms: ['0x00', '0x01'], minimum_should_match_field: 'logIndex.num' } },
  value: ['terms'],
  keys: {
    minimum_should_match_field: nodeKey,
    minimum_should_match_script: optionalKey((place): never => {
      throw refuse('illegal_argument_exception', `${where(place)}: there are no scripts. Name a field instead.`)
    }),
  },
  meta: () => undefined,
  make(field, { at, value, options: { minimum_should_match_field: minimum }, scope }) {
    const values = toList(value, 'a list of values')
    if (minimum === undefined)
      throw unexpected(at, 'an object with [minimum_should_match_field], the field that says how many values')
    const name = toText(minimum, 'the name of a field')
    checkKnown(name, minimum, scope)
    const count = lookup(scope.kind, name)
    if (count === undefined || !isInSight(count, scope)) return SCORED_NONE
    if (count.compare !== 'long' || count.kind === 'integers' || count.list?.nested === false)
      throw unexpected(minimum, 'the name of a field with one integer')
    scope.budget.values(values.length, value)
    scope.budget.clauses((values.length * (values.length + 1)) / 2, value)
    const parts = values.map(one => termOn(field, one, scope))
    const nodes = parts.map(({ node }) => node)
    const cases = nodes.map((_, i) => {
      const least = BigInt(i + 1)
      const bounds = i === 0 ? { lte: least } : { gte: least, lte: least }
      return andNode([rangeNode(count, bounds), atLeastNode(i + 1, nodes)])
    })
    return { node: orNode(cases), score: sumOfScores([], parts) }
  },
})

const EXPECTED_VALUES =
  'a list of values, or in a search of up to 64 KiB an object such as {"index": "contract", "id": "0x…", "path": "creator"}'

const bound = nodeKey
const RANGE = {
  ...{ gt: bound, gte: bound, lt: bound, lte: bound, from: bound, to: bound },
  ...{ include_lower: optionalKey(itself, SCHEMAS.flag), include_upper: optionalKey(itself, SCHEMAS.flag) },
  ...{ format: optionalKey(itself, SCHEMAS.text), time_zone: optionalKey(itself, SCHEMAS.text) },
  /** Fields hold points, not ranges, so all three relations mean the same. */
  relation: optionalKey(place => {
    const name = toText(place, RELATIONS).toLowerCase()
    if (!['intersects', 'contains', 'within'].includes(name)) throw unexpected(place, RELATIONS)
  }, SCHEMAS.text),
}

const RELATIONS = '"intersects", "contains" or "within"'

export const rangeClause: Clause = {
  doc: 'The field lies within bounds: gte or gt, and lte or lt; or from and to, with include_lower and include_upper. For dates, format and time_zone say how the bounds are written.',
  example: { timestamp: { gte: 'now-7d/d', lt: 'now/d' } },
  fieldwise: true,
  keys: RANGE,
  lower(place, scope) {
    const [name, at] = onlyField('range', place)
    const {
      format,
      time_zone,
      relation: _,
      ...given
    } = readBodyKeys(at, 'an object such as {"gte": 1, "lt": 9}', RANGE)
    if (isMeta(name))
      throw refuse('illegal_argument_exception', `${where(at)}: [${name}] does not support range queries.`)
    for (const flag of [given.include_lower, given.include_upper]) if (flag) toBoolean(flag)
    const dateFormat = format && { place: format, text: toText(format, 'a date format') }
    const zone = time_zone && { place: time_zone, text: toText(time_zone, 'a time zone') }
    const bounds = { ...lowerBoundOf(given), ...upperBoundOf(given) }
    return onField(name, at, scope, field => {
      const option = format ?? time_zone
      if (option !== undefined && field.compare !== 'instant')
        throw refuse('illegal_argument_exception', `${where(option)}: [${field.path}] is not a date.`)
      return constantScored(withinNode(field, bounds, createDateReader({ ...scope, format: dateFormat, zone })))
    })
  },
}

type RangeBoundKey = 'gt' | 'gte' | 'lt' | 'lte' | 'from' | 'to' | 'include_lower' | 'include_upper'
type GivenBounds = { readonly [bound in RangeBoundKey]?: JsonNode | undefined }

const lowerBoundOf = ({ gt, gte, from, include_lower }: GivenBounds): BoundPlaces => {
  const place = soleBound({ gt, gte, from, include_lower })
  if (place === undefined) return {}
  return isIncluded(place, [gt, gte], include_lower) ? { gte: place } : { gt: place }
}

const upperBoundOf = ({ lt, lte, to, include_upper }: GivenBounds): BoundPlaces => {
  const place = soleBound({ lt, lte, to, include_upper })
  if (place === undefined) return {}
  return isIncluded(place, [lt, lte], include_upper) ? { lte: place } : { lt: place }
}

/** `gte` and `lte` are inclusive; older bounds are unless the option says otherwise. */
const isIncluded = (
  place: JsonNode,
  [strict, loose]: readonly [JsonNode | undefined, JsonNode | undefined],
  option: JsonNode | undefined,
): boolean => place === loose || (place !== strict && (option === undefined || toBoolean(option)))

/** The given bound; null means none. Include options belong to the older spelling. */
const soleBound = (given: GivenBounds): JsonNode | undefined => {
  const options = Object.entries(given).filter(([name]) => name.startsWith('include_'))
  const bounds = Object.entries(given).filter(
    (bound): bound is [string, JsonNode] => bound[1] !== undefined && !bound[0].startsWith('include_'),
  )
  const [first, second] = bounds.filter(([, { value }]) => value !== null)
  if (first && second)
    throw refuse(
      'parsing_exception',
      `${where(first[1])}: [${first[0]}] and [${second[0]}] exclude each other. Keep one of them.`,
    )
  const isNew = first && !['from', 'to'].includes(first[0])
  const [[name, option] = []] = options
  if (isNew && option !== undefined)
    throw refuse('parsing_exception', `${where(option)}: [${name}] works with [from] and [to], not with [${first[0]}].`)
  return first?.[1]
}

export const existsClause = objectClause({
  doc: 'The field has a value: it is not null, not an empty list, and not a keyword of more than 256 characters. An object exists if one of its fields does.',
  example: { field: 'error' },
  expected: 'an object such as {"field": "error"}',
  keys: { field: neededKey(itself, SCHEMAS.text) },
  lower({ field }, { scope }) {
    const name = toText(field, 'the name of a field')
    if (!isMeta(name)) return constantScored(orNode(fieldsBelow(name, field, scope).map(existsNode)))
    checkIdsInSight(field, scope)
    return SCORED_ALL
  },
})

export const idsClause = objectClause({
  doc: 'The document has one of these ids. Their hashes match in any letter case. With type, only documents of that entity.',
  example: { values: ['0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060_e_0'] },
  expected: 'an object such as {"values": ["0x…"]}',
  keys: { values: neededKey(itself), type: optionalKey(place => elements(place).map(asText('an entity'))) },
  lower({ values, type: types = [] }, { place, scope }) {
    checkIdsInSight(place, scope)
    const list = elements(values)
    scope.budget.values(list.length, values)
    const node = idsNode(list.map(value => canonicalId(toScalar(value, 'an id'))))
    return constantScored(types.length === 0 || types.includes(scope.kind) ? node : NONE_NODE)
  },
})

export const typeClause = objectClause({
  doc: 'The document is of this entity; the same as a term on _type.',
  example: { value: 'event' },
  expected: 'an object such as {"value": "tx"}',
  keys: { value: neededKey(itself, SCHEMAS.text) },
  lower: ({ value }, { scope }) => constantScored(onMetaField('_type', [value], scope)!),
})
