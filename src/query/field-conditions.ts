import { ChainsieveError, refuse } from '../lib/errors.ts'
import type { FieldPath, ValueComparison } from '../mapping/index.ts'
import { type Bounds, NONE_NODE, type Node, type QueryValue } from './ast.ts'
import { createDateReader, type DateReader, type DateScope } from './dates/reader.ts'
import { bracketName, type JsonNode, toBoolean, toScalar, toWhole, unexpected, where } from './json-node.ts'
import { readDouble, readInteger, readLong, type WholeNumber } from './numbers.ts'
import { constantScored, SCORED_ALL, SCORED_NONE, type ScoredQuery } from './score.ts'
import { existsNode, fuzzyNode, inNode, patternNode, rangeNode, tooLong } from './simplify.ts'
import { analyzeText, LONGEST_TOKEN } from './text/analysis.ts'
import { expressionOf, type Fuzziness, readFuzziness, type TextPattern } from './text/pattern.ts'
/** The field equals this value. The score grows with the rarity of the value. */
export const termOn = (field: FieldPath, place: JsonNode, dates: DateScope): ScoredQuery =>
  scoredTerm(field, equalNode(field, place, dates))

export const scoredTerm = (field: FieldPath, node: Node): ScoredQuery => {
  if (node.op !== 'in' || node.values.length !== 1 || !HAS_TERMS.has(field.compare)) return constantScored(node)
  return { node, score: Object.freeze({ by: 'term', field, value: node.values[0]!, boost: 1 }) }
}

const HAS_TERMS: ReadonlySet<FieldPath['compare']> = new Set(['hex', 'exact', 'token', 'boolean'])

/** Any text matches, and is marked. */
const anyOn = (field: FieldPath, marks: Node): ScoredQuery => ({ ...constantScored(existsNode(field)), marks })

export const patternOn = (clause: string, field: FieldPath, place: JsonNode, given: TextPattern): ScoredQuery => {
  checkText(clause, field, place)
  // The letter case of such fields makes no difference.
  const shape = ignoresCase(field) ? { ...given, text: given.text.toLowerCase(), ignoreCase: false } : given
  try {
    const expression = expressionOf(shape)
    if (expression.op === 'nothing') return SCORED_NONE
  } catch (error) {
    if (error instanceof ChainsieveError) throw refuse(error.code, `${where(place)}: ${error.message}`)
    throw error
  }
  const node = patternNode(field, Object.freeze(shape))
  return /^\*+$/.test(shape.text) && shape.how === 'wildcard' ? anyOn(field, node) : constantScored(node)
}

/** Only texts have a beginning, or a shape. */
export const checkText = (clause: string, field: FieldPath, place: JsonNode): void => {
  if (isText(field)) return
  throw refuse(
    'query_shard_exception',
    `${where(place)}: ${clause} works on keyword and text fields, and [${field.path}] ${fieldContent(field)}.`,
  )
}

const fieldContent = (field: FieldPath) => (field.compare === 'integer' ? 'holds integers' : `is of type [${field.es}]`)

export interface Near {
  at: JsonNode
  fuzziness: Fuzziness
  prefix: number
  transpositions: boolean
}

type NearKey = 'fuzziness' | 'prefix_length' | 'max_expansions' | 'transpositions' | 'fuzzy_transpositions'

/** `fallback`: default fuzziness; undefined for exact matches by default. */
export const readNear = (
  keys: Partial<Record<NearKey, JsonNode | undefined>>,
  fallback: JsonNode | undefined,
): Near | undefined => {
  const { fuzziness, prefix_length, max_expansions, transpositions, fuzzy_transpositions } = keys
  // As in Elasticsearch, these have to be right even where nothing is fuzzy.
  const prefix = prefix_length === undefined ? 0 : readLength(prefix_length)
  checkExpansions(max_expansions)
  const swaps = transpositions ?? fuzzy_transpositions
  const swapped = swaps === undefined || toBoolean(swaps)
  const at = fuzziness?.value === null ? fallback : (fuzziness ?? fallback)
  return at && { at, fuzziness: readFuzziness(at), prefix, transpositions: swapped }
}

/** The number of values is not limited, so the option is only checked. */
export const checkExpansions = (place: JsonNode | undefined): void => {
  if (place !== undefined && toWhole(place, EXPECTED_EXPANSIONS) < 1) throw unexpected(place, EXPECTED_EXPANSIONS)
}

const EXPECTED_EXPANSIONS = 'how many values are looked for at most, 1 or more'

const readLength = (place: JsonNode): number => {
  const length = toWhole(place, EXPECTED_PREFIX_LENGTH)
  if (length < 0) throw unexpected(place, EXPECTED_PREFIX_LENGTH)
  return length
}

