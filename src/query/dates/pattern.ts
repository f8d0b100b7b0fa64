import type { ChainsieveError } from '../../lib/errors.ts'

/** A field of a time, as java.time names them in words. */
export type TimeField =
  | 'era'
  | 'year'
  | 'year of era'
  | 'year of weeks'
  | 'week'
  | 'week of month'
  | 'quarter'
  | 'month'
  | 'day'
  | 'day of year'
  | 'day of week'
  | 'day in its week of the month'
  | 'half of day'
  | 'hour of half'
  | 'clock hour of half'
  | 'hour'
  | 'clock hour'
  | 'minute'
  | 'second'
  | 'nanosecond'
  | 'millisecond of day'
  | 'nanosecond of day'

/** Part of a date pattern, to be written and read. */
export type PatternPart =
  | { kind: 'literal'; text: string }
  /** `sign`: a plus where the number exceeds `min` digits, or only a minus, or none. */
  | { kind: 'number'; field: TimeField; min: number; max: number; sign: 'exceeds' | 'minus' | 'none' }
  | { kind: 'two digits'; field: TimeField }
  | { kind: 'fraction'; digits: number }
  | { kind: 'name'; field: TimeField; names: readonly string[]; first: number }
  | { kind: 'offset'; zero: string; colon: string; minutes: 'always' | 'needed'; seconds: boolean }
  | { kind: 'offset from GMT'; full: boolean }
  | { kind: 'zone'; isName: boolean; isFull: boolean }
  | { kind: 'optional'; parts: readonly PatternPart[] }

/** Parts of a pattern of Java letters; `bad` makes the refusal. */
export const parseDatePattern = (pattern: string, bad: (why: string) => ChainsieveError): readonly PatternPart[] => {
  if (pattern === '' || pattern.length > LONGEST_PATTERN) throw bad(`it must have 1 to ${LONGEST_PATTERN} characters`)
  const open: PatternPart[][] = [[]]
  for (const piece of pattern.match(/'(?:[^']|'')*'|([A-Za-z])\1*|[\s\S]/g)!) {
    const parts = open.at(-1)!
    if (/^[A-Za-z]/.test(piece)) {
      const part = partOfLetter(piece[0]!, piece.length)
      if (part === undefined) throw bad(`[${piece}] is not supported`)
      parts.push(part)
    } else if (piece === "''") parts.push({ kind: 'literal', text: "'" })
    else if (piece.length > 1) parts.push({ kind: 'literal', text: piece.slice(1, -1).replaceAll("''", "'") })
    else if (piece === '[') open.push([])
    else if (piece === ']' && open.length > 1) {
      open.pop()
      open.at(-1)!.push({ kind: 'optional', parts })
    } else if (/[\]'{}#]/.test(piece)) throw bad(`[${piece}] has no meaning there`)
    else parts.push({ kind: 'literal', text: piece })
  }
  while (open.length > 1) {
    const parts = open.pop()!
    open.at(-1)!.push({ kind: 'optional', parts })
  }
  return open[0]!
}

const LONGEST_PATTERN = 100

const partOfLetter = (letter: string, count: number): PatternPart | undefined =>
  Object.hasOwn(LETTERS, letter) ? LETTERS[letter]!(count) : undefined

type LetterOf = (count: number) => PatternPart | undefined

/** A number of as many digits as it has, or of exactly as many as letters. */
const number =
  (field: TimeField, most = 2): LetterOf =>
  count => {
    if (count > most) return undefined
    return count === 1
      ? { kind: 'number', field, min: 1, max: MOST_DIGITS, sign: 'minus' }
      : { kind: 'number', field, min: count, max: most, sign: 'none' }
  }

/** A number of as many digits as letters, or of up to two. */
const fixedNumber =
  (field: TimeField, max?: number): LetterOf =>
  count =>
    count > 2 ? undefined : { kind: 'number', field, min: count, max: max ?? count, sign: 'none' }

/** A number of at least as many digits as letters. */
const longNumber =
  (field: TimeField): LetterOf =>
  count =>
    count > MOST_DIGITS ? undefined : { kind: 'number', field, min: count, max: MOST_DIGITS, sign: 'none' }

