import { boolean, integer, type JsonNode, known, string, unexpected } from './json-node.ts'
import { readDouble } from './numbers.ts'

/** How the value of a key is read: once, for what reads a request as well as for the description of the API. */
export interface Key<T = unknown> {
  /** Also told where the key is absent. */
  readonly read: (place: JsonNode | undefined) => T
  /** As JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>
  /** What follows "expected an object with [the key]" where it is absent; undefined where it may be. */
  readonly needs?: string
}

export type Keys = Readonly<Record<string, Key>>
export type ValuesOf<K extends Keys> = { readonly [N in keyof K]: K[N] extends Key<infer T> ? T : never }

/** The values of an object's keys. Unknown keys are refused by name, then absent ones that are needed, then wrong values. */
export const readKeys = <K extends Keys>(
  place: JsonNode,
  expected: string,
  keys: K,
  ignored?: readonly string[],
): ValuesOf<K> => {
  const given = known(place, expected, Object.keys(keys), ignored)
  for (const [name, { needs }] of Object.entries(keys))
    if (needs !== undefined && given[name] === undefined) throw unexpected(place, `an object with [${name}]${needs}`)
  return valuesOf(keys, given)
}

/** The values of keys that were told apart already. */
export const valuesOf = <K extends Keys>(keys: K, given: Partial<Record<string, JsonNode>>): ValuesOf<K> =>
  Object.fromEntries(Object.entries(keys).map(([name, { read }]) => [name, read(given[name])])) as ValuesOf<K>

/** An object that has these keys and no others, as JSON Schema. `required` names those that a client has to send. */
export const schemaOf = <K extends Keys>(keys: K, ...required: (keyof K & string)[]) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema])),
  ...(required.length > 0 && { required }),
  additionalProperties: false,
})

export const key = <T>(read: (place: JsonNode | undefined) => T, schema: Key['schema'] = {}): Key<T> => ({
  read,
  schema,
})

/** Undefined where it is absent. */
export const optional = <T>(read: (place: JsonNode) => T, schema: Key['schema'] = {}): Key<T | undefined> =>
  key(place => place && read(place), schema)

/** `fallback` where it is absent. */
export const or = <T>(fallback: T, read: (place: JsonNode) => T, schema: Key['schema'] = {}): Key<T> =>
  key(place => (place === undefined ? fallback : read(place)), schema)

export const needed = <T>(read: (place: JsonNode) => T, schema: Key['schema'] = {}, needs = ''): Key<T> => ({
  ...key(place => read(place!), schema),
  needs,
})

/** Null counts as absent. */
export const orNull = <T>(read: (place: JsonNode) => T, schema: Key['schema'] = {}): Key<T | undefined> =>
  key(place => (place === undefined || place.value === null ? undefined : read(place)), schema)

export const itself = (place: JsonNode): JsonNode => place
export const asText = (expected: string) => (place: JsonNode) => string(place, expected)
export const asInteger = (expected: string) => (place: JsonNode) => integer(place, expected)

/** An integer from 0 on. */
export const natural = (place: JsonNode): number => {
  const number = integer(place, 'an integer from 0 on')
  if (number < 0) throw unexpected(place, 'an integer from 0 on')
  return number
}

export const direction = (place: JsonNode, expected = '"asc" or "desc"'): 'asc' | 'desc' => {
  const order = string(place, expected).toLowerCase()
  if (order !== 'asc' && order !== 'desc') throw unexpected(place, expected)
  return order
}

const query = { $ref: '#/components/schemas/Query' }
/** Clients write numbers and switches as text, too. */
export const SCHEMAS = {
  query,
  queries: { anyOf: [query, { type: 'array', items: query }, { type: 'null' }] },
  text: { type: 'string' },
  texts: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  flag: { type: ['boolean', 'string'] },
  whole: { type: ['integer', 'string'] },
  number: { type: ['number', 'string'] },
} as const

export const flag: Key<boolean | undefined> = optional(boolean, SCHEMAS.flag)
/** A switch that null leaves as it is. */
export const flagOr = (fallback: boolean): Key<boolean> =>
  key(place => (place === undefined || place.value === null ? fallback : boolean(place)), SCHEMAS.flag)
export const double: Key<number | undefined> = orNull(readDouble, SCHEMAS.number)
export const given: Key<JsonNode | undefined> = optional(itself)