const EXPECTED_PREFIX_LENGTH = 'how many characters at the beginning are the same, 0 or more'

export const nearOn = (
  field: FieldPath,
  text: string,
  { at, fuzziness, prefix, transpositions }: Near,
): ScoredQuery => {
  checkFuzzy(field, at)
  const near = { text, edits: fuzziness(text), prefix, transpositions }
  const node = fuzzyNode(field, near)
  if (node.op !== 'fuzzy') return scoredTerm(field, node)
  return { node, score: Object.freeze({ by: 'fuzzy', field, near: node.near, boost: 1 }) }
}

/** Near values are only searched among names, of which there are few. */
const checkFuzzy = (field: FieldPath, at: JsonNode): void => {
  if (field.kind === 'text' || field.kind === 'keyword') return
  throw notFuzzy(
    at,
    field.path,
    field.kind === 'address' ? HOLDS_ADDRESSES : field.compare === 'hex' ? EXACT : fieldContent(field),
  )
}

const HOLDS_ADDRESSES = 'holds addresses, of which one that differs in a digit is another account'
export const EXACT = 'is looked up whole'

export const notFuzzy = (at: JsonNode, name: string, why: string) =>
  refuse(
    'query_shard_exception',
    `${where(at)}: fuzziness works on names, such as event and method, and [${name}] ${why}.`,
  )

/** If lenient, values that do not fit the field match nothing. */
export const leniently = (isLenient: boolean, make: () => ScoredQuery): ScoredQuery => {
  if (!isLenient) return make()
  try {
    return make()
  } catch (error) {
    if (error instanceof ChainsieveError && error.next === 'refuse' && FORGIVEN.has(error.code)) return SCORED_NONE
    throw error
  }
}

/** Codes of values that do not fit; exceeded limits and syntax errors stay errors. */
const FORGIVEN: ReadonlySet<string> = new Set([
  'number_format_exception',
  'parse_exception',
  'query_shard_exception',
  'illegal_argument_exception',
  'parsing_exception',
])

export const zeroTerms = (place: JsonNode | undefined): ScoredQuery => {
  if (place === undefined) return SCORED_NONE
  const mode = toScalar(place, '"none" or "all"').toLowerCase()
  if (mode === 'none') return SCORED_NONE
  if (mode === 'all') return SCORED_ALL
  throw unexpected(place, '"none" or "all"')
}

/** Creates the nearness from the edits after `~`, or from the option. */
export type Fuzzing = (edits: string | undefined, place: JsonNode) => Near

export const fuzzingOf = (
  keys: Partial<Record<'fuzziness' | 'prefix_length' | 'transpositions', JsonNode | undefined>>,
): Fuzzing => {
  const { fuzziness, prefix_length, transpositions } = keys
  const rest = { prefix_length, transpositions }
  // They have to be right even where nothing is fuzzy.
  readNear({ ...rest, fuzziness }, undefined)
  return (edits, place) => {
    const fallback: JsonNode = fuzziness ?? { path: place.path, value: 'AUTO' }
    if (edits === undefined || !/^\d+(\.\d*)?$/.test(edits))
      return readNear(rest, edits === undefined ? fallback : { path: place.path, value: edits })!
    const near = readNear(rest, { path: place.path, value: '2' })!
    const number = Number(edits)
    // Below 1, the number is a minimum similarity; edits are capped at 2.
    const editsOf = (text: string) => (number >= 1 ? number : number === 0 ? 0 : (1 - number) * Array.from(text).length)
    return { ...near, fuzziness: text => Math.min(2, Math.floor(editsOf(text))) }
  }
}

export const prefixOn = (field: FieldPath, given: string): ScoredQuery => {
  const pattern = patternNode(field, Object.freeze({ how: 'prefix', text: given, ignoreCase: false }))
  if (given === '') return anyOn(field, pattern)
  // The order of digits is none of numbers.
  if (field.compare === 'integer') return constantScored(pattern)
  return constantScored(beginsWith(field, ignoresCase(field) ? given.toLowerCase() : given))
}

/** A prefix is the range from the text to the text whose last character is the next one. */
const beginsWith = (field: FieldPath, text: string): Node => {
  const characters = Array.from(text)
  while (characters.at(-1) === LAST_CHARACTER) characters.pop()
  const last = characters.pop()
  if (last === undefined) return rangeNode(field, { gte: text })
  return rangeNode(field, { gte: text, lt: characters.join('') + characterAfter(last) })
}

const LAST_CHARACTER = '\u{10ffff}'

