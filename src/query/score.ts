import type { FieldPath, Kind } from '../mapping/index.ts'
import { ALL_NODE, NONE_NODE, type Node, type QueryValue } from './ast.ts'
import { asFloat } from './statistics.ts'
import type { Nearness } from './text/pattern.ts'

/**
 * Score of matching documents, as in Elasticsearch 7.17; it does not decide which match.
 * Constructors fold: a score that is the same for all documents is one number, known up front.
 */
export type Score =
  | { readonly by: 'same'; readonly value: number }
  /** BM25 of one value of a field. */
  | {
      readonly by: 'term'
      readonly field: FieldPath
      readonly value: QueryValue
      readonly boost: number
      /** Document frequency that overrides that of the value. */
      readonly frequency?: number
    }
  /** BM25 of words that stand in a row. */
  | {
      readonly by: 'phrase'
      readonly field: FieldPath
      readonly words: readonly string[]
      readonly slop: number
      readonly prefix: boolean
      readonly boost: number
    }
  /** BM25 of all values that are near to one, the less the further away they are. */
  | { readonly by: 'fuzzy'; readonly field: FieldPath; readonly near: Nearness; readonly boost: number }
  /** The sum of those parts whose node matches. */
  | { readonly by: 'sum'; readonly of: readonly ScoredQuery[] }
  /** The best matching part, plus `tie` times each of the others. */
  | { readonly by: 'best'; readonly of: readonly ScoredQuery[]; readonly tie: number }
  /** A score, multiplied by `factor` where another node matches. */
  | { readonly by: 'lowered'; readonly of: Score; readonly where: Node; readonly factor: number }
  | { readonly by: 'nested'; readonly path: string; readonly mode: ScoreMode; readonly of: ScoredQuery }
  | {
      readonly by: 'child'
      readonly kind: Kind
      readonly mode: ScoreMode
      readonly of: ScoredQuery
      readonly boost: number
    }
  | { readonly by: 'parent'; readonly kind: Kind; readonly of: ScoredQuery; readonly boost: number }

export type ScoreMode = 'avg' | 'sum' | 'min' | 'max'

/** A query: the matching documents and their score. Without a score it only filters. */
export interface ScoredQuery {
  readonly node: Node
  readonly score: Score | undefined
  /** What it marks in hits, if not its node. */
  readonly marks?: Node
}

export const sameScore = (value: number): Score => Object.freeze({ by: 'same', value })

/** All matches score alike. */
export const constantScored = (node: Node): ScoredQuery => ({ node, score: SCORE_OF_ONE })
const SCORE_OF_ONE = sameScore(1)

/** Matches nothing. */
export const SCORED_NONE: ScoredQuery = Object.freeze(constantScored(NONE_NODE))
export const SCORED_ALL: ScoredQuery = Object.freeze(constantScored(ALL_NODE))

export const onlyFilters = (node: Node): ScoredQuery => ({ node, score: undefined })

/** Sums required scores, and optional ones where they match. */
export const sumOfScores = (
  required: readonly (Score | undefined)[],
  optional: readonly ScoredQuery[] = [],
): Score | undefined => {
  let sure = 0
  const rest: ScoredQuery[] = []
  let any = false
  const add = ({ node, score }: ScoredQuery) => {
    if (score === undefined || node.op === 'none') return
    any = true
    if (score.by === 'sum' && node.op === 'all') for (const part of score.of) add(part)
    else if (score.by === 'same' && node.op === 'all') sure += score.value
    else rest.push({ node, score })
  }
  for (const score of required) add({ node: ALL_NODE, score })
  for (const part of optional) add(part)
  if (!any) return undefined
  if (rest.length === 0) return sameScore(sure)
  if (sure !== 0) rest.push({ node: ALL_NODE, score: sameScore(sure) })
  const [only] = rest
  if (rest.length === 1 && only!.node.op === 'all') return only!.score
  return Object.freeze({ by: 'sum', of: Object.freeze(rest) })
}

/** Sums required scores and optional ones, of which at least `least` match. */
export const sumOfSome = (
  required: readonly (Score | undefined)[],
  least: number,
  optional: readonly ScoredQuery[],
): Score | undefined => {
  const possible = optional.filter(({ node }) => node.op !== 'none')
  const all = least > 0 && least >= possible.length
  return all ? sumOfScores([...required, ...possible.map(({ score }) => score)]) : sumOfScores(required, possible)
}

export const best = (parts: readonly ScoredQuery[], tie = 0): Score | undefined => {
  const of = parts.filter(({ node, score }) => score !== undefined && node.op !== 'none')
  if (of.length === 0) return undefined
  if (of.length === 1 && parts.length === 1) return of[0]!.score
  // Equal constant scores: any match is the best one.
  const [first] = of
  if (tie === 0 && of.length === parts.length && first!.score!.by === 'same') {
    const { value } = first!.score as Extract<Score, { by: 'same' }>
    if (of.every(({ score }) => score!.by === 'same' && score!.value === value)) return first!.score
  }
  return Object.freeze({ by: 'best', of: Object.freeze(of), tie })
}

/** Multiplies a score. */
export const times = (score: Score | undefined, factor: number): Score | undefined =>
  score === undefined || factor === 1 ? score : Object.freeze(multiplied(score, factor))

const multiplied = (score: Score, factor: number): Score => {
  switch (score.by) {
    case 'same':
      return { ...score, value: score.value * factor }
    case 'term':
    case 'phrase':
    case 'fuzzy':
    case 'child':
    case 'parent':
      return { ...score, boost: score.boost * factor }
    case 'nested':
      return { ...score, of: { ...score.of, score: times(score.of.score, factor) } }
    default:
      return mapParts(score, inner => times(inner, factor)!)
  }
}

/** Replaces the inner scores of the same document. */
export const mapParts = (score: Score, change: (inner: Score) => Score): Score => {
  switch (score.by) {
    case 'sum':
    case 'best':
      return { ...score, of: score.of.map(({ node, score }) => ({ node, score: score && change(score) })) }
    case 'lowered':
      return { ...score, of: change(score.of) }
    default:
      return score
  }
}

export interface Explanation {
  readonly value: number
  readonly description: string
  readonly details: readonly Explanation[]
}

export const explanation = (
  value: number,
  description = 'the score of the document',
  details: readonly Explanation[] = [],
): Explanation => ({ value: asFloat(value), description, details })
