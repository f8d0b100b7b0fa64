import { didYouMean } from '../lib/edit-distance.ts'
import { type ChainsieveError, refuse } from '../lib/errors.ts'
import { cut, type Json, type JsonObject, Numeral } from './json.ts'

/** A value of the body and where it stands, e.g. `query.bool.filter[1].term.gas`. */
export interface JsonNode {
  readonly path: string
  readonly value: Json
}

export const bodyNode = (value: Json): JsonNode => ({ path: '', value })

/** The members of an object with their places, in the order in which they were written. */
export const members = (place: JsonNode, expected: string): [name: string, place: JsonNode][] =>
  Array.from(object(place, expected), ([name, value]) => [name, inside(place, name, value)])

/** The elements of a list; anything else counts as a list of one. */
export const elements = (place: JsonNode): JsonNode[] =>
  Array.isArray(place.value) ? place.value.map((value: Json, i) => element(place, value, i)) : [place]

export const list = (place: JsonNode, expected: string): JsonNode[] => {
  if (!Array.isArray(place.value)) throw unexpected(place, expected)
  return elements(place)
}

/**
 * The members that the table knows, by name. What it does not know is refused by name with the nearest known one, unless it
 * is in `ignored`.
 */
export const known = <Name extends string>(
  place: JsonNode,
  expected: string,
  names: readonly Name[],
  ignored: readonly string[] = KEYS_OF_CLAUSES,
): Partial<Record<Name, JsonNode>> => {
  const found: Partial<Record<Name, JsonNode>> = {}
  for (const [name, inner] of members(place, expected)) {
    if ((names as readonly string[]).includes(name)) found[name as Name] = inner
    else if (!ignored.includes(name)) throw unknownKey(inner, name, names)
  }
  return found
}

/** Keys of any clause: how much its score counts, and its name. They are read where clauses are told apart. */
export const KEYS_OF_CLAUSES = ['boost', '_name'] as const

export const isObject = (value: Json): value is JsonObject => value instanceof Map

export const object = (place: JsonNode, expected: string): JsonObject => {
  if (!isObject(place.value)) throw unexpected(place, expected)
  return place.value
}

export const string = (place: JsonNode, expected: string): string => {
  if (typeof place.value !== 'string') throw unexpected(place, expected)
  return place.value
}

/** `true`, `false`, or the same as text, as Elasticsearch takes them. */
export const boolean = (place: JsonNode): boolean => {
  if (place.value === true || place.value === 'true') return true
  if (place.value === false || place.value === 'false') return false
  throw unexpected(place, 'true or false')
}

/** An integer, as a number or as a numeric string. */
export const integer = (place: JsonNode, expected: string): number => {
  const { value } = place
  const isNumeric = value instanceof Numeral || (typeof value === 'string' && /^-?\d+$/.test(value))
  const number = isNumeric ? Number(scalar(place, expected)) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw unexpected(place, expected)
  return number
}

/** The text of a scalar as it was written; objects, lists and null are refused. */
export const scalar = (place: JsonNode, expected: string): string => {
  const { value } = place
  if (value instanceof Numeral) return value.text
  if (value === null || typeof value === 'object') throw unexpected(place, expected)
  return String(value)
}

export const unexpected = (place: JsonNode, expected: string): ChainsieveError =>
  refuse('parsing_exception', `${where(place)}: expected ${expected}, received ${show(place.value)}.`)

const unknownKey = (place: JsonNode, name: string, names: readonly string[]): ChainsieveError =>
  refuse(
    'parsing_exception',
    `${where(place)}: unknown key ${named(name)}.${didYouMean(name, names)} Known are ${names.join(', ')}.`,
  )

export const where = (place: JsonNode): string => (place.path === '' ? 'the body' : place.path)

/** A received value, short enough for a message. */
export const show = (value: Json): string => {
  if (isObject(value))
    return value.size === 0 ? 'an empty object' : `an object with [${cut([...value.keys()].join(', '))}]`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (value instanceof Numeral) return cut(value.text)
  return cut(JSON.stringify(value))
}

/** A name from the body in the brackets of Elasticsearch's messages, short enough for one. */
export const named = (name: string): string => `[${cut(name)}]`

export const inside = (place: JsonNode, name: string, value: Json): JsonNode => ({
  path: place.path === '' ? cut(name) : `${place.path}.${cut(name)}`,
  value,
})

/** A member of an object; null where there is none. */
export const member = (place: JsonNode, name: string): JsonNode =>
  inside(place, name, isObject(place.value) ? (place.value.get(name) ?? null) : null)

const element = (place: JsonNode, value: Json, i: number): JsonNode => ({ path: `${place.path}[${i}]`, value })
