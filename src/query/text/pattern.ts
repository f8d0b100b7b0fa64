import { editDistance } from '../../lib/name-matching.ts'
import { type JsonNode, toScalar, unexpected } from '../json-node.ts'
import { automatonOf, MAX_STATES, parseWildcard } from '../regexp/automaton.ts'
import { ANY_TEXT, chain, concatenate, type Expression, literalCharacter } from '../regexp/expression.ts'
import { parseRegexp, type RegexpOperator } from '../regexp/parse.ts'

/** A text pattern; shared by the query tree and both engines. */
export interface TextPattern {
  readonly how: 'prefix' | 'wildcard' | 'regexp'
  readonly text: string
  /** For ASCII letters. */
  readonly ignoreCase: boolean
  /** Operators that a regular expression may use. */
  readonly operators?: readonly RegexpOperator[]
  readonly states?: number
}

/** Whether a text matches a pattern as a whole, in linear time. */
export const matcherOf = (pattern: TextPattern): ((text: string) => boolean) => {
  let matcher = MATCHERS.get(pattern)
  if (!matcher) {
    matcher = automatonOf(expressionOf(pattern), Math.min(pattern.states ?? MAX_STATES, MAX_STATES))
    MATCHERS.set(pattern, matcher)
  }
  return matcher
}

const MATCHERS = new WeakMap<TextPattern, (text: string) => boolean>()

/** Refuses invalid patterns. */
export const expressionOf = ({ how, text, ignoreCase, operators = [] }: TextPattern): Expression => {
  switch (how) {
    case 'prefix':
      return concatenate(chain(Array.from(text, character => literalCharacter(character, ignoreCase))), ANY_TEXT)
    case 'wildcard':
      return parseWildcard(text, ignoreCase)
    case 'regexp':
      return parseRegexp(text, operators, ignoreCase)
  }
}

/** A prefix of all matches. */
export const patternStart = ({ how, text, ignoreCase }: TextPattern): string => {
  if (ignoreCase) return ''
  if (how === 'prefix') return text
  if (how === 'wildcard') return /^[^*?\\]*/.exec(text)![0]
  // A bar may offer another beginning, and the last character may be repeated, or left out.
  if (/[|&~]/.test(text)) return ''
  const plain = /^[0-9A-Za-z]*/.exec(text)![0]
  return /[?*+{]/.test(text[plain.length] ?? '') ? plain.slice(0, -1) : plain
}

/** Texts within an edit distance; shared by the query tree and both engines. */
export interface Nearness {
  readonly text: string
  /** Maximum edits: insert, delete or replace a character, or swap two neighbours. */
  readonly edits: number
  /** Length of the prefix that must be equal. */
  readonly prefix: number
  /** Whether a swap is one edit, rather than two. */
  readonly transpositions: boolean
}

/** Whether a text is near. Characters are code points. */
export const nearTo = ({ text, edits, prefix, transpositions }: Nearness): ((value: string) => boolean) => {
  const asked = Array.from(text)
  const start = asked.slice(0, prefix).join('')
  const rest = asked.slice(prefix)
  const options = { most: edits, transpositions }
  return value => {
    if (value === text) return true
    if (!value.startsWith(start)) return false
    // Twice as many units as characters are the most that there can be.
    if (value.length > 2 * (asked.length + edits)) return false
    const characters = Array.from(value)
    return editDistance(rest, characters.slice(Math.min(prefix, asked.length)), options) <= edits
  }
}

export type Fuzziness = (text: string) => number
/** `0`, `1`, `2`, `AUTO`, `AUTO:low,high`: 0 edits below `low` letters, 1 below `high`, else 2. */
export const readFuzziness = (place: JsonNode): Fuzziness => {
  const text = toScalar(place, EXPECTED_FUZZINESS).toUpperCase()
  const edits = FUZZY_EDITS.get(text)
  if (edits !== undefined) return () => edits
  const [, low, high] = /^AUTO:(\d{1,9}),(\d{1,9})$/.exec(text === 'AUTO' ? 'AUTO:3,6' : text) ?? []
  if (low === undefined || Number(low) > Number(high)) throw unexpected(place, EXPECTED_FUZZINESS)
  return asked => {
    const length = Array.from(asked).length
    return length < Number(low) ? 0 : length < Number(high) ? 1 : 2
  }
}

const FUZZY_EDITS = new Map([0, 1, 2].flatMap(edits => [`${edits}`, `${edits}.0`].map(text => [text, edits] as const)))
const EXPECTED_FUZZINESS = '0, 1, 2, "AUTO" or "AUTO:low,high" with low not above high'
