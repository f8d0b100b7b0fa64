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
  const entries = Object.entries(keys)
  for (const [name, { needs }] of entries)
    if (needs !== undefined && given[name] === undefined) throw unexpected(place, `an object with [${name}]${needs}`)
  return Object.fromEntries(entries.map(([name, { read }]) => [name, read(given[name])])) as ValuesOf<K>
}

export const key = <T>(read: (place: JsonNode | undefined) => T, schema: Key['schema'] = {}): Key<T> => ({
  read,
  schema,
})

/** Undefined where it is absent. */
export const optional = <T>(read: (place: JsonNode) => T, schema: Key['schema'] = {}): Key<T | undefined> =>
  key(place => place && read(place), schema)

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

const query = { $ref: '#/components/schemas/Query' }
/** Clients write numbers and switches as text, too. */
export const SCHEMAS = {
  query,
  queries: { anyOf: [query, { type: 'array', items: query }, { type: 'null' }] },
  text: { type: 'string' },
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
