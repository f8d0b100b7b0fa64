import { ENCODINGS, type FieldPath, type Kind, lookup } from '../../src/mapping/index.ts'
import { isRaw, isRecord, type Value } from './json.ts'

/** A document as the server shows it; integers beyond 2^53 are bigints. */
export interface Shown {
  _id: string
  _parent?: string
  _source: Record<string, unknown>
}

/** What one reading of a query is held against, and what it did not understand. */
export interface Reading {
  kind: Kind
  kinds: readonly Kind[]
  documents: Record<Kind, readonly Shown[]>
  unknown(why: string): Test
}

/** `inside` is the document's source, or the element of a nested list. */
export type Test = (inside: Record<string, unknown>, document: Shown) => boolean

/** `list` is the nested list that the clause looks into. */
export type Reader = (body: Value, list: string | undefined, reading: Reading) => Test

export class Refusal extends Error {}
export const refuse = (why: string): never => {
  throw new Refusal(why)
}

/** The members of an object of which others than these must be refused. */
export const only = (body: Value, names: readonly string[]): Record<string, Value> => {
  if (!isRecord(body)) return refuse('no object')
  for (const name of Object.keys(body))
    if (!names.includes(name) && !IGNORED.includes(name)) refuse(`an unknown key ${name}`)
  return body
}
export const IGNORED = ['boost', '_name']

/** The name of the one field and what is said of it. */
export const oneField = (body: Value): [string, Value] => {
  if (!isRecord(body)) return refuse('no object with a field')
  const names = Object.keys(body)
  return names.length === 1 ? [names[0]!, body[names[0]!]!] : refuse(`${names.length} fields`)
}

/** The field's values as the clause sees them, or that none has such a field. */
export const fieldTest = (
  name: string,
  list: string | undefined,
  reading: Reading,
  make: (field: FieldPath) => (values: readonly unknown[]) => boolean,
): Test => {
  const field = lookup(reading.kind, name)
  if (field === undefined) {
    if (reading.kinds.some(kind => lookup(kind, name) !== undefined)) return () => false
    return name.startsWith('_') ? reading.unknown(name) : refuse(`no field ${name}`)
  }
  if (field.compare === 'integer') return reading.unknown(name)
  const test = make(field)
  return sees(field, list) ? inside => test(valuesAt(inside, stepsOf(field, list))) : () => false
}

export const sees = (field: FieldPath, list: string | undefined): boolean =>
  list === undefined ? !field.list?.nested : field.list?.nested === true && field.list.name === list

export const stepsOf = (field: FieldPath, list: string | undefined): string[] => {
  const shownWhole = Object.hasOwn(ENCODINGS[field.kind], '')
  const steps = (shownWhole ? field.field : field.path).split('.')
  return list === undefined ? steps : steps.slice(list.split('.').length)
}

export const valuesAt = (value: unknown, steps: readonly string[]): unknown[] => {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap(element => valuesAt(element, steps))
  const [step, ...rest] = steps
  return step === undefined ? [value] : valuesAt((value as Record<string, unknown>)[step], rest)
}

/** A value in its short form, or in its long one with options. */
export const longOrShort = (said: Value, key: string, options: readonly string[], reading: Reading): Value => {
  if (!isRecord(said)) return said
  const keys = only(said, [key, ...options])
  if (options.some(option => keys[option] !== undefined)) reading.unknown(`options of ${key}`)
  return keys[key] ?? refuse(`no ${key}`)
}

/** The text of a scalar as the server reads it. */
export const textOf = (value: Value): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  if (!isRaw(value)) return refuse('no scalar')
  const number = Number(value.raw)
  return /^-?\d+$/.test(value.raw) && Number.isSafeInteger(number) ? String(number) : value.raw
}
