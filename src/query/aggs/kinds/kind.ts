import { refuse } from '../../../lib/errors.ts'
import type { Kind } from '../../../mapping/index.ts'
import { createDateReader } from '../../dates/reader.ts'
import { boolean, type JsonNode, known, scalar, string, where } from '../../json-node.ts'
import { type Key, SCHEMAS } from '../../keys.ts'
import type { Scope } from '../../scope.ts'
import type { Aggregation, Format, Spec, Values } from '../ast.ts'
import { readValues, type Wanted } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { count, number } from '../options.ts'

/** What an aggregation is read against. `kind` of the scope is not looked at: it is of all kinds. */
export type AggregationScope = Omit<Scope, 'kind'>

/** One kind of aggregation. */
export interface AggregationKind {
  /** What it means, for the reference docs. */
  doc: string
  /** What is not as in Elasticsearch, for the reference docs. */
  limit?: string
  /** The body of a working one, for the reference docs. */
  example: unknown
  /** What the example searches. Default: events. */
  on?: Kind
  /** Whether it makes buckets, which others may lie in. */
  buckets: boolean
  /** What its body may hold; undefined of one whose body is a query. */
  keys?: Readonly<Record<string, Pick<Key, 'schema'>>>
  /** The meaning of the aggregation's body. */
  read(place: JsonNode, scope: AggregationScope, at: Where): Spec
  /** What aggregations inside of it are read against, where that is not the same. */
  inside?(spec: Spec, scope: AggregationScope): AggregationScope
  /** Looks at the aggregations inside, once they are known. */
  check?(place: JsonNode, spec: Spec, aggs: readonly Aggregation[]): void
}

/** Where in the tree an aggregation stands. */
export interface Where {
  name: string
  /** The types of those around it, the outermost first. */
  around: readonly string[]
}

/** A body that is read: the values of its keys, and what they are read against. */
export interface Body {
  place: JsonNode
  given: Partial<Record<string, JsonNode>>
  scope: AggregationScope
  at: Where
}

/** Reads the value of a key, which is described as JSON Schema; undefined where the key is not there. */
export interface Reader<T> {
  (at: JsonNode | undefined, body: Body): T
  readonly schema?: Key['schema']
}
export const described = <T>(schema: Key['schema'], read: Reader<T>): Reader<T> => Object.assign(read, { schema })
type Readers = Record<string, Reader<unknown>>
type Read<Keys extends Readers> = { [Name in keyof Keys]: ReturnType<Keys[Name]> }

interface Declaration<Keys extends Readers> extends Omit<AggregationKind, 'read' | 'keys'> {
  /** Every key with its reader, in the order in which they are read. */
  keys: Keys
  /** Keys that are accepted and mean nothing. */
  ignored?: readonly string[]
  /** What the body should be. Default: an object such as the example. */
  expected?: string
  spec(read: Read<Keys>, body: Body): Spec
}

/** A kind of aggregation by the keys of its body. */
export const aggregation = <Keys extends Readers>(declaration: Declaration<Keys>): AggregationKind => {
  const { keys, ignored = [], expected, spec, ...kind } = declaration
  return {
    ...kind,
    keys: Object.fromEntries(Object.entries(keys).map(([name, { schema = {} }]) => [name, { schema }])),
    read(place, scope, at) {
      const given = known(place, expected ?? like(kind.example), Object.keys(keys), ignored)
      const body: Body = { place, given, scope, at }
      return spec(readAll(keys, body), body)
    },
  }
}

const readAll = <Keys extends Readers>(keys: Keys, body: Body): Read<Keys> => {
  // Whoever sends a script names no field.
  keys.script?.(body.given.script, body)
  return Object.fromEntries(
    Object.entries(keys).map(([name, read]) => [name, read(body.given[name], body)]),
  ) as Read<Keys>
}

/** An object inside of a body. */
export const readKeys = <Keys extends Readers>(
  keys: Keys,
  place: JsonNode,
  expected: string,
  around: Body,
): [Read<Keys>, Body] => {
  const body = { ...around, place, given: known(place, expected, Object.keys(keys), []) }
  return [readAll(keys, body), body]
}

export const like = (example: unknown): string =>
  `an object such as ${JSON.stringify(example).replaceAll('":', '": ').replaceAll(',"', ', "')}`

/** Refuses a value, with the type that Elasticsearch gives such an error. */
export const illegal = (place: JsonNode, why: string) => refuse('illegal_argument_exception', `${where(place)}: ${why}`)

/** A key that is read together with others. */
export const plain: Reader<JsonNode | undefined> = at => at
export const flag = (fallback = false): Reader<boolean> =>
  described(SCHEMAS.flag, at => (at === undefined ? fallback : boolean(at)))
export const whole = (least: number, fallback: number): Reader<number> =>
  described(SCHEMAS.whole, at => count(at, least, fallback))
export const double: Reader<number | undefined> = described(SCHEMAS.number, at => number(at))

/** The field that an aggregation looks at, with what stands for a missing value. */
export const field = (wanted: Wanted): Reader<Values> =>
  described(SCHEMAS.text, (_, { place, given, scope }) => {
    const values = readValues(place, given, scope, wanted)
    if (wanted !== 'date' || values.type === 'date') return values
    throw illegal(
      place,
      `this aggregation needs a field with dates, such as timestamp, not one of type [${values.type}].`,
    )
  })

/** How the values of a field are written. */
export const format: Reader<(values: Values) => Format | undefined> = described(
  SCHEMAS.text,
  (_, { place, given, scope }) =>
    values =>
      formatOf(scope, place, values, given),
)

export const script: Reader<undefined> = at => {
  if (at) throw illegal(at, 'scripts are not supported. Name a [field].')
}

/** Reads dates in the format and the zone that a body names. Numbers are milliseconds, unless they are read as texts. */
export const datesIn = ({ given, scope }: Body, numbers: 'milliseconds' | 'text'): ((at: JsonNode) => number) => {
  const { format, time_zone } = given
  const reader = createDateReader({
    ...scope,
    ...(format && { format: { place: format, text: string(format, 'a date format') } }),
    ...(time_zone && { zone: { place: time_zone, text: string(time_zone, 'a time zone') } }),
  })
  return at =>
    typeof at.value === 'number' && numbers === 'milliseconds' ? at.value : reader.read(at, scalar(at, 'a date'), false)
}
