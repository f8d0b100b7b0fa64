import { refuse } from '../../lib/errors.ts'

/** A parsed simple query string. Syntax errors are skipped, never refused. */
export type Simple =
  | { is: 'text' | 'prefix'; text: string }
  | { is: 'phrase'; text: string; slop: number }
  | { is: 'fuzzy'; text: string; edits: number }
  | { is: 'and' | 'or'; of: Simple[] }
  | { is: 'not'; of: Simple }

export const SIMPLE_OPERATORS = [
  'AND',
  'OR',
  'NOT',
  'PREFIX',
  'PHRASE',
  'PRECEDENCE',
  'ESCAPE',
  'WHITESPACE',
  'FUZZY',
  'NEAR',
] as const
export type SimpleOperator = (typeof SIMPLE_OPERATORS)[number]

interface SimpleOptions {
  operators: ReadonlySet<SimpleOperator>
  joint: 'and' | 'or'
}

interface SimpleState {
  at: number
  end: number
  top: Simple | undefined
  /** The operator that joins the next part, and the one that joined the last. */
  current: 'and' | 'or' | undefined
  previous: 'and' | 'or' | undefined
  nots: number
}

/** Lucene's syntax: `+` and, `|` or, `-` not, quotes, suffix `*`, `( )`, `~1` fuzzy, `~3` slop. */
export const parseSimple = (text: string, { operators, joint }: SimpleOptions): Simple | undefined => {
  const has = (operator: SimpleOperator) => operators.has(operator)
  const ends = closings(text, has('ESCAPE'))
  let depth = 0
  let turns = 0

  const group = (from: number, to: number): Simple | undefined => {
    const state: SimpleState = { at: from, end: to, top: undefined, current: undefined, previous: undefined, nots: 0 }
    depth++
    while (state.at < state.end) {
      const character = text[state.at]!
      if (character === '-' && has('NOT')) {
        state.nots++
        state.at++
        continue
      }
      if (character === '(' && has('PRECEDENCE')) subQuery(state)
      else if (character === ')' && has('PRECEDENCE')) state.at++
      else if (character === '"' && has('PHRASE')) phrase(state)
      else if (character === '+' && has('AND')) operator(state, 'and')
      else if (character === '|' && has('OR')) operator(state, 'or')
      else if (isSpace(character) && has('WHITESPACE')) state.at++
      else token(state)
      // A sign applies only to what directly follows it.
      state.nots = 0
    }
    depth--
    return state.top
  }

  const operator = (state: SimpleState, op: 'and' | 'or') => {
    if (state.current === undefined && state.top !== undefined) state.current = op
    state.at++
  }

  /** Groups that are unclosed or too deep are skipped. */
  const subQuery = (state: SimpleState) => {
    const start = state.at + 1
    const end = ends.get(state.at)
    state.at = start
    if (end === undefined || end >= state.end || depth >= DEEPEST_SIMPLE_GROUPS) return
    if (end === start) state.current = undefined
    else add(state, group(start, end))
    state.at = end + 1
  }

  const phrase = (state: SimpleState) => {
    const start = ++state.at
    let copied = ''
    while (state.at < state.end && text[state.at] !== '"') {
      if (text[state.at] === '\\' && has('ESCAPE') && ++state.at >= state.end) break
      copied += text[state.at++]
    }
    if (state.at >= state.end) {
      state.at = start
      return
    }
    state.at++
    if (copied === '') {
      state.current = undefined
      return
    }
    const slop = text[state.at] === '~' && state.at < state.end && has('NEAR') ? number(state) : 0
    add(state, { is: 'phrase', text: copied, slop })
  }

  const token = (state: SimpleState) => {
    let copied = ''
    let isPrefix = false
    while (state.at < state.end) {
      const character = text[state.at]!
      const isEscape = character === '\\' && has('ESCAPE')
      if (isEscape && ++state.at >= state.end) break
      if (!isEscape && (isEnd(character) || (copied !== '' && character === '~' && has('FUZZY')))) break
      isPrefix = !isEscape && copied !== '' && character === '*' && has('PREFIX')
      copied += text[state.at++]
    }
    if (copied === '') return
    if (state.at < state.end && text[state.at] === '~' && has('FUZZY')) {
      const edits = Math.min(2, number(state))
      add(state, edits === 0 ? { is: 'text', text: copied } : { is: 'fuzzy', text: copied, edits })
    } else add(state, isPrefix ? { is: 'prefix', text: copied.slice(0, -1) } : { is: 'text', text: copied })
  }

  /** The number after `~`; 2 by default. */
  const number = (state: SimpleState): number => {
    const start = ++state.at
    while (state.at < state.end && !isEnd(text[state.at]!)) state.at++
    const digits = text.slice(start, state.at)
    return digits === '' ? 2 : /^\d{1,9}$/.test(digits) ? Number(digits) : 0
  }

  const isEnd = (character: string): boolean =>
    (character === '"' && has('PHRASE')) ||
    (character === '|' && has('OR')) ||
    (character === '+' && has('AND')) ||
    ((character === '(' || character === ')') && has('PRECEDENCE')) ||
    (isSpace(character) && has('WHITESPACE'))

  const add = (state: SimpleState, found: Simple | undefined) => {
    if (found !== undefined) {
      const branch: Simple = state.nots % 2 === 1 ? { is: 'not', of: found } : found
      if (state.top === undefined) state.top = branch
      else {
        const op = state.current ?? joint
        if (state.previous !== op) {
          if (++turns > MOST_TURNS) throw tooDeep()
          state.top = { is: op, of: [state.top] }
        }
        ;(state.top as { of: Simple[] }).of.push(branch)
        state.previous = op
      }
    }
    state.current = undefined
  }

  return group(0, text.length)
}

const DEEPEST_SIMPLE_GROUPS = 50
/** Each change between `+` and `|` makes the tree of the query deeper. */
const MOST_TURNS = 100

const tooDeep = () =>
  refuse(
    'query_shard_exception',
    `Failed to parse a simple query string: it alternates between + and | more than ${MOST_TURNS} times. Write groups of words into clauses of a bool.`,
  )

const isSpace = (character: string) => /[ \t\n\r]/.test(character)

/** Index of the closing bracket of each group. */
const closings = (text: string, escapes: boolean): ReadonlyMap<number, number> => {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && escapes) at++
    else if (text[at] === '(') open.push(at)
    else if (text[at] === ')') {
      const start = open.pop()
      if (start !== undefined) ends.set(start, at)
    }
  }
  return ends
}
