import type { FieldPath, Kind } from '../mapping/index.ts'
import { ALL_NODE, NONE_NODE, type Node, type QueryValue } from './ast.ts'
import { asFloat } from './statistics.ts'
import type { Nearness } from './text/fuzzy.ts'

/**
 * How well a document that matches fits, as Elasticsearch 7.17 counts it. It says nothing of which documents match. Makers fold as they
 * build: what is the same for every document is one number, known before any document is read.
 */
export type Score =
  | { readonly by: 'same'; readonly value: number }
  /** BM25 of one value of a field. */
  | {
      readonly by: 'term'
      readonly field: FieldPath
      readonly value: QueryValue
      readonly boost: number
      /** In how many documents the value counts as being; by default in those that have it. */
      readonly frequency?: number
    }
  /** BM25 of words that stand in a row. */
  | {
      readonly by: 'phrase'
      readonly field: FieldPath
      readonly words: readonly string[]
      readonly slop: number
      /** Whether of the last word only the beginning is given. */
      readonly prefix: boolean
      readonly boost: number
    }
  /** BM25 of all values that are near to one, the less the further away they are. */
  | { readonly by: 'fuzzy'; readonly field: FieldPath; readonly near: Nearness; readonly boost: number }
  /** The sum of those parts whose node matches. */
  | { readonly by: 'sum'; readonly of: readonly ScoredQuery[] }
  /** The best of the parts whose node matches, and so much of each of the others. */
  | { readonly by: 'best'; readonly of: readonly ScoredQuery[]; readonly tie: number }
  /** So much of a score where another node matches, too. */
  | { readonly by: 'lowered'; readonly of: Score; readonly where: Node; readonly factor: number }
  /** What the matching elements of a list have. */
  | { readonly by: 'nested'; readonly path: string; readonly mode: ScoreMode; readonly of: ScoredQuery }
  /** What the matching children have. */
  | {
      readonly by: 'child'
      readonly kind: Kind
      readonly mode: ScoreMode
      readonly of: ScoredQuery
      readonly boost: number
    }
  /** What the parent has. */
  | { readonly by: 'parent'; readonly kind: Kind; readonly of: ScoredQuery; readonly boost: number }

export type ScoreMode = 'avg' | 'sum' | 'min' | 'max'

/** A query that is read: which documents match, and how well. Without a score it only filters. */
export interface ScoredQuery {
  readonly node: Node
  readonly score: Score | undefined
}

export const sameScore = (value: number): Score => Object.freeze({ by: 'same', value })

/** All that match fit equally well. */
export const constantScored = (node: Node): ScoredQuery => ({ node, score: SCORE_OF_ONE })
const SCORE_OF_ONE = sameScore(1)

/** Matches nothing. */
export const SCORED_NONE: ScoredQuery = Object.freeze(constantScored(NONE_NODE))
export const SCORED_ALL: ScoredQuery = Object.freeze(constantScored(ALL_NODE))

export const onlyFilters = (node: Node): ScoredQuery => ({ node, score: undefined })

/** What always counts, and what counts where it matches. */
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

/** What counts of those parts of which at least so many match, beside what always counts. */
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
  // Where one of those that are equal matches, it is the best.
  const [first] = of
  if (tie === 0 && of.length === parts.length && first!.score!.by === 'same') {
    const { value } = first!.score as Extract<Score, { by: 'same' }>
    if (of.every(({ score }) => score!.by === 'same' && score!.value === value)) return first!.score
  }
  return Object.freeze({ by: 'best', of: Object.freeze(of), tie })
}

/** The score so many times; of none none. */
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

/** The score with others in place of those of the same document that it is put together from. */
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

/** How a score comes about, as `_explanation` shows it. */
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
