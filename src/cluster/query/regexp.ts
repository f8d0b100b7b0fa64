import type { Range } from '../../lib/ranges.ts'
import { ANY, EMPTY, EVERYTHING, type Expression, LAST } from '../../query/regexp/expression.ts'

/**
 * An expression in Lucene's syntax without optional operators: only that part of it means the same in all versions. Undefined where it
 * takes a complement or an intersection.
 */
export const regexpOf = (expression: Expression): string | undefined => {
  if (expression === ANY) return '.'
  if (expression === EVERYTHING) return '.*'
  if (expression === EMPTY) return '()'
  switch (expression.op) {
    case 'nothing':
      return undefined
    case 'empty':
      return '()'
    case 'one':
      return oneOf(expression.ranges)
    case 'then': {
      const [first, rest] = [group(expression.first), group(expression.rest, true)]
      return first === undefined || rest === undefined ? undefined : first + rest
    }
    case 'either': {
      const parts = expression.of.map(part => regexpOf(part))
      return parts.includes(undefined) ? undefined : `(${parts.join('|')})`
    }
    case 'repeat': {
      const of = group(expression.of)
      const { least, most } = expression
      return of && `${of}${most === Number.POSITIVE_INFINITY ? `{${least},}` : `{${least},${most}}`}`
    }
    default:
      return undefined
  }
}

/** What can stand beside others, and be repeated. */
const group = (expression: Expression, isLast = false): string | undefined => {
  const text = regexpOf(expression)
  const isOne = expression.op === 'one' || expression.op === 'either' || expression === EMPTY
  const isPlain = isOne || (isLast && expression.op === 'then')
  return text === undefined || isPlain ? text : `(${text})`
}

const oneOf = (ranges: readonly Range[]): string => {
  const [{ from, to }] = ranges as [Range]
  if (ranges.length === 1 && from === to) return escaped(from)
  return `[${ranges.map(({ from, to }) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join('')}]`
}

/** Letters and digits behind a backslash would mean classes of characters. */
const escaped = (code: number): string => {
  const character = String.fromCodePoint(Math.min(code, LAST))
  return /[!-/:-@[-`{-~]/.test(character) ? `\\${character}` : character
}
