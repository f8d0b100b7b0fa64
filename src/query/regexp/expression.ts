import { refuse } from '../../lib/errors.ts'
import { gapsIn, holds, mergeRanges, type Range } from '../../lib/ranges.ts'

/**
 * Tree of a regular expression. Equal expressions are the same object (see `interned`), which
 * identifies automaton states; constructors merge equivalent forms.
 */
export type Expression = { readonly id: number; readonly nullable: boolean } & ExpressionShape

type ExpressionShape =
  | { readonly op: 'nothing' }
  | { readonly op: 'empty' }
  | { readonly op: 'one'; readonly ranges: readonly Range[] }
  | { readonly op: 'then'; readonly first: Expression; readonly rest: Expression }
  | { readonly op: 'either' | 'both'; readonly of: readonly Expression[] }
  | { readonly op: 'not'; readonly of: Expression }
  | { readonly op: 'repeat'; readonly of: Expression; readonly least: number; readonly most: number }

export const LAST_CODE_POINT = 0x10ffff

let known = new Map<string, Expression>()
let next = 0

/** Cache of expressions by shape. Ids are never reused, so evicting only costs time. */
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

export const NO_TEXT = lasting(false, { op: 'nothing' })
export const EMPTY_TEXT = lasting(true, { op: 'empty' })

export const characterIn = (ranges: readonly Range[]): Expression => characterInMerged(mergeRanges(ranges))

const characterInMerged = (ranges: readonly Range[]): Expression =>
  ranges.length === 0
    ? NO_TEXT
    : ranges.length === 1 && ranges[0]!.from === 0 && ranges[0]!.to === LAST_CODE_POINT
      ? ANY_CHARACTER
      : interned(`one ${ranges.map(({ from, to }) => `${from}-${to}`)}`, false, { op: 'one', ranges })

export const ANY_CHARACTER = lasting(false, { op: 'one', ranges: [{ from: 0, to: LAST_CODE_POINT }] })

/** One character; `ignoreCase` applies to ASCII letters only, as in Lucene. */
export const literalCharacter = (character: string, ignoreCase = false): Expression => {
  const code = character.codePointAt(0)!
  const other = ignoreCase && /[a-zA-Z]/.test(character) && code < 128 ? code ^ 32 : code
  return characterIn([pointRange(code), pointRange(other)])
}

const pointRange = (code: number): Range => ({ from: code, to: code })

/** A number as text between two others, with `digits` digits or with any leading zeros. */
export const numberBetween = (least: number, most: number, digits: number): Expression => {
  if (least > most) return NO_TEXT
  if (digits > 0) return digitsBetween(String(least).padStart(digits, '0'), String(most).padStart(digits, '0'))
  const parts: Expression[] = []
  for (let length = String(least).length; length <= String(most).length; length++) {
    const from = Math.max(least, length === 1 ? 0 : 10 ** (length - 1))
    const to = Math.min(most, 10 ** length - 1)
    parts.push(digitsBetween(String(from), String(to)))
  }
  return concatenate(repeatExpression(literalCharacter('0'), 0, Number.POSITIVE_INFINITY), either(parts))
}

const DIGIT_RANGE: Range = { from: 48, to: 57 }

/** Digits that lie between two others of their number. */
const digitsBetween = (low: string, high: string): Expression => {
  if (low === '') return EMPTY_TEXT
  const [first, last] = [low.charCodeAt(0), high.charCodeAt(0)]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  if (first === last) return concatenate(characterIn([pointRange(first)]), digitsBetween(lowRest, highRest))
  const parts = [
    concatenate(characterIn([pointRange(first)]), digitsBetween(lowRest, '9'.repeat(lowRest.length))),
    concatenate(characterIn([pointRange(last)]), digitsBetween('0'.repeat(highRest.length), highRest)),
  ]
  if (last - first > 1)
    parts.push(
      concatenate(
        characterIn([{ from: first + 1, to: last - 1 }]),
        repeatExpression(characterIn([DIGIT_RANGE]), lowRest.length, lowRest.length),
      ),
    )
  return either(parts)
}

export const except = (ranges: readonly Range[]): Expression =>
  characterIn(gapsIn(mergeRanges(ranges), 0, LAST_CODE_POINT))

