import type { Range } from '../../lib/ranges.ts'
import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Bounds, Node, QueryValue } from '../../query/ast.ts'
import { ANY_CHARACTER, ANY_TEXT, EMPTY_TEXT, type Expression, LAST_CODE_POINT } from '../../query/regexp/expression.ts'
import { expressionOf } from '../../query/text/pattern.ts'
import { unsupported } from '../deviations.ts'
import { between, type Dsl, has, MATCH_NONE, some, termIn } from './dsl.ts'
import { existsInteger, integerIn, integerWithin } from './integers.ts'

/** A condition on one field, or on the id. */
export type Leaf = Extract<Node, { op: 'in' | 'range' | 'fuzzy' | 'pattern' | 'phrase' | 'exists' | 'ids' }>

export const compileLeaf = (leaf: Leaf, kind: Kind): Dsl => {
  if (leaf.op === 'ids') return ofIds(kind, leaf.values)
  const { field } = leaf
  if (field.kind === 'flattened')
    throw unsupported(field.path, 'members that are no fields of their own are not indexed there. Query other fields')
  switch (leaf.op) {
    case 'in':
      return compileIn(field, leaf.values)
    case 'range':
      return compileRange(field, leaf.bounds)
    case 'exists':
      return field.compare === 'integer' ? existsInteger(field) : has(field.path)
    case 'fuzzy': {
      const { text, edits, prefix, transpositions } = leaf.near
      // Any other rewrite would consider only some of the similar values.
      const options = { fuzziness: edits, prefix_length: prefix, transpositions, rewrite: 'constant_score' }
      return { fuzzy: { [field.path]: { value: text, ...options } } }
    }
    case 'phrase':
      return compilePhrase(leaf)
    case 'pattern':
      return compilePattern(leaf)
  }
}

/** Matches contracts and tokens by address: a recreated contract has several documents. */
export const ofIds = (kind: Kind, ids: readonly string[]): Dsl => {
  if (ids.length === 0) return MATCH_NONE
  return kind === 'contract' || kind === 'token' ? termIn('address', ids) : { ids: { values: ids } }
}

const compileIn = (field: FieldPath, values: readonly QueryValue[]): Dsl => {
  switch (field.compare) {
    case 'integer':
      return integerIn(field, values as readonly bigint[])
    case 'instant':
      return some(values.map(value => compileRange(field, { gte: value, lte: value })))
    case 'double': {
      const finite = values.filter(value => Number.isFinite(value))
      return finite.length === 0 ? MATCH_NONE : termIn(field.path, finite)
    }
    default:
      return termIn(field.path, values.map(written))
  }
}

const compileRange = (field: FieldPath, bounds: Bounds): Dsl => {
  switch (field.compare) {
    case 'integer':
      return integerWithin(field, bounds)
    case 'instant':
      return between(field.path, { ...bounds, format: 'epoch_millis' })
    case 'double':
      return rangeOfDoubles(field, bounds)
    default:
      return between(
        field.path,
        Object.fromEntries(Object.entries(bounds).map(([key, value]) => [key, written(value)])),
      )
  }
}

/** The cluster accepts and contains finite numbers only. */
const rangeOfDoubles = (field: FieldPath, bounds: Bounds): Dsl => {
  const finite: Record<string, number> = {}
  for (const [key, value] of Object.entries(bounds) as [keyof Bounds, number][]) {
    if (Number.isFinite(value)) finite[key] = value
    else if (Number.isNaN(value) || key.startsWith('g') === value > 0) return MATCH_NONE
  }
  return Object.keys(finite).length === 0 ? has(field.path) : between(field.path, finite)
}

/** Integers as text keep all their digits. */
const written = (value: QueryValue): unknown => (typeof value === 'bigint' ? String(value) : value)

export const compilePhrase = ({ field, words, slop, prefix }: Extract<Node, { op: 'phrase' }>, boost?: number): Dsl => {
  // Words are split already: they have no whitespace in them.
  const query = { query: words.join(' '), slop, analyzer: 'whitespace', ...(boost !== undefined && { boost }) }
  return prefix
    ? { match_phrase_prefix: { [field.path]: { ...query, max_expansions: EVERY_WORD } } }
    : { match_phrase: { [field.path]: query } }
}
const EVERY_WORD = 2 ** 31 - 1

const compilePattern = ({ field, pattern }: Extract<Node, { op: 'pattern' }>): Dsl => {
  const { how, text, ignoreCase } = pattern
  // In the cluster an empty pattern matches nothing.
  if (text === '' && how !== 'prefix') return termIn(field.path, [''])
  if (how !== 'regexp') return { [how]: { [field.path]: { value: text, case_insensitive: ignoreCase } } }
  const expression = expressionOf(pattern)
  if (expression.op === 'nothing') return MATCH_NONE
  const value = regexpOf(expression)
  if (value === undefined)
    throw unsupported('regexp with ~ or &', 'put the parts into a bool: those that must match, and those that must not')
  if (value.length > LONGEST_REGEXP)
    throw unsupported(`regexp of ${value.length} characters`, `write one of at most ${LONGEST_REGEXP}, or a wildcard`)
  return { regexp: { [field.path]: { value, flags: 'NONE', max_determinized_states: 10_000 } } }
}
/** Default of index.max_regex_length. */
const LONGEST_REGEXP = 1000

/**
 * Writes an expression in Lucene syntax without optional operators, which differ between versions.
 * Undefined for a complement or an intersection.
 */
export const regexpOf = (expression: Expression): string | undefined => {
  if (expression === ANY_CHARACTER) return '.'
  if (expression === ANY_TEXT) return '.*'
  if (expression === EMPTY_TEXT) return '()'
  switch (expression.op) {
    case 'nothing':
      return undefined
    case 'empty':
      return '()'
    case 'one':
      return rangesText(expression.ranges)
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
/** Adds the parentheses that concatenation and repetition need. */
const group = (expression: Expression, isLast = false): string | undefined => {
  const text = regexpOf(expression)
  const isOne = expression.op === 'one' || expression.op === 'either' || expression === EMPTY_TEXT
  const isPlain = isOne || (isLast && expression.op === 'then')
  return text === undefined || isPlain ? text : `(${text})`
}
const rangesText = (ranges: readonly Range[]): string => {
  const [{ from, to }] = ranges as [Range]
  if (ranges.length === 1 && from === to) return escaped(from)
  return `[${ranges.map(({ from, to }) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join('')}]`
}
/** A backslash before a letter or digit would mean a character class. */
const escaped = (code: number): string => {
  const character = String.fromCodePoint(Math.min(code, LAST_CODE_POINT))
  return /[!-/:-@[-`{-~]/.test(character) ? `\\${character}` : character
}
