import { refuse } from '../../lib/errors.ts'
import { gapsIn, holds, merged, type Range } from '../../lib/ranges.ts'

/**
 * A regular expression as a tree. Equal ones are the same object (see `interned`), so that the states of an automaton can be told apart;
 * makers fold what means the same.
 */
export type Expression = { readonly id: number; readonly nullable: boolean } & ExpressionShape

type ExpressionShape =
  | { readonly op: 'nothing' }
  | { readonly op: 'empty' }
  /** One code point in one of these ranges, ascending. */
  | { readonly op: 'one'; readonly ranges: readonly Range[] }
  | { readonly op: 'then'; readonly first: Expression; readonly rest: Expression }
  | { readonly op: 'either' | 'both'; readonly of: readonly Expression[] }
  | { readonly op: 'not'; readonly of: Expression }
  | { readonly op: 'repeat'; readonly of: Expression; readonly least: number; readonly most: number }

export const LAST = 0x10ffff

let known = new Map<string, Expression>()
let next = 0

/** Expressions that were made lately, by their shape. Ids are never used again, so that forgetting them costs no more than time. */
const interned = (key: string, nullable: boolean, shape: ExpressionShape): Expression => {
  let found = known.get(key)
  if (!found) {
    if (known.size >= MOST_INTERNED) known = new Map()
    found = Object.freeze({ id: next++, nullable, ...shape })
    known.set(key, found)
  }
  return found
}
const MOST_INTERNED = 50_000

const lasting = (nullable: boolean, shape: ExpressionShape): Expression =>
  Object.freeze({ id: next++, nullable, ...shape })

export const NOTHING = lasting(false, { op: 'nothing' })
export const EMPTY = lasting(true, { op: 'empty' })

export const one = (ranges: readonly Range[]): Expression => oneOf(merged(ranges))

const oneOf = (ranges: readonly Range[]): Expression =>
  ranges.length === 0
    ? NOTHING
    : ranges.length === 1 && ranges[0]!.from === 0 && ranges[0]!.to === LAST
      ? ANY
      : interned(`one ${ranges.map(({ from, to }) => `${from}-${to}`)}`, false, { op: 'one', ranges })

export const ANY = lasting(false, { op: 'one', ranges: [{ from: 0, to: LAST }] })

/** One character; without regard to letter case, as Lucene has it, of the letters of ASCII alone. */
export const literal = (character: string, ignoreCase = false): Expression => {
  const code = character.codePointAt(0)!
  const other = ignoreCase && /[a-zA-Z]/.test(character) && code < 128 ? code ^ 32 : code
  return one([point(code), point(other)])
}

const point = (code: number): Range => ({ from: code, to: code })

/** A number as text, from one up to another. With `digits` it has as many, else it may begin with any number of zeros. */
export const interval = (least: number, most: number, digits: number): Expression => {
  if (least > most) return NOTHING
  if (digits > 0) return between(String(least).padStart(digits, '0'), String(most).padStart(digits, '0'))
  const parts: Expression[] = []
  for (let length = String(least).length; length <= String(most).length; length++) {
    const from = Math.max(least, length === 1 ? 0 : 10 ** (length - 1))
    const to = Math.min(most, 10 ** length - 1)
    parts.push(between(String(from), String(to)))
  }
  return before(repeat(literal('0'), 0, Number.POSITIVE_INFINITY), either(parts))
}

const DIGIT_RANGE: Range = { from: 48, to: 57 }

/** Digits that lie between two others of their number. */
const between = (low: string, high: string): Expression => {
  if (low === '') return EMPTY
  const [first, last] = [low.charCodeAt(0), high.charCodeAt(0)]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  if (first === last) return before(one([point(first)]), between(lowRest, highRest))
  const parts = [
    before(one([point(first)]), between(lowRest, '9'.repeat(lowRest.length))),
    before(one([point(last)]), between('0'.repeat(highRest.length), highRest)),
  ]
  if (last - first > 1)
    parts.push(
      before(one([{ from: first + 1, to: last - 1 }]), repeat(one([DIGIT_RANGE]), lowRest.length, lowRest.length)),
    )
  return either(parts)
}

/** All but these. */
export const except = (ranges: readonly Range[]): Expression => one(gapsIn(merged(ranges), 0, LAST))

export const before = (first: Expression, rest: Expression): Expression => {
  if (first === NOTHING || rest === NOTHING) return NOTHING
  if (first === EMPTY) return rest
  if (rest === EMPTY) return first
  if (first === EVERYTHING && (rest === EVERYTHING || (rest.op === 'then' && rest.first === EVERYTHING))) return rest
  if (first.op === 'then') return before(first.first, before(first.rest, rest))
  return interned(`then ${first.id} ${rest.id}`, first.nullable && rest.nullable, { op: 'then', first, rest })
}

