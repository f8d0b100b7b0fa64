import { refuse } from '../../lib/errors.ts'
import type { Kind } from '../../mapping/index.ts'
import { isObject, type JsonNode, known, members, named, unexpected, where } from '../json-node.ts'
import type { Scope } from '../scope.ts'
import type { Scored } from '../score.ts'

/** One kind of query clause. */
export interface Clause {
  /** What it means, for the reference docs. */
  doc: string
  /** What is not as in Elasticsearch, for the reference docs. */
  limit?: string
  /** The body of a working clause, for the reference docs. */
  example: unknown
  /** What the example searches. Default: events. */
  on?: Kind
  /** Whether it names one field, beside whose value its options stand: `boost` and `_name` among them. */
  fieldwise?: true
  /** The meaning of the clause's body, without `boost` and `_name`. `inner` reads a clause inside of it. */
  lower(place: JsonNode, scope: Scope, inner: (place: JsonNode, scope: Scope) => Scored): Scored
}

/** The one field that a clause such as `{"term": {"from": …}}` names. */
export const onlyField = (clause: string, place: JsonNode): [name: string, place: JsonNode] => {
  const [first, second] = members(place, `an object that names a field, such as {"${clause}": {"event": …}}`)
  if (first === undefined) throw unexpected(place, 'the name of a field')
  if (second === undefined) return first
  throw refuse(
    'parsing_exception',
    `${where(place)}: [${clause}] query doesn't support multiple fields, found ${named(first[0])} and ${named(second[0])}. Write one [${clause}] for each field, all in one bool.`,
  )
}

/** A value in its short form, or in its long one: `{"value": …, "boost": …}` with options. */
export const shortOrLong = <Name extends string, Option extends string>(
  place: JsonNode,
  name: Name,
  options: readonly Option[],
): { value: JsonNode } & Partial<Record<Option, JsonNode>> => {
  if (!isObject(place.value)) return { value: place } as { value: JsonNode } & Partial<Record<Option, JsonNode>>
  const { [name]: value, ...given } = known<Name | Option>(place, 'an object', [name, ...options])
  if (value === undefined) throw unexpected(place, `a value, or an object with [${name}]`)
  return { ...given, value } as { value: JsonNode } & Partial<Record<Option, JsonNode>>
}
