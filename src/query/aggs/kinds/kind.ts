import { refuse } from '../../../lib/errors.ts'
import type { Kind } from '../../../mapping/index.ts'
import { createDateReader } from '../../dates/reader.ts'
import { type JsonNode, toScalar, toText, toWhole, where } from '../../json-node.ts'
import {
  type BodyKey,
  itself,
  type KeyTable,
  key,
  optionalKey,
  readBodyKeys,
  SCHEMAS,
  type ValuesOf,
} from '../../keys.ts'
import type { QueryScope } from '../../scope.ts'
import type { Aggregation, AggregationSpec, Gives } from '../ast.ts'
/** What an aggregation is read against. `kind` of the scope is not looked at: it is of all kinds. */
export type AggregationScope = Omit<QueryScope, 'kind'>

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
  gives: Gives
  /** What its body may hold; undefined of one whose body is a query. */
  keys?: Readonly<Record<string, Pick<BodyKey, 'schema'>>>
  /** The meaning of the aggregation's body. */
  read(place: JsonNode, scope: AggregationScope, at: AggregationPlace): AggregationSpec
  /** What aggregations inside of it are read against, where that is not the same. */
  inside?(spec: AggregationSpec, scope: AggregationScope): AggregationScope
  /** Looks at the aggregations inside, once they are known. */
  check?(place: JsonNode, spec: AggregationSpec, aggs: readonly Aggregation[]): void
}

/** Where in the tree an aggregation stands. */
interface AggregationPlace {
  name: string
  /** The types of those around it, the outermost first. */
  around: readonly string[]
}

/** Where a body stands, and what it is read against. */
export interface AggregationBody {
  place: JsonNode
  scope: AggregationScope
  at: AggregationPlace
}

interface AggregationDeclaration<K extends KeyTable> extends Omit<AggregationKind, 'read' | 'keys'> {
  keys: K
  /** Keys that are accepted and mean nothing. */
  ignored?: readonly string[]
  /** What the body should be. Default: an object such as the example. */
  expected?: string
  spec(keys: ValuesOf<K>, body: AggregationBody): AggregationSpec
}

/** A kind of aggregation by the keys of its body. */
export const aggregation = <K extends KeyTable>(declaration: AggregationDeclaration<K>): AggregationKind => {
  const { keys, ignored = [], expected, spec, ...kind } = declaration
  return {
    ...kind,
    keys,
    read: (place, scope, at) =>
      spec(readBodyKeys(place, expected ?? like(kind.example), keys, ignored), { place, scope, at }),
  }
}

export const like = (example: unknown): string =>
  `an object such as ${JSON.stringify(example).replaceAll('":', '": ').replaceAll(',"', ', "')}`

/** Refuses a value, with the type that Elasticsearch gives such an error. */
export const illegal = (place: JsonNode, why: string) => refuse('illegal_argument_exception', `${where(place)}: ${why}`)

/** A name or a format, which is read together with other keys. */
export const nameKey: BodyKey<JsonNode | undefined> = optionalKey(itself, SCHEMAS.text)
export const wholeKey = (least: number, fallback: number): BodyKey<number> =>
  key(place => readCount(place, least, fallback), SCHEMAS.whole)
export const scriptKey = optionalKey((place): undefined => {
  throw illegal(place, 'scripts are not supported. Name a [field].')
})

interface DateKeys {
  format?: JsonNode | undefined
  time_zone?: JsonNode | undefined
}

/** Reads dates in the format and the zone that a body names. Numbers are milliseconds, unless they are read as texts. */
export const datesIn = (
  { format, time_zone }: DateKeys,
  scope: AggregationScope,
  numbers: 'milliseconds' | 'text',
): ((at: JsonNode) => number) => {
  const reader = createDateReader({
    ...scope,
    ...(format && { format: { place: format, text: toText(format, 'a date format') } }),
    ...(time_zone && { zone: { place: time_zone, text: toText(time_zone, 'a time zone') } }),
  })
  return at =>
    typeof at.value === 'number' && numbers === 'milliseconds'
      ? at.value
      : reader.read(at, toScalar(at, 'a date'), false)
}

/** An integer from a least one on. */
export const readCount = (place: JsonNode | undefined, least: number, fallback: number): number => {
  if (place === undefined) return fallback
  const value = toWhole(place, `an integer from ${least} on`)
  if (value >= least) return value
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: expected an integer from ${least} on, received ${value}.`,
  )
}
