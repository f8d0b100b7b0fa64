import { refuse } from '../../../lib/errors.ts'
import type { Kind } from '../../../mapping/index.ts'
import { createDateReader } from '../../dates/reader.ts'
import type { Rounding } from '../../dates/rounding.ts'
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
/** The scope of all searched kinds. */
export type AggregationScope = Omit<QueryScope, 'kind'>

export interface AggregationKind {
  /** The meaning, for the reference docs. */
  doc: string
  /** Differences from Elasticsearch, for the reference docs. */
  limit?: string
  /** A valid body, for the reference docs. */
  example: unknown
  /** The kind that the example searches. Default: events. */
  on?: Kind
  gives: Gives
  /** Undefined if the body is a query. */
  keys?: Readonly<Record<string, Pick<BodyKey, 'schema'>>>
  read(place: JsonNode, scope: AggregationScope, at: AggregationPlace): AggregationSpec
  /** The scope of inner aggregations, if it differs. */
  inside?(spec: AggregationSpec, scope: AggregationScope): AggregationScope
  /** Checks the inner aggregations. */
  check?(place: JsonNode, spec: AggregationSpec, aggs: readonly Aggregation[]): void
}

interface AggregationPlace {
  name: string
  /** Types of the enclosing aggregations, outermost first. */
  around: readonly string[]
  /** Of the innermost histogram of dates around it. */
  rounding: Rounding | undefined
}

export interface AggregationBody {
  place: JsonNode
  scope: AggregationScope
  at: AggregationPlace
}

interface AggregationDeclaration<K extends KeyTable> extends Omit<AggregationKind, 'read' | 'keys'> {
  keys: K
  /** Accepted keys without effect. */
  ignored?: readonly string[]
  /** The expected body in error messages. Default: the example. */
  expected?: string
  spec(keys: ValuesOf<K>, body: AggregationBody): AggregationSpec
}

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

export const illegal = (place: JsonNode, why: string) => refuse('illegal_argument_exception', `${where(place)}: ${why}`)

/** Read later, together with other keys. */
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

/** Reads dates in the body's format and time zone. */
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

export const readCount = (place: JsonNode | undefined, least: number, fallback: number): number => {
  if (place === undefined) return fallback
  const value = toWhole(place, `an integer from ${least} on`)
  if (value >= least) return value
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: expected an integer from ${least} on, received ${value}.`,
  )
}