export const concatenate = (first: Expression, rest: Expression): Expression => {
  if (first === NO_TEXT || rest === NO_TEXT) return NO_TEXT
  if (first === EMPTY_TEXT) return rest
  if (rest === EMPTY_TEXT) return first
  if (first === ANY_TEXT && (rest === ANY_TEXT || (rest.op === 'then' && rest.first === ANY_TEXT))) return rest
  if (first.op === 'then') return concatenate(first.first, concatenate(first.rest, rest))
  return interned(`then ${first.id} ${rest.id}`, first.nullable && rest.nullable, { op: 'then', first, rest })
}

export const chain = (parts: readonly Expression[]): Expression =>
  parts.reduceRight((rest, part) => concatenate(part, rest), EMPTY_TEXT)

export const either = (parts: readonly Expression[]): Expression => {
  const of = distinctParts('either', parts).filter(part => part !== NO_TEXT)
  const sets = of.filter(part => part.op === 'one')
  // One of several characters is one of all of theirs.
  if (sets.length > 1)
    return either([...of.filter(part => part.op !== 'one'), characterIn(sets.flatMap(part => part.ranges))])
  if (of.some(part => part === ANY_TEXT)) return ANY_TEXT
  return of.length === 0
    ? NO_TEXT
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
  const of = distinctParts('both', parts).filter(part => part !== ANY_TEXT)
  if (of.some(part => part === NO_TEXT)) return NO_TEXT
  return of.length === 0
    ? ANY_TEXT
    : of.length === 1
      ? of[0]!
      : interned(
          `both ${of.map(({ id }) => id)}`,
          of.every(({ nullable }) => nullable),
          { op: 'both', of },
        )
}

/** Budget of the derivation in progress, in joined parts. */
export const effort = { left: Number.POSITIVE_INFINITY }

const distinctParts = (op: 'either' | 'both', parts: readonly Expression[]): Expression[] => {
  const flat = parts.flatMap(part => (part.op === op ? part.of : [part]))
  effort.left -= flat.length
  if (effort.left < 0) throw tooComplex()
  return [...new Map(flat.map(part => [part.id, part])).values()].sort((a, b) => a.id - b.id)
}

export const complementOf = (of: Expression): Expression =>
  of.op === 'not'
    ? of.of
    : of === NO_TEXT
      ? ANY_TEXT
      : of === ANY_TEXT
        ? NO_TEXT
        : interned(`not ${of.id}`, !of.nullable, { op: 'not', of })

export const repeatExpression = (of: Expression, least: number, most: number): Expression => {
  if (most === 0) return EMPTY_TEXT
  if (of === EMPTY_TEXT) return EMPTY_TEXT
  if (of === NO_TEXT) return least === 0 ? EMPTY_TEXT : NO_TEXT
  if (least === 1 && most === 1) return of
  if (of.op === 'repeat' && of.least === 0 && of.most === Number.POSITIVE_INFINITY) return of
  if (of === ANY_CHARACTER && least === 0 && most === Number.POSITIVE_INFINITY) return ANY_TEXT
  return interned(`repeat ${of.id} ${least} ${most}`, least === 0 || of.nullable, { op: 'repeat', of, least, most })
}

export const ANY_TEXT = lasting(true, { op: 'repeat', of: ANY_CHARACTER, least: 0, most: Number.POSITIVE_INFINITY })

/** Derivative of an expression by a code point; `memo` caches shared subexpressions. */
export const deriveExpression = (whole: Expression, code: number, memo: Map<number, Expression>): Expression => {
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
      return NO_TEXT
    case 'one':
      return holds(whole.ranges, code) ? EMPTY_TEXT : NO_TEXT
    case 'then': {
      const taken = concatenate(deriveExpression(whole.first, code, memo), whole.rest)
      return whole.first.nullable ? either([taken, deriveExpression(whole.rest, code, memo)]) : taken
    }
    case 'either':
      return either(whole.of.map(part => deriveExpression(part, code, memo)))
    case 'both':
      return both(whole.of.map(part => deriveExpression(part, code, memo)))
    case 'not':
      return complementOf(deriveExpression(whole.of, code, memo))
    case 'repeat': {
      const { of, least, most } = whole
      // A nullable operand may be skipped: no more repetitions are required.
      const left = repeatExpression(of, of.nullable ? 0 : Math.max(0, least - 1), most - 1)
      return concatenate(deriveExpression(of, code, memo), left)
    }
  }
}