export const chain = (parts: readonly Expression[]): Expression =>
  parts.reduceRight((rest, part) => before(part, rest), EMPTY)

export const either = (parts: readonly Expression[]): Expression => {
  const of = distinct('either', parts).filter(part => part !== NOTHING)
  const sets = of.filter(part => part.op === 'one')
  // One of several characters is one of all of theirs.
  if (sets.length > 1) return either([...of.filter(part => part.op !== 'one'), one(sets.flatMap(part => part.ranges))])
  if (of.some(part => part === EVERYTHING)) return EVERYTHING
  return of.length === 0
    ? NOTHING
    : of.length === 1
      ? of[0]!
      : interned(
          `either ${of.map(({ id }) => id)}`,
          of.some(({ nullable }) => nullable),
          { op: 'either', of },
        )
}

export const tooComplex = () =>
  refuse(
    'illegal_argument_exception',
    'the pattern is too complex: its automaton would have too many states. Make it shorter, or let it repeat fewer times.',
  )

export const both = (parts: readonly Expression[]): Expression => {
  const of = distinct('both', parts).filter(part => part !== EVERYTHING)
  if (of.some(part => part === NOTHING)) return NOTHING
  return of.length === 0
    ? EVERYTHING
    : of.length === 1
      ? of[0]!
      : interned(
          `both ${of.map(({ id }) => id)}`,
          of.every(({ nullable }) => nullable),
          { op: 'both', of },
        )
}

/** What may still be spent on the derivation under way, in parts that are put together. */
export const effort = { left: Number.POSITIVE_INFINITY }

const distinct = (op: 'either' | 'both', parts: readonly Expression[]): Expression[] => {
  const flat = parts.flatMap(part => (part.op === op ? part.of : [part]))
  effort.left -= flat.length
  if (effort.left < 0) throw tooComplex()
  return [...new Map(flat.map(part => [part.id, part])).values()].sort((a, b) => a.id - b.id)
}

export const not = (of: Expression): Expression =>
  of.op === 'not'
    ? of.of
    : of === NOTHING
      ? EVERYTHING
      : of === EVERYTHING
        ? NOTHING
        : interned(`not ${of.id}`, !of.nullable, { op: 'not', of })

export const repeat = (of: Expression, least: number, most: number): Expression => {
  if (most === 0) return EMPTY
  if (of === EMPTY) return EMPTY
  if (of === NOTHING) return least === 0 ? EMPTY : NOTHING
  if (least === 1 && most === 1) return of
  if (of.op === 'repeat' && of.least === 0 && of.most === Number.POSITIVE_INFINITY) return of
  if (of === ANY && least === 0 && most === Number.POSITIVE_INFINITY) return EVERYTHING
  return interned(`repeat ${of.id} ${least} ${most}`, least === 0 || of.nullable, { op: 'repeat', of, least, most })
}

export const EVERYTHING = lasting(true, { op: 'repeat', of: ANY, least: 0, most: Number.POSITIVE_INFINITY })

/** What has to follow a code point. Sub-expressions that occur in several places are derived once: `memo` is of this one code point. */
export const derive = (whole: Expression, code: number, memo: Map<number, Expression>): Expression => {
  const found = memo.get(whole.id)
  if (found) return found
  const derived = deriveShape(whole, code, memo)
  memo.set(whole.id, derived)
  return derived
}

const deriveShape = (whole: Expression, code: number, memo: Map<number, Expression>): Expression => {
  switch (whole.op) {
    case 'nothing':
    case 'empty':
      return NOTHING
    case 'one':
      return holds(whole.ranges, code) ? EMPTY : NOTHING
    case 'then': {
      const taken = before(derive(whole.first, code, memo), whole.rest)
      return whole.first.nullable ? either([taken, derive(whole.rest, code, memo)]) : taken
    }
    case 'either':
      return either(whole.of.map(part => derive(part, code, memo)))
    case 'both':
      return both(whole.of.map(part => derive(part, code, memo)))
    case 'not':
      return not(derive(whole.of, code, memo))
    case 'repeat': {
      const { of, least, most } = whole
      // What may be empty may be left out, so that no more of it is needed.
      const left = repeat(of, of.nullable ? 0 : Math.max(0, least - 1), most - 1)
      return before(derive(of, code, memo), left)
    }
  }
}