const yearNumber =
  (field: TimeField): LetterOf =>
  count => {
    if (count === 2) return { kind: 'two digits', field }
    if (count > MOST_DIGITS) return undefined
    return { kind: 'number', field, min: count, max: MOST_DIGITS, sign: count < 4 ? 'minus' : 'exceeds' }
  }

const MOST_DIGITS = 19

/** One or two letters are a number, three a short name, four a full one, five one letter. */
const numberOrName =
  (field: TimeField, short: readonly string[], full = short, narrow?: readonly string[]): LetterOf =>
  count => {
    if (count < 3) return number(field)(count)
    const names = count === 3 ? short : count === 4 ? full : count === 5 ? narrow : []
    if (names?.length === 0) return undefined
    return names ? { kind: 'name', field, names, first: 1 } : number(field)(1)
  }

const SHORT_MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH_NAMES = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]
/** Weeks begin on Mondays: Elasticsearch provides the ISO calendar to Java. */
const DAY_NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const SHORT_DAYS = DAY_NAMES.map(name => name.slice(0, 3))
const NARROW_DAYS = DAY_NAMES.map(name => name.slice(0, 1))
const QUARTER_NAMES = ['Q1', 'Q2', 'Q3', 'Q4']

const weekday = numberOrName('day of week', SHORT_DAYS, DAY_NAMES, NARROW_DAYS)
const month = numberOrName('month', SHORT_MONTHS, MONTH_NAMES)

const OFFSETS = [
  { colon: '', minutes: 'needed', seconds: false },
  { colon: '', minutes: 'always', seconds: false },
  { colon: ':', minutes: 'always', seconds: false },
  { colon: '', minutes: 'always', seconds: true },
  { colon: ':', minutes: 'always', seconds: true },
] as const

const offset = (count: number, zero: string): PatternPart | undefined =>
  count > OFFSETS.length ? undefined : { kind: 'offset', zero, ...OFFSETS[count - 1]! }

const offsetFromGmt: LetterOf = count =>
  count === 1 || count === 4 ? { kind: 'offset from GMT', full: count === 4 } : undefined

const LETTERS: Record<string, LetterOf> = {
  G: count => {
    const names = count < 4 ? ['BC', 'AD'] : count === 4 ? ['BCE', 'CE'] : ['B', 'A']
    return count > 5 ? undefined : { kind: 'name', field: 'era', names, first: 0 }
  },
  u: yearNumber('year'),
  y: yearNumber('year of era'),
  Y: yearNumber('year of weeks'),
  w: fixedNumber('week', 2),
  W: count => (count > 1 ? undefined : fixedNumber('week of month')(1)),
  Q: numberOrName('quarter', QUARTER_NAMES),
  q: count => (count > 5 ? undefined : number('quarter')(count > 2 ? 1 : count)),
  M: month,
  L: month,
  d: number('day'),
  D: number('day of year', 3),
  F: number('day in its week of the month', 1),
  E: count => weekday(Math.max(3, count)),
  e: count => (count < 3 ? fixedNumber('day of week')(count) : weekday(count)),
  c: count => (count === 1 ? fixedNumber('day of week')(1) : count === 2 ? undefined : weekday(count)),
  a: count => (count > 1 ? undefined : { kind: 'name', field: 'half of day', names: ['AM', 'PM'], first: 0 }),
  H: number('hour'),
  k: number('clock hour'),
  K: number('hour of half'),
  h: number('clock hour of half'),
  m: number('minute'),
  s: number('second'),
  S: count => (count > 9 ? undefined : { kind: 'fraction', digits: count }),
  A: longNumber('millisecond of day'),
  n: longNumber('nanosecond'),
  N: longNumber('nanosecond of day'),
  X: count => offset(count, 'Z'),
  x: count => offset(count, count === 1 ? '+00' : count === 3 || count === 5 ? '+00:00' : '+0000'),
  Z: count =>
    count <= 3 ? offset(2, '+0000') : count === 4 ? offsetFromGmt(4) : count === 5 ? offset(5, 'Z') : undefined,
  O: offsetFromGmt,
  V: count => (count === 2 ? { kind: 'zone', isName: false, isFull: false } : undefined),
  z: count => (count <= 4 ? { kind: 'zone', isName: true, isFull: count === 4 } : undefined),
}

export const PATTERN_LETTERS = Object.keys(LETTERS).join(' ')
