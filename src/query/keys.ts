import { expectKeys, type JsonNode, toBoolean, toText, toWhole, unexpected } from './json-node.ts'
import { readDouble } from './numbers.ts'

/** Reader of a key's value, and its schema for the API description. */
export interface BodyKey<T = unknown> {
  /** Also called for an absent key. */
  readonly read: (place: JsonNode | undefined) => T
  readonly schema: Readonly<Record<string, unknown>>
  /** Completes "expected an object with [the key]" if it is missing; undefined if optional. */
  readonly needs?: string
}

export type KeyTable = Readonly<Record<string, BodyKey>>
export type ValuesOf<K extends KeyTable> = { readonly [N in keyof K]: K[N] extends BodyKey<infer T> ? T : never }

/** Reads an object's values. Refuses unknown keys first, then missing keys, then wrong values. */
export const readBodyKeys = <K extends KeyTable>(
  place: JsonNode,
  expected: string,
  keys: K,
  ignored?: readonly string[],
): ValuesOf<K> => {
  const table = compileKeys(keys)
  const given = expectKeys(place, expected, table.names, ignored)
  for (const [name, needs] of table.needed)
    if (given[name] === undefined) throw unexpected(place, `an object with [${name}]${needs}`)
  return readKeyValues(keys, given)
}

/** Reads values of keys that were already split. */
export const readKeyValues = <K extends KeyTable>(keys: K, given: Partial<Record<string, JsonNode>>): ValuesOf<K> => {
  const { names, absent } = compileKeys(keys)
  const values: Record<string, unknown> = { ...absent }
  for (const name of names) {
    const place = given[name]
    if (place !== undefined) values[name] = keys[name]!.read(place)
  }
  return values as ValuesOf<K>
}

interface CompiledKeys {
  names: readonly string[]
  needed: readonly [name: string, needs: string][]
  /** Values of all optional keys as read for an empty object. */
  absent: Readonly<Record<string, unknown>>
}

/** Every search reads several tables, most of whose keys are absent. */
const compileKeys = (keys: KeyTable): CompiledKeys => {
  let table = compiledKeys.get(keys)
  if (!table) {
    const entries = Object.entries(keys)
    table = {
      names: entries.map(([name]) => name),
      needed: entries.flatMap(([name, { needs }]) => (needs === undefined ? [] : [[name, needs]])),
      absent: Object.fromEntries(
        entries.map(([name, { needs, read }]) => [name, needs === undefined ? read(undefined) : undefined]),
      ),
    }
    compiledKeys.set(keys, table)
  }
  return table
}
const compiledKeys = new WeakMap<KeyTable, CompiledKeys>()

/** JSON Schema of an object with only these keys; clients must send those in `required`. */
export const schemaOf = <K extends KeyTable>(keys: K, ...required: (keyof K & string)[]) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema])),
  ...(required.length > 0 && { required }),
  additionalProperties: false,
})

export const key = <T>(read: (place: JsonNode | undefined) => T, schema: BodyKey['schema'] = {}): BodyKey<T> => ({
  read,
  schema,
})

export const optionalKey = <T>(read: (place: JsonNode) => T, schema: BodyKey['schema'] = {}): BodyKey<T | undefined> =>
  key(place => place && read(place), schema)

export const keyOr = <T>(fallback: T, read: (place: JsonNode) => T, schema: BodyKey['schema'] = {}): BodyKey<T> =>
  key(place => (place === undefined ? fallback : read(place)), schema)

export const neededKey = <T>(read: (place: JsonNode) => T, schema: BodyKey['schema'] = {}, needs = ''): BodyKey<T> => ({
  ...key(place => read(place!), schema),
  needs,
})

/** Null counts as absent. */
export const nullableKey = <T>(read: (place: JsonNode) => T, schema: BodyKey['schema'] = {}): BodyKey<T | undefined> =>
  key(place => (place === undefined || place.value === null ? undefined : read(place)), schema)

export const itself = (place: JsonNode): JsonNode => place
export const asText = (expected: string) => (place: JsonNode) => toText(place, expected)
export const asInteger = (expected: string) => (place: JsonNode) => toWhole(place, expected)

export const natural = (place: JsonNode): number => {
  const number = toWhole(place, 'an integer from 0 on')
  if (number < 0) throw unexpected(place, 'an integer from 0 on')
  return number
}

export const direction = (place: JsonNode, expected = '"asc" or "desc"'): 'asc' | 'desc' => {
  const order = toText(place, expected).toLowerCase()
  if (order !== 'asc' && order !== 'desc') throw unexpected(place, expected)
  return order
}

const queryReference = { $ref: '#/components/schemas/Query' }
/** Clients write numbers and switches as text, too. */
export const SCHEMAS = {
  query: queryReference,
  queries: { anyOf: [queryReference, { type: 'array', items: queryReference }, { type: 'null' }] },
  text: { type: 'string' },
  texts: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  flag: { type: ['boolean', 'string'] },
  whole: { type: ['integer', 'string'] },
  number: { type: ['number', 'string'] },
} as const

export const booleanKey: BodyKey<boolean | undefined> = optionalKey(toBoolean, SCHEMAS.flag)
/** A switch that null leaves as it is. */
export const booleanKeyOr = (fallback: boolean): BodyKey<boolean> =>
  key(place => (place === undefined || place.value === null ? fallback : toBoolean(place)), SCHEMAS.flag)
export const doubleKey: BodyKey<number | undefined> = nullableKey(readDouble, SCHEMAS.number)
export const nodeKey: BodyKey<JsonNode | undefined> = optionalKey(itself)
