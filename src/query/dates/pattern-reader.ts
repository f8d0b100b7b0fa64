import type { PatternPart, TimeField } from './pattern.ts'
import { type LocalTime, resolveFields, type TimeValues } from './resolve.ts'

/**
 * Reads texts by a pattern as java.time does: strictly and without a second try, except that an
 * optional part may be absent. With `up`, missing units become their last value.
 */
export const createPatternReader = (pattern: readonly PatternPart[]) => {
  const steps = readStepsOf(pattern)
  const named = patternFields(pattern)
  return (text: string, up: boolean): LocalTime | undefined => {
    const state: ReadState = { values: new Map(), offset: undefined, zone: undefined }
    if (readSteps(steps, text, 0, state) !== text.length) return undefined
    if (up) fillUp(state.values, named)
    return resolveFields(state, !up)
  }
}

interface ReadState {
  values: TimeValues
  offset: number | undefined
  zone: string | undefined
}

/** Reads from a position; answers the position after it, or -1. */
type ReadStep = (text: string, from: number, state: ReadState) => number

const readSteps = (steps: readonly ReadStep[], text: string, from: number, state: ReadState): number => {
  let at = from
  for (const step of steps) {
    at = step(text, at, state)
    if (at < 0) return -1
  }
  return at
}

/** A number without a fixed width leaves the digits that adjacent numbers of fixed width need. */
const readStepsOf = (parts: readonly PatternPart[]): ReadStep[] =>
  parts.map((part, i) => {
    if (part.kind !== 'number') return readStepOf(part)
    let reserved = 0
    let next = i + 1
    for (let width = fixedWidthOf(parts[next]); width > 0; width = fixedWidthOf(parts[++next])) reserved += width
    const isAdjacent = next > i + 1 || (i > 0 && fixedWidthOf(parts[i - 1]) > 0)
    return numberStep(part, fixedWidthOf(part) > 0 ? 0 : reserved, isAdjacent)
  })

/** Digits of a part of fixed width; 0 for others. */
const fixedWidthOf = (part: PatternPart | undefined): number => {
  switch (part?.kind) {
    case 'number':
      return part.sign === 'none' && part.min === part.max ? part.min : 0
    case 'two digits':
      return 2
    case 'fraction':
      return part.digits
    default:
      return 0
  }
}

const readStepOf = (part: Exclude<PatternPart, { kind: 'number' }>): ReadStep => {
  switch (part.kind) {
    case 'literal':
      return (text, from) => (text.startsWith(part.text, from) ? from + part.text.length : -1)
    case 'two digits':
      return digitsStep(2, (state, digits) => put(state, part.field, 2000 + Number(digits)))
    case 'fraction':
      return digitsStep(part.digits, (state, digits) => put(state, 'nanosecond', Number(digits.padEnd(9, '0'))))
    case 'name': {
      const longestFirst = part.names.toSorted((a, b) => b.length - a.length)
      return (text, from, state) => {
        const name = longestFirst.find(name => text.startsWith(name, from))
        if (name === undefined || !put(state, part.field, part.names.indexOf(name) + part.first)) return -1
        return from + name.length
      }
    }
    case 'offset':
      return offsetStep(part)
    case 'offset from GMT': {
      const expression = part.full
        ? /GMT(?:([+-]\d{2}):([0-5]\d)(?::([0-5]\d))?)?/y
        : /GMT(?:([+-]\d{1,2})(?::([0-5]\d)(?::([0-5]\d))?)?)?/y
      return expressionStep(expression, putOffset)
    }
    case 'zone':
      return expressionStep(/Z(?![A-Za-z])|(?:UTC?|GMT)?[+-]\d{2}:\d{2}|[A-Za-z][\w+/-]+/y, (state, [zone]) => {
        state.zone = zone!.replace(/^(?:UTC?|GMT)(?=[+-])/, '')
        return true
      })
    case 'optional': {
      const steps = readStepsOf(part.parts)
      return (text, from, state) => {
        const before = { ...state, values: new Map(state.values) }
        const at = readSteps(steps, text, from, state)
        if (at >= 0) return at
        Object.assign(state, before)
        return from
      }
    }
  }
}