/** The next character; surrogates are none. */
const characterAfter = (character: string) => {
  const code = character.codePointAt(0)! + 1
  return String.fromCodePoint(code === 0xd800 ? 0xe000 : code)
}

export const equalNode = (field: FieldPath, place: JsonNode, dates: DateScope): Node =>
  EQUALS[field.compare](field, place, dates)
/** The field lies within the bounds. `dates` reads the values of date fields. */
export const withinNode = (field: FieldPath, bounds: BoundPlaces, dates: DateReader): Node => {
  const found: { [bound in keyof Bounds]: QueryValue } = {}
  for (const bound of ['gt', 'gte', 'lt', 'lte'] as const) {
    const place = bounds[bound]
    if (place !== undefined) Object.assign(found, BOUND[field.compare](field, place, bound, dates))
  }
  return rangeNode(field, found)
}

export type BoundPlaces = { readonly [bound in keyof Bounds]: JsonNode | undefined }
/** Whether the field ignores letter case: its values are compared in lower case. */
export const ignoresCase = (field: FieldPath): boolean =>
  field.compare === 'hex' || (field.compare === 'token' && field.kind === 'address')
/** Whether values are compared as text. Integers are shown as text but compared as integers. */
export const isText = ({ compare }: FieldPath): boolean => TEXT_COMPARISONS.has(compare)
const TEXT_COMPARISONS: ReadonlySet<ValueComparison> = new Set(['hex', 'exact', 'token'])
const comparedText = (field: FieldPath, place: JsonNode): string => {
  const text = toScalar(place, 'a text')
  return ignoresCase(field) ? text.toLowerCase() : text
}

const equalsText = (field: FieldPath, place: JsonNode): Node => {
  const text = comparedText(field, place)
  // Every hex value starts with 0x.
  if (field.compare === 'hex' && !text.startsWith('0x')) return NONE_NODE
  return tooLong(field, text) ? NONE_NODE : inNode(field, [text])
}

const EQUALS = {
  hex: equalsText,
  exact: equalsText,
  // Matches only if analysis returns the text itself as its single token, so never with capitals.
  token: (field, place) => {
    const text = comparedText(field, place)
    if (text.length > LONGEST_TOKEN) return NONE_NODE
    const tokens = analyzeText(text)
    return tokens.length === 1 && tokens[0] === text ? inNode(field, [text]) : NONE_NODE
  },
  long: (field, place) => {
    const { floor, exact } = readLong(field, place)
    return exact ? inNode(field, [floor]) : NONE_NODE
  },
  integer: (field, place) => {
    const { floor, exact } = readInteger(place)
    return exact ? inNode(field, [floor]) : NONE_NODE
  },
  double: (field, place) => inNode(field, [readDouble(place)]),
  boolean: (field, place) => inNode(field, [readBoolean(place)]),
  // A date that leaves something open, such as a day, equals every moment of it.
  instant: (field, place, { now, budget }) =>
    withinNode(field, { gte: place, lte: place }, createDateReader({ now, budget })),
} as const satisfies Record<ValueComparison, (field: FieldPath, place: JsonNode, dates: DateScope) => Node>

type BoundName = keyof Bounds
type ReadBound = (field: FieldPath, place: JsonNode, bound: BoundName, dates: DateReader) => Bounds
const textBound: ReadBound = (field, place, bound) => ({ [bound]: comparedText(field, place) })
/** A fraction moves a bound inwards to the next integer. */
const integerBound = ({ floor, exact }: WholeNumber, bound: BoundName): Bounds => {
  if (exact) return { [bound]: floor }
  return bound === 'gt' || bound === 'gte' ? { gte: floor + 1n } : { lte: floor }
}

const BOUND = {
  hex: textBound,
  exact: textBound,
  token: textBound,
  long: (field, place, bound) => integerBound(readLong(field, place), bound),
  integer: (_, place, bound) => integerBound(readInteger(place), bound),
  double: (_, place, bound) => ({ [bound]: readDouble(place) }),
  boolean: (_, place, bound) => ({ [bound]: readBoolean(place) }),
  // Rounds a partial date: `gt` and `lt` exclude its whole span, `gte` and `lte` include it.
  instant: (_, place, bound, dates) => ({
    [bound]: dates.read(place, toScalar(place, 'a date'), bound === 'gt' || bound === 'lte'),
  }),
} as const satisfies Record<ValueComparison, ReadBound>

const readBoolean = (place: JsonNode): boolean => {
  if (typeof place.value === 'boolean' || place.value === 'true' || place.value === 'false') return toBoolean(place)
  const received = toScalar(place, 'true or false')
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: can't parse boolean value ${bracketName(received)}, expected [true] or [false].`,
  )
}
