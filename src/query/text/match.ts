import { refuse } from '../../lib/errors.ts'
import type { FieldPath } from '../../mapping/index.ts'
import {
  isText,
  leniently,
  type Near,
  nearOn,
  patternOn,
  prefixOn,
  scoredTerm,
  termOn,
  zeroTerms,
} from '../field-conditions.ts'
import { type JsonNode, showJson, toScalar, toText, toWhole, unexpected, where } from '../json-node.ts'
import type { QueryScope } from '../scope.ts'
import { type ScoredQuery, sumOfScores, sumOfSome } from '../score.ts'
import { andNode, atLeastNode, inNode, phraseNode } from '../simplify.ts'
import { analyzeText } from './analysis.ts'

/** Options of `match` and of the clauses derived from it. */
export interface TextOptions {
  all?: boolean
  minimum?: JsonNode | undefined
  near?: Near | undefined
  analyzer?: Analyzer | undefined
  lenient?: boolean
  /** `zero_terms_query`: what a text without words matches. */
  zero?: JsonNode | undefined
  slop?: number
}

/** Whether a text is split into words or kept whole. */
export type Analyzer = 'standard' | 'keyword'

export const readAnalyzer = (place: JsonNode | undefined): Analyzer | undefined => {
  if (place === undefined || place.value === null) return undefined
  const name = toText(place, EXPECTED_ANALYZER)
  if (name === 'default') return 'standard'
  if (name === 'standard' || name === 'keyword') return name
  throw unexpected(place, EXPECTED_ANALYZER)
}

const EXPECTED_ANALYZER = '"standard" or "keyword", the analyzers that there are'

export const readOperator = (place: JsonNode | undefined): boolean => {
  if (place === undefined) return false
  const operator = toText(place, '"and" or "or"').toLowerCase()
  if (operator !== 'and' && operator !== 'or') throw unexpected(place, '"and" or "or"')
  return operator === 'and'
}

export const readSlop = (place: JsonNode | undefined): number => {
  if (place === undefined) return 0
  const slop = toWhole(place, 'how many places words may be moved, 0 or more')
  if (slop >= 0) return slop
  throw refuse('illegal_argument_exception', `${where(place)}: No negative slop allowed.`)
}

/** Words of a text as the field has them; undefined if it is compared whole. */
const fieldWordsOf = (field: FieldPath, text: string, analyzer: Analyzer | undefined): string[] | undefined => {
  if (analyzer === 'keyword') return field.compare === 'token' ? [text] : undefined
  const hasWords = field.compare === 'token' || (analyzer === 'standard' && isText(field))
  return hasWords ? analyzeText(text) : undefined
}

const textIn = (value: JsonNode, scope: QueryScope): string => scope.budget.text(toScalar(value, 'a text'), value)

const wordOn = (field: FieldPath, word: string, near: Near | undefined): ScoredQuery =>
  near ? nearOn(field, word, near) : scoredTerm(field, inNode(field, [word]))

/** Matches one word, or as many as the options require. Fields without words equal the text. */
export const matchOn = (field: FieldPath, value: JsonNode, options: TextOptions, scope: QueryScope): ScoredQuery =>
  leniently(options.lenient === true, () => {
    const { near, minimum, all = false, analyzer, zero } = options
    if (near && !isText(field)) return nearOn(field, '', near)
    if (field.compare !== 'token' && analyzer !== 'standard')
      return near ? nearOn(field, textIn(value, scope), near) : termOn(field, value, scope)
    const words = fieldWordsOf(field, textIn(value, scope), analyzer)
    if (words === undefined) return termOn(field, value, scope)
    scope.budget.clauses(words.length, value)
    if (near && words.length > MAX_FUZZY) throw unexpected(value, `at most ${MAX_FUZZY} words where fuzziness is given`)
    if (words.length === 0) return zeroTerms(zero)
    return combineWords(
      words.map(word => wordOn(field, word, near)),
      all,
      minimum,
    )
  })

/** Each fuzzy word is compared with all names. */
const MAX_FUZZY = 100

/** Requires all conditions, or as many as `minimum`. */
export const combineWords = (
  parts: readonly ScoredQuery[],
  all: boolean,
  minimum: JsonNode | undefined,
): ScoredQuery => {
  const nodes = parts.map(({ node }) => node)
  const [only] = parts
  if (only && parts.length === 1) return only
  if (all) {
    return { node: andNode(nodes), score: sumOfScores(parts.map(({ score }) => score)) }
  }
  const least = minimum === undefined ? 1 : Math.max(1, minimumOf(minimum, parts.length))
  return { node: atLeastNode(least, nodes), score: sumOfSome([], least, parts) }
}