const put = ({ values }: ReadState, field: TimeField, value: number): boolean => {
  const known = values.get(field)
  values.set(field, value)
  return known === undefined || known === value
}

const digitsStep = (count: number, take: (state: ReadState, digits: string) => boolean): ReadStep =>
  expressionStep(new RegExp(`\\d{${count}}`, 'y'), (state, [digits]) => take(state, digits!))

const expressionStep =
  (expression: RegExp, take: (state: ReadState, groups: RegExpExecArray) => boolean): ReadStep =>
  (text, from, state) => {
    expression.lastIndex = from
    const found = expression.exec(text)
    return found && take(state, found) ? expression.lastIndex : -1
  }

const numberStep = (
  { field, min, max, sign }: PatternPart & { kind: 'number' },
  reserved: number,
  isAdjacent: boolean,
): ReadStep => {
  const isFixed = sign === 'none' && min === max && isAdjacent
  return (text, from, state) => {
    const first = text[from]
    const isSigned = first === '-' || first === '+'
    if (isSigned && (sign === 'none' || isFixed || (first === '+' && sign === 'minus'))) return -1
    const start = isSigned ? from + 1 : from
    let digits = 0
    while (digits < max + reserved && isDigit(text, start + digits)) digits++
    if (reserved > 0) digits = Math.max(min, digits - reserved)
    digits = Math.min(digits, max)
    if (digits < min || !isDigit(text, start + digits - 1)) return -1
    const value = Number(text.slice(start, start + digits))
    if (first === '-' && value === 0) return -1
    // A plus stands before more digits than letters, and only there.
    if (sign === 'exceeds' && (first === '+' ? digits <= min : first !== '-' && digits > min)) return -1
    return put(state, field, first === '-' ? -value : value) ? start + digits : -1
  }
}

const isDigit = (text: string, at: number): boolean => text[at]! >= '0' && text[at]! <= '9'

const offsetStep = ({ zero, colon, minutes, seconds }: PatternPart & { kind: 'offset' }): ReadStep => {
  const rest = `${colon}([0-5]\\d)`
  const parts = [`([+-]\\d{2})`, minutes === 'needed' ? `(?:${rest})?` : rest, ...(seconds ? [`(?:${rest})?`] : [])]
  const step = expressionStep(new RegExp(parts.join(''), 'y'), putOffset)
  return (text, from, state) => {
    if (!text.startsWith(zero, from)) return step(text, from, state)
    state.offset = 0
    return from + zero.length
  }
}

const putOffset = (state: ReadState, [, hours = '+0', minutes = '0', seconds = '0']: RegExpExecArray): boolean => {
  const size = Math.abs(Number(hours)) * 3600 + Number(minutes) * 60 + Number(seconds)
  if (size > 18 * 3600) return false
  state.offset = size * (hours.startsWith('-') ? -1000 : 1000)
  return true
}

const patternFields = (parts: readonly PatternPart[]): ReadonlySet<TimeField> =>
  new Set(
    parts.flatMap(part =>
      part.kind === 'optional' ? [...patternFields(part.parts)] : 'field' in part ? [part.field] : [],
    ),
  )

/** As Elasticsearch does: a time with `h` but without `a` ends in the afternoon. */
const fillUp = (values: TimeValues, named: ReadonlySet<TimeField>): void => {
  const fill = (field: TimeField, value: number) => {
    if (!values.has(field)) values.set(field, value)
  }
  if (named.has('day of year')) fill('day of year', 1)
  else if (!named.has('year of weeks') && !named.has('week')) {
    fill('month', 1)
    fill('day', 1)
  }
  const half = (['clock hour of half', 'hour of half'] as const).find(field => named.has(field))
  if (half === undefined) fill('hour', 23)
  else {
    fill(half, 11)
    fill('half of day', 1)
  }
  fill('minute', 59)
  fill('second', 59)
  fill('nanosecond', 999_999_999)
}
