import { isRecord } from '../lib/arrays.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { type LimitName, type Limits, overLimit } from '../limits/index.ts'
import { shortenText } from '../query/json.ts'

/** A fault at one place of a rule, e.g. at `config.targetMap[0].value`. */
export interface RuleFault {
  path: string
  message: string
}

/** A value in what is checked. Faults are collected, so that all of them are reported. */
export interface InputPlace {
  readonly value: unknown
  readonly path: string
  /** The last step of its path, as sentences name it. */
  readonly label: string
  fault(message: string): void
  /** There are enough faults: to look for more is in vain. */
  full(): boolean
  member(name: string): InputPlace
  element(index: number): InputPlace
}

/** More faults than anybody reads: a list of a million wrong elements makes no huge response. */
export const MAX_FAULTS = 100

export const createInputPlace = (
  value: unknown,
  faults: RuleFault[],
  { path = '', label = 'The body' }: { path?: string; label?: string } = {},
): InputPlace => ({
  value,
  path,
  label,
  fault: message => {
    if (faults.length < MAX_FAULTS) faults.push({ path, message })
  },
  full: () => faults.length >= MAX_FAULTS,
  member: name =>
    createInputPlace(isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined, faults, {
      path: PLAIN_NAME.test(name)
        ? path === ''
          ? name
          : `${path}.${name}`
        : `${path}[${shortenText(JSON.stringify(name))}]`,
      label: shortenText(name),
    }),
  element: index =>
    createInputPlace((value as readonly unknown[])[index], faults, {
      path: `${path}[${index}]`,
      label: `${label}[${index}]`,
    }),
})

/** A fault of a rule that is an element of a list, or null if it is in none. */
export const faultInList = (index: number | null, { path, message }: RuleFault): RuleFault => ({
  path: index === null ? path : `[${index}]${path === '' || path.startsWith('[') ? '' : '.'}${path}`,
  message,
})

/** Reports a value that is wrong. `remedy` is a sentence of its own. */
export const reportExpected = ({ value, label, fault }: InputPlace, what: string, remedy = ''): undefined =>
  void fault(
    `${label} must be ${what}, ${value === undefined ? 'and is missing' : `not ${shortenValue(value)}`}.${remedy && ` ${remedy}`}`,
  )

export const shortenValue = (value: unknown): string => {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? shortenText(JSON.stringify(value)) : String(value)
}

/** Whether it is an object; unknown properties are faults. */
export const checkObject = (
  place: InputPlace,
  {
    what,
    known,
    tolerated = [],
    elsewhere = {},
  }: {
    what: string
    known: readonly string[]
    /** Properties without effect. */
    tolerated?: readonly string[]
    elsewhere?: Readonly<Record<string, string>>
  },
): boolean => {
  const { value } = place
  if (!isRecord(value)) {
    reportExpected(place, `an object with ${quotedList(known)}`)
    return false
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name) || tolerated.includes(name)) continue
    if (place.full()) break
    const why = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
    place
      .member(name)
      .fault(
        why ??
          `${shortenText(JSON.stringify(name))} is not a property of ${what}, which has ${quotedList(known)}.${didYouMean(shortenText(name), known)}`,
      )
  }
  return true
}

export const checkString = (place: InputPlace, what = 'a string'): string | undefined => {
  const { value } = place
  if (typeof value === 'string') return value
  return reportExpected(place, what, typeof value === 'number' ? `Put it in quotes: "${value}".` : '')
}

/** Whether a text has no more bytes than its limit allows. */
export const checkByteLength = ({ value, label, fault }: InputPlace, limit: LimitName, limits: Limits): boolean => {
  if (typeof value !== 'string' || Buffer.byteLength(value) <= limits[limit]) return true
  fault(overLimit(limit, limits, label).message)
  return false
}

export const checkOptional = (place: InputPlace, check: (place: InputPlace) => void): void => {
  if (place.value !== undefined) check(place)
}

export const checkFilled = (place: InputPlace, what = 'a string that is not empty'): string | undefined => {
  const value = checkString(place, what)
  return value === '' ? reportExpected(place, what) : value
}

export const checkOneOf = <const T extends string>(
  place: InputPlace,
  known: readonly T[],
  what: string,
): T | undefined => {
  const { value } = place
  if (known.includes(value as T)) return value as T
  return reportExpected(
    place,
    `${what}: ${quotedList(known, 'or')}`,
    typeof value === 'string' ? didYouMean(shortenText(value), known).trim() : '',
  )
}

export const checkBoolean = (place: InputPlace): boolean | undefined =>
  typeof place.value === 'boolean' ? place.value : reportExpected(place, 'true or false')

export const checkInteger = (
  place: InputPlace,
  { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER, orNull = false } = {},
): number | undefined => {
  const { value } = place
  if (orNull && value === null) return undefined
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  const bounds =
    min === Number.MIN_SAFE_INTEGER
      ? 'an integer'
      : max === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${min}`
        : `an integer from ${min} to ${max}`
  const remedy =
    Number.isInteger(value) && !Number.isSafeInteger(value)
      ? 'Integers above 2^53 - 1 lose digits in JSON.'
      : typeof value === 'string' && /^-?\d+$/.test(value)
        ? 'Write it without quotes.'
        : ''
  return reportExpected(place, orNull ? `${bounds}, or null` : bounds, remedy)
}

/** The first `max` elements of a list; more are a fault. */
export function* checkList(
  place: InputPlace,
  { of, min = 0, max = Number.POSITIVE_INFINITY }: { of: string; min?: 0 | 1; max?: number },
): Generator<InputPlace, void> {
  const { value } = place
  const count =
    max === Number.POSITIVE_INFINITY
      ? min === 0
        ? ''
        : 'one or more '
      : min === 0
        ? `at most ${max} `
        : `${min} to ${max} `
  const what = `a list of ${count}${of}`
  if (!Array.isArray(value)) {
    reportExpected(place, what)
    return
  }
  if (value.length < min || value.length > max) reportExpected(place, what)
  const end = Math.min(value.length, max)
  for (let index = 0; index < end && !place.full(); index++) yield place.element(index)
}

/** Elements that are not `good`: a list of a million good ones costs only a look at each. */
export function* elementsUnlike(place: InputPlace, good: (value: unknown) => boolean): Generator<InputPlace, void> {
  const { value } = place
  if (!Array.isArray(value)) return
  for (const [index, element] of value.entries()) {
    if (place.full()) return
    if (!good(element)) yield place.element(index)
  }
}

/** Reports texts that repeat another one. */
export const checkDistinctTexts = (places: readonly InputPlace[]): void => {
  for (const [i, place] of places.entries())
    if (places.findIndex(({ value }) => value === place.value) < i)
      place.fault(`${place.label} is in the list twice: leave it out.`)
}

/** `"a", "b" and "c"` */
export const quotedList = (names: readonly string[], and = 'and'): string => {
  const quoted = names.map(name => `"${name}"`)
  return quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} ${and} ${quoted.at(-1)}`
}

const PLAIN_NAME = /^[A-Za-z_$][\w$]{0,99}$/
