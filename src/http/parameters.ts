import { refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest.ts'
import { parseTime } from '../lib/time.ts'
import { cut } from '../query/cut.ts'
import { listOf } from '../rules/place.ts'

/** Reads URL parameters that may be left out. What one of them cannot be is refused by its name. */

export const integerOf = (
  name: string,
  text: string | undefined,
  { min = 1, max = Number.MAX_SAFE_INTEGER } = {},
): number | undefined => {
  if (text === undefined) return undefined
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw wrong(name, text, `an integer ${bounds}`)
}

/** Epoch milliseconds. As everywhere, a time without a zone is UTC. */
export const timeOf = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const at = parseTime(text)
  if (at === undefined) throw wrong(name, text, 'a time in ISO 8601 such as "2024-05-17T12:00:00Z"')
  return at
}

export const oneOfThese = <const T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined => {
  if (text === undefined || known.includes(text as T)) return text as T | undefined
  throw wrong(name, text, listOf(known, 'or'), didYouMean(cut(text), known))
}

export const flagOf = (name: string, text: string | undefined): boolean =>
  text === '' || oneOfThese(name, text, ['true', 'false']) === 'true'

export const addressOf = (name: string, text: string | undefined): string | undefined =>
  hexOf(name, text, 20, 'an address')

/** Lower case. */
export const hexOf = (name: string, text: string | undefined, bytes: number, what: string): string | undefined => {
  if (text === undefined) return undefined
  if (/^0x[0-9a-f]+$/i.test(text) && text.length === 2 + 2 * bytes) return text.toLowerCase()
  throw wrong(name, text, `${what} of 0x and ${2 * bytes} hex digits`)
}

const wrong = (name: string, text: string, what: string, remedy = '') =>
  refuse(
    'illegal_argument_exception',
    `The URL parameter [${name}] must be ${what}, not ${cut(JSON.stringify(text))}.${remedy}`,
  )
