import { refuse } from '../../lib/errors.ts'
import type { Range } from '../../lib/ranges.ts'
import { shortenText } from '../json.ts'
import {
  ANY_CHARACTER,
  ANY_TEXT,
  both,
  chain,
  characterIn,
  complementOf,
  EMPTY_TEXT,
  type Expression,
  either,
  except,
  literalCharacter,
  NO_TEXT,
  numberBetween,
  repeatExpression,
} from './expression.ts'

/** Optional operators: `&`, `~`, `<1-9>`, `@` and `#`. */
export const REGEXP_OPERATORS = ['INTERSECTION', 'COMPLEMENT', 'INTERVAL', 'ANYSTRING', 'EMPTY'] as const
export type RegexpOperator = (typeof REGEXP_OPERATORS)[number]

/** Parses Lucene's regular expressions: always anchored, so `^` and `$` are plain characters. */
export const parseRegexp = (text: string, operators: readonly RegexpOperator[], ignoreCase = false): Expression => {
  const characters = Array.from(text)
  let at = 0
  let depth = 0
  const has = (operator: RegexpOperator) => operators.includes(operator)
  const peek = (some: string) => at < characters.length && some.includes(characters[at]!)
  const take = (character: string) => peek(character) && ++at > 0
  const fault = (why: string) =>
    refuse('illegal_argument_exception', `the regular expression ${JSON.stringify(shortenText(text))} ${why}`)
  const next = (): string => {
    const character = characters[at++]
    if (character === undefined) throw fault('ends where something is missing.')
    return character
  }
  const escaped = (): string => {
    take('\\')
    return next()
  }

  const union = (): Expression => {
    // Groups are read by recursion.
    if (++depth > DEEPEST_EXPRESSION) throw fault(`has more than ${DEEPEST_EXPRESSION} groups inside of each other.`)
    const parts = [intersection()]
    while (take('|')) parts.push(intersection())
    depth--
    return either(parts)
  }
  const intersection = (): Expression => {
    const parts = [sequence()]
    while (has('INTERSECTION') && take('&')) parts.push(sequence())
    return both(parts)
  }
  const sequence = (): Expression => {
    const parts: Expression[] = []
    do parts.push(repeated())
    while (at < characters.length && !peek(')|') && !(has('INTERSECTION') && peek('&')))
    return chain(parts)
  }
  const repeated = (): Expression => {
    let expression = complement()
    while (peek('?*+{')) {
      if (take('?')) expression = repeatExpression(expression, 0, 1)
      else if (take('*')) expression = repeatExpression(expression, 0, Number.POSITIVE_INFINITY)
      else if (take('+')) expression = repeatExpression(expression, 1, Number.POSITIVE_INFINITY)
      else {
        at++
        const least = integer()
        const most = take(',') ? (peek('0123456789') ? integer() : Number.POSITIVE_INFINITY) : least
        if (!take('}')) throw fault('lacks a } behind a number of repetitions.')
        expression = most < least ? NO_TEXT : repeatExpression(expression, least, most)
      }
    }
    return expression
  }
  const integer = (): number => {
    const start = at
    while (peek('0123456789')) at++
    const count = Number(characters.slice(start, at).join(''))
    if (at === start) throw fault('lacks a number of repetitions behind a {.')
    if (count > MOST_REPEATED) throw fault(`repeats more than ${MOST_REPEATED} times.`)
    return count
  }
  const complement = (): Expression => {
    let times = 0
    while (has('COMPLEMENT') && take('~')) times++
    const expression = simple()
    return times % 2 === 1 ? complementOf(expression) : expression
  }
  const simple = (): Expression => {
    if (take('[')) return set()
    if (take('.')) return ANY_CHARACTER
    if (has('EMPTY') && take('#')) return NO_TEXT
    if (has('ANYSTRING') && take('@')) return ANY_TEXT
    if (take('"')) return quoted()
    if (take('(')) {
      if (take(')')) return EMPTY_TEXT
      const inner = union()
      if (!take(')')) throw fault('lacks a ).')
      return inner
    }
    if (has('INTERVAL') && take('<')) return numbers()
    return literalCharacter(escaped(), ignoreCase)
  }
  const quoted = (): Expression => {
    const start = at
    while (at < characters.length && !peek('"')) at++
    if (!take('"')) throw fault('lacks a closing quote.')
    return chain(characters.slice(start, at - 1).map(character => literalCharacter(character, ignoreCase)))
  }
  const set = (): Expression => {
    const isNegated = take('^')
    const ranges: Range[] = []
    do {
      const from = escaped().codePointAt(0)!
      const to = take('-') ? (peek(']') ? undefined : escaped().codePointAt(0)!) : from
      if (to === undefined) ranges.push({ from, to: from }, { from: 45, to: 45 })
      else if (to < from) throw fault('has a range whose end comes before its beginning.')
      else ranges.push({ from, to })
    } while (at < characters.length && !peek(']'))
    if (!take(']')) throw fault('lacks a ].')
    return isNegated ? except(ranges) : characterIn(ranges)
  }
  const numbers = (): Expression => {
    const start = at
    while (at < characters.length && !peek('>')) at++
    const inside = characters.slice(start, at).join('')
    if (!take('>')) throw fault('lacks a >.')
    const [, low, high] = /^(\d{1,15})-(\d{1,15})$/.exec(inside) ?? []
    if (low === undefined || high === undefined)
      throw fault(`has <${shortenText(inside)}>, and needs numbers such as <1-99>.`)
    const [least, most] = [Math.min(Number(low), Number(high)), Math.max(Number(low), Number(high))]
    return numberBetween(least, most, low.length === high.length ? low.length : 0)
  }

  if (characters.length === 0) return EMPTY_TEXT
  const whole = union()
  if (at < characters.length) throw fault(`has one ${characters[at]} too many.`)
  return whole
}

const DEEPEST_EXPRESSION = 100
const MOST_REPEATED = 10_000