/** The field has the words in a row. A field without words equals the text. */
export const phraseOn = (field: FieldPath, value: JsonNode, options: TextOptions, scope: QueryScope): ScoredQuery =>
  leniently(options.lenient === true, () => {
    const { analyzer, slop = 0, zero } = options
    const text = textIn(value, scope)
    const words = fieldWordsOf(field, text, analyzer)
    if (words === undefined) return termOn(field, value, scope)
    scope.budget.clauses(words.length, value)
    if (words.length === 0) return zeroTerms(zero)
    if (words.length === 1) return wordOn(field, words[0]!, undefined)
    if (field.compare !== 'token') throw withoutPlaces(field, value)
    checkPhrase(words, value)
    return {
      node: phraseNode(field, words, slop, false),
      score: Object.freeze({ by: 'phrase', field, words, slop, prefix: false, boost: 1 }),
    }
  })

export const phrasePrefixOn = (
  field: FieldPath,
  value: JsonNode,
  options: TextOptions,
  scope: QueryScope,
): ScoredQuery =>
  leniently(options.lenient === true, () => {
    const { analyzer, slop = 0, zero } = options
    if (field.es !== 'text')
      throw refuse(
        'query_shard_exception',
        `${where(value)}: Can only use phrase prefix queries on text fields - not on [${field.path}] which is of type [${field.es}].`,
      )
    const words = fieldWordsOf(field, textIn(value, scope), analyzer) ?? []
    scope.budget.clauses(words.length, value)
    if (words.length === 0) return zeroTerms(zero)
    checkPhrase(words, value)
    const node = words.length === 1 ? prefixOn(field, words[0]!).node : phraseNode(field, words, slop, true)
    return { node, score: Object.freeze({ by: 'phrase', field, words, slop, prefix: true, boost: 1 }) }
  })

/** The field has the words, the last one as a prefix. */
export const boolPrefixOn = (field: FieldPath, value: JsonNode, options: TextOptions, scope: QueryScope): ScoredQuery =>
  leniently(options.lenient === true, () => {
    const { near, minimum, all = false, analyzer, zero } = options
    if (!isText(field)) return termOn(field, value, scope)
    const text = textIn(value, scope)
    const words = fieldWordsOf(field, text, analyzer) ?? [text]
    scope.budget.clauses(words.length, value)
    const last = words.pop()
    if (last === undefined) return zeroTerms(zero)
    return combineWords([...words.map(word => wordOn(field, word, near)), prefixOn(field, last)], all, minimum)
  })

/** The field, or one of its words, has this shape; the words' letters are small. */
export const shapeOn = (
  clause: 'wildcard' | 'regexp',
  field: FieldPath,
  value: JsonNode,
  text: string,
  options: { ignoreCase?: boolean; normalized?: boolean } & Pick<
    Parameters<typeof patternOn>[3],
    'operators' | 'states'
  >,
): ScoredQuery => {
  const { ignoreCase = false, normalized = false, ...rest } = options
  const shape = normalized && field.compare === 'token' ? text.toLowerCase() : text
  return patternOn(clause, field, value, { how: clause, text: shape, ignoreCase, ...rest })
}

/** Moves are searched word by word. */
const checkPhrase = (words: readonly string[], value: JsonNode): void => {
  if (words.length > MAX_PHRASE) throw unexpected(value, `a phrase of at most ${MAX_PHRASE} words`)
}

const MAX_PHRASE = 100

const withoutPlaces = (field: FieldPath, value: JsonNode) =>
  refuse(
    'illegal_argument_exception',
    `${where(value)}: field [${field.path}] was indexed without position data; cannot run a phrase of several words. Leave the analyzer out: a keyword is compared whole.`,
  )

/**
 * Minimum of `count` clauses: `2`, `-1` (all but one), `"75%"`, `"-25%"`, or conditions such as
 * `"2<75%"` (above two clauses), separated by spaces. Percentages round down.
 */
export const minimumOf = (place: JsonNode, count: number): number => {
  const text = toScalar(place, 'a number, or a text such as "75%" or "2<75%"')
  if (text.length > LONGEST_MINIMUM) throw malformedMinimum(place)
  if (!text.includes('<')) return simpleMinimum(place, text.trim(), count)
  let minimum = count
  for (const condition of text
    .trim()
    .replace(/\s*<\s*/g, '<')
    .split(/\s+/)) {
    const [bound = '', spec = '', ...more] = condition.split('<')
    if (!/^-?\d{1,9}$/.test(bound) || more.length > 0) throw malformedMinimum(place)
    if (count <= Number(bound)) break
    minimum = simpleMinimum(place, spec, count)
  }
  return minimum
}

const simpleMinimum = (place: JsonNode, spec: string, count: number): number => {
  const [, digits, percent] = /^([+-]?\d{1,9})(%?)$/.exec(spec) ?? []
  if (digits === undefined) throw malformedMinimum(place)
  const number = Number(digits)
  // In single precision, as Elasticsearch calculates.
  const share = percent ? Math.trunc(Math.fround(count * number * Math.fround(0.01))) : number
  return Math.max(0, number < 0 ? count + share : share)
}

/** Characters. Spaces are scanned repeatedly, so long texts are refused. */
const LONGEST_MINIMUM = 1000

const malformedMinimum = (place: JsonNode) =>
  refuse(
    'number_format_exception',
    `${where(place)}: expected a number, or a text such as "-1", "75%" or "2<75%", received ${showJson(place.value)}.`,
  )
