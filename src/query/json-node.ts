import { type ChainsieveError, refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { type JsonMap, type JsonValue, Numeral, shortenText } from './json.ts'

/** A value of the body and its path, e.g. `query.bool.filter[1].term.gas`. */
export interface JsonNode {
  readonly path: string
  readonly value: JsonValue
}

export const bodyNode = (value: JsonValue): JsonNode => ({ path: '', value })

export const members = (place: JsonNode, expected: string): [name: string, place: JsonNode][] => {
  const found: [string, JsonNode][] = []
  for (const [name, value] of toObject(place, expected)) found.push([name, placeMember(place, name, value)])
  return found
}

/** The elements of a list; anything else counts as a list of one. */
export const elements = (place: JsonNode): JsonNode[] =>
  Array.isArray(place.value) ? place.value.map((value: JsonValue, i) => element(place, value, i)) : [place]

export const toList = (place: JsonNode, expected: string): JsonNode[] => {
  if (!Array.isArray(place.value)) throw unexpected(place, expected)
  return elements(place)
}

/** Members by name. Refuses names in neither `names` nor `ignored`, with the nearest known one. */
export const expectKeys = <Name extends string>(
  place: JsonNode,
  expected: string,
  names: readonly Name[],
  ignored: readonly string[] = KEYS_OF_CLAUSES,
): Partial<Record<Name, JsonNode>> => {
  const found: Partial<Record<Name, JsonNode>> = {}
  for (const [name, value] of toObject(place, expected)) {
    if ((names as readonly string[]).includes(name)) found[name as Name] = placeMember(place, name, value)
    else if (!ignored.includes(name)) throw unknownKey(placeMember(place, name, value), name, names)
  }
  return found
}

/** Keys of every clause, read where clauses are dispatched. */
export const KEYS_OF_CLAUSES = ['boost', '_name'] as const

export const isJsonMap = (value: JsonValue): value is JsonMap => value instanceof Map

export const toObject = (place: JsonNode, expected: string): JsonMap => {
  if (!isJsonMap(place.value)) throw unexpected(place, expected)
  return place.value
}

export const toText = (place: JsonNode, expected: string): string => {
  if (typeof place.value !== 'string') throw unexpected(place, expected)
  return place.value
}

/** `true`, `false`, or the same as text, as Elasticsearch takes them. */
export const toBoolean = (place: JsonNode): boolean => {
  if (place.value === true || place.value === 'true') return true
  if (place.value === false || place.value === 'false') return false
  throw unexpected(place, 'true or false')
}

/** An integer, as a number or as a numeric string. */
export const toWhole = (place: JsonNode, expected: string): number => {
  const { value } = place
  const isNumeric = value instanceof Numeral || (typeof value === 'string' && /^-?\d+$/.test(value))
  const number = isNumeric ? Number(toScalar(place, expected)) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw unexpected(place, expected)
  return number
}

/** The text of a scalar as it was written; objects, lists and null are refused. */
export const toScalar = (place: JsonNode, expected: string): string => {
  const { value } = place
  if (value instanceof Numeral) return value.text
  if (value === null || typeof value === 'object') throw unexpected(place, expected)
  return String(value)
}

export const unexpected = (place: JsonNode, expected: string): ChainsieveError =>
  refuse('parsing_exception', `${where(place)}: expected ${expected}, received ${showJson(place.value)}.`)

const unknownKey = (place: JsonNode, name: string, names: readonly string[]): ChainsieveError =>
  refuse(
    'parsing_exception',
    `${where(place)}: unknown key ${bracketName(name)}.${didYouMean(name, names)} Known are ${names.join(', ')}.`,
  )

export const where = (place: JsonNode): string => (place.path === '' ? 'the body' : place.path)

export const showJson = (value: JsonValue): string => {
  if (isJsonMap(value))
    return value.size === 0 ? 'an empty object' : `an object with [${shortenText([...value.keys()].join(', '))}]`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (value instanceof Numeral) return shortenText(value.text)
  return shortenText(JSON.stringify(value))
}

/** A name in brackets, as in Elasticsearch's messages, shortened. */
export const bracketName = (name: string): string => `[${shortenText(name)}]`

export const placeMember = (place: JsonNode, name: string, value: JsonValue): JsonNode => ({
  path: place.path === '' ? shortenText(name) : `${place.path}.${shortenText(name)}`,
  value,
})

/** A member of an object; null if absent. */
export const memberNode = (place: JsonNode, name: string): JsonNode =>
  placeMember(place, name, isJsonMap(place.value) ? (place.value.get(name) ?? null) : null)

const element = (place: JsonNode, value: JsonValue, i: number): JsonNode => ({ path: `${place.path}[${i}]`, value })
