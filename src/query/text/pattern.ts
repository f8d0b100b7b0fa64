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
