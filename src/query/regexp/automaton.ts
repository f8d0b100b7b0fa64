import { upperBound } from '../../lib/arrays.ts'
import {
  ANY_CHARACTER,
  ANY_TEXT,
  chain,
  deriveExpression,
  type Expression,
  effort,
  LAST_CODE_POINT,
  literalCharacter,
  NO_TEXT,
  tooComplex,
} from './expression.ts'

/**
 * Tests whether an expression matches a whole text. States are built on demand; a text takes one
 * step per code point, without backtracking.
 */
export const automatonOf = (expression: Expression, mostStates = MAX_STATES): ((text: string) => boolean) => {
  const starts = boundaries(expression)
  const ascii = Uint32Array.from({ length: 128 }, (_, code) => upperBound(starts, code) - 1)
  const states = new Map<number, AutomatonState>()
  let left = MOST_WORK
  const stateOf = (at: Expression): AutomatonState => {
    let state = states.get(at.id)
    if (!state) {
      if (states.size >= mostStates) throw tooComplex()
      state = { at, next: new Map() }
      states.set(at.id, state)
    }
    return state
  }
  const follow = ({ at }: AutomatonState, group: number): AutomatonState => {
    const memo = new Map<number, Expression>()
    effort.left = left
    try {
      return stateOf(deriveExpression(at, starts[group]!, memo))
    } finally {
      left = effort.left - memo.size
      effort.left = Number.POSITIVE_INFINITY
    }
  }
  const start = stateOf(expression)
  return text => {
    let state = start
    for (let i = 0; i < text.length; i++) {
      const code = text.codePointAt(i)!
      if (code > 0xffff) i++
      const group = code < 128 ? ascii[code]! : upperBound(starts, code) - 1
      let next = state.next.get(group)
      if (!next) {
        next = follow(state, group)
        state.next.set(group, next)
      }
      state = next
      if (state.at === NO_TEXT) return false
      if (state.at === ANY_TEXT) return true
    }
    return state.at.nullable
  }
}

interface AutomatonState {
  at: Expression
  next: Map<number, AutomatonState>
}

/** As many as Elasticsearch lets an automaton have. */
export const MAX_STATES = 10_000
/** Limit of visited sub-expressions and joined parts over all states: less than a second. */
const MOST_WORK = 500_000

/** Starts of the classes of code points that the expression does not distinguish, ascending. */
const boundaries = (expression: Expression): number[] => {
  const starts = new Set([0])
  const seen = new Set<number>()
  const left = [expression]
  for (let part = left.pop(); part; part = left.pop()) {
    if (seen.has(part.id)) continue
    seen.add(part.id)
    switch (part.op) {
      case 'one':
        for (const { from, to } of part.ranges) {
          starts.add(from)
          if (to < LAST_CODE_POINT) starts.add(to + 1)
        }
        break
      case 'then':
        left.push(part.first, part.rest)
        break
      case 'either':
      case 'both':
        left.push(...part.of)
        break
      case 'not':
      case 'repeat':
        left.push(part.of)
    }
  }
  return [...starts].sort((a, b) => a - b)
}

/** `*` matches any characters, `?` one; a backslash escapes the next character. */
export const parseWildcard = (text: string, ignoreCase: boolean): Expression => {
  const parts: Expression[] = []
  const characters = Array.from(text)
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!
    if (character === '*') parts.push(ANY_TEXT)
    else if (character === '?') parts.push(ANY_CHARACTER)
    else if (character === '\\' && i + 1 < characters.length) parts.push(literalCharacter(characters[++i]!, ignoreCase))
    else parts.push(literalCharacter(character, ignoreCase))
  }
  return chain(parts)
}
