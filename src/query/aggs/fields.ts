import { refuse } from '../../lib/errors.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import type { QueryValue } from '../ast.ts'
import { createDateReader } from '../dates/reader.ts'
import { UTC, type Zone, zoneOf } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import { type JsonNode, toBoolean, toScalar, toText, unexpected, where } from '../json-node.ts'
import { readDouble, readLong } from '../numbers.ts'
import { checkKnown, isMeta, type META_FIELD_NAMES, onField } from '../scope.ts'
import { SCORED_ALL } from '../score.ts'
import type { FieldValues, Format, ValueType } from './ast.ts'
import type { AggregationBody, AggregationScope } from './kinds/kind.ts'
import { numberWriterOf } from './number-format.ts'

type WantedValues = 'any' | 'numeric' | 'date'

/** The field of an aggregation, by searched kind. */
export const readFieldValues = (
  wanted: WantedValues,
  given: { field?: JsonNode | undefined; missing?: JsonNode | undefined },
  { place, scope }: Pick<AggregationBody, 'place' | 'scope'>,
): FieldValues => {
  if (given.field === undefined) throw unexpected(place, 'an object with [field]')
  const at = given.field
  const name = toText(at, 'the name of a field')
  if (isMeta(name)) return metaValues(name, at, given.missing, scope, wanted)
  const fields: Partial<Record<Kind, FieldPath>> = {}
  let declared: FieldPath | undefined
  let known = false
  for (const kind of scope.kinds) {
    // Refuses unknown fields.
    const field = lookup(kind, name)
    if (!field) continue
    known = true
    if (declared && !areAlike(declared, field))
      throw refuse(
        'illegal_argument_exception',
        `${where(at)}: [${name}] is a ${declared.es} in one entity and a ${field.es} in another: search one of them.`,
      )
    declared ??= field
    if (field.es === 'text') throw fielddata(field, at)
    if (onField(name, at, { ...scope, kind }, () => SCORED_ALL).node.op === 'all') fields[kind] = field
  }
  // With `missing`, an unknown field is no mistake.
  if (!known && (!given.missing || wanted === 'date')) checkKnown(name, at, scope)
  const type: ValueType = known ? valueTypeOf(Object.values(fields), declared) : wanted === 'any' ? 'keyword' : 'double'
  if (wanted !== 'any' && declared?.es === 'keyword')
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: Field [${name}] of type [keyword] is not supported for this aggregation, which needs numbers, dates or booleans.`,
    )
  const missing = given.missing && readMissing(given.missing, type, scope)
  if (wanted === 'date' && type !== 'date')
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: this aggregation needs a field with dates, such as timestamp, not one of type [${type}].`,
    )
  return { fields, type, missing }
}

const metaValues = (
  name: (typeof META_FIELD_NAMES)[number],
  at: JsonNode,
  missing: JsonNode | undefined,
  { kinds, index, nested }: AggregationScope,
  wanted: WantedValues,
): FieldValues => {
  if (nested !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: [${name}] belongs to documents, not to the elements of [${nested}].`,
    )
  if (missing) throw unexpected(missing, `no [missing]: every document has [${name}]`)
  if (wanted !== 'any')
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: Field [${name}] of type [${name}] is not supported for this aggregation, which needs numbers, dates or booleans.`,
    )
  const textOf = (kind: Kind) => (name === '_type' || index === undefined ? kind : `${index}-${kind}`)
  return {
    fields: {},
    meta: name === '_id' ? '_id' : Object.fromEntries(kinds.map(kind => [kind, textOf(kind)])),
    type: 'keyword',
    missing: undefined,
  }
}

/** Whether documents may have several values of a field. */
export const hasSeveral = ({ fields }: Pick<FieldValues, 'fields'>): boolean =>
  Object.values(fields).some(({ list, kind }) => list !== undefined || kind === 'hexList' || kind === 'integers')

/** Values for buckets: a bucket for each id is refused. */
export const readTermValues = (
  given: Parameters<typeof readFieldValues>[1],
  body: Pick<AggregationBody, 'place' | 'scope'>,
): FieldValues => {
  const values = readFieldValues('any', given, body)
  if (values.meta !== '_id') return values
  throw refuse(
    'illegal_argument_exception',
    `${where(body.place)}: Fielddata access on the _id field is disallowed here: ask for value_count or cardinality of it, or for hits.`,
  )
}

const areAlike = (a: FieldPath, b: FieldPath): boolean =>
  a.es === b.es || (NUMBER_TYPES.has(a.es) && NUMBER_TYPES.has(b.es))
const NUMBER_TYPES: ReadonlySet<string> = new Set(['long', 'double'])

const valueTypeOf = (fields: readonly FieldPath[], declared: FieldPath | undefined): ValueType => {
  const types = new Set((fields.length > 0 ? fields : declared ? [declared] : []).map(({ es }) => es))
  if (types.size > 1) return 'double'
  const [type = 'keyword'] = types
  return type === 'text' ? 'keyword' : type
}

const fielddata = ({ path }: FieldPath, at: JsonNode) =>
  refuse(
    'illegal_argument_exception',
    `${where(at)}: Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead: [${path}.raw].`,
  )

const readMissing = (place: JsonNode, type: ValueType, scope: AggregationScope): QueryValue => {
  if (typeof place.value === 'string') scope.budget.name(place.value, place)
  switch (type) {
    case 'keyword':
      return toScalar(place, 'a text')
    case 'boolean':
      if (place.value === 1 || place.value === 0) return place.value === 1
      return toBoolean(place)
    case 'date':
      return createDateReader(scope).read(place, toScalar(place, 'a date'), false)
    case 'double':
      return readDouble(place)
    case 'long':
      return readLong({ path: 'missing' } as FieldPath, place).floor
  }
}

/** The format of `…_as_string` members; undefined for none. */
export const formatOfValues = (
  values: Pick<FieldValues, 'fields' | 'type'>,
  given: { format?: JsonNode | undefined; time_zone?: JsonNode | undefined },
  { place, scope }: Pick<AggregationBody, 'place' | 'scope'>,
): Format => {
  const { format } = given
  if (format && typeof format.value === 'string') scope.budget.name(format.value, format)
  switch (values.type) {
    case 'date': {
      const text = format ? toText(format, 'a date format') : formatOfField(firstFieldOf(values.fields))
      const write = dateWriterOf(format ?? place, text, zoneIn(given.time_zone, scope))
      return value =>
        Math.abs(value) < FURTHEST ? write(value) : (BEYOND_DATES.get(text) ?? '+292278994-08-17T07:12:55.807Z')
    }
    case 'boolean':
      return value => (value === 0 ? 'false' : 'true')
    case 'keyword':
      return undefined
    default:
      return format && numberWriterOf(format, toText(format, 'a format of numbers'))
  }
}

export const zoneIn = (place: JsonNode | undefined, scope: AggregationScope): Zone =>
  place === undefined ? UTC : zoneOf(place, toText(place, 'a time zone'), scope.budget)

/** Beyond the last date, as of squares, Elasticsearch shows the greatest long. */
const FURTHEST = 8.64e15
const BEYOND_DATES: ReadonlyMap<string, string> = new Map([
  ['epoch_second', '9223372036854775.807'],
  ['epoch_millis', '9223372036854775807'],
])

/** If kinds have several date formats, the first kind by name decides, as in Elasticsearch. */
const firstFieldOf = (fields: FieldValues['fields']): FieldPath | undefined =>
  Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))[0]?.[1]

const formatOfField = (field: FieldPath | undefined): string =>
  field?.kind === 'seconds' ? 'epoch_second' : 'strict_date_optional_time'
