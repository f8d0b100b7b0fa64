import { lazy } from '../../../lib/caches.ts'
import type { FieldPath } from '../../../mapping/index.ts'
import type { Node, QueryValue } from '../../../query/ast.ts'
import type { Score, ScoredQuery } from '../../../query/score.ts'
import type { Segment } from '../../reader.ts'
import { and, count, EMPTY_SET, isEmptySet, listed, minus, type OrdinalSet, or, toArray } from '../match/ordinal-set.ts'

/** Matches with equal score. */
export interface ScoreGroup {
  score: number
  set: OrdinalSet
}

/** Scores of matching documents of one kind. */
export interface Scorer {
  /** The score of all matches, if they are equal. */
  uniform: number | undefined
  /** Upper bound of all scores. */
  greatest: number
  /**
   * Partitions a segment's matches by score without reading documents; no group is empty.
   * Undefined where a score depends on more than whether a part matches.
   */
  groups: ((segment: Segment, matches: OrdinalSet) => readonly ScoreGroup[]) | undefined
  /** Scores documents by ordinal; the ordinals ascend and match. */
  scores(segment: Segment, ordinals: Uint32Array): Float64Array
}

type Matches = (segment: Segment, within: OrdinalSet) => OrdinalSet

export interface FoldOptions {
  /** Creates the scorer of a leaf. */
  leaf(score: Exclude<Score, { by: 'sum' | 'best' | 'lowered' }>): Scorer
  /** Filters some documents to those that match. */
  matchesOf(node: Node): Matches
  sizeOf(segment: Segment): number
  /** Whether each document has at most one value of the field. */
  isSingle(field: FieldPath): boolean
  check(): void
}

/** Sets and single documents add parts in the same order, so both give equal sums. */
export const foldScore = (score: Score, options: FoldOptions): Scorer => {
  switch (score.by) {
    case 'sum':
      return sumScorer(score.of, options)
    case 'best':
      return bestScorer(score, options)
    case 'lowered':
      return lowered(score, options)
    default:
      return options.leaf(score)
  }
}

export const uniformScorer = (uniform: number): Scorer => ({
  uniform,
  greatest: uniform >= 0 ? uniform : Number.POSITIVE_INFINITY,
  groups: (_, matches) => (isEmptySet(matches) ? [] : [{ score: uniform, set: matches }]),
  scores: (_, ordinals) => new Float64Array(ordinals.length).fill(uniform),
})

interface ScorePart {
  isEverywhere: boolean
  scorer: () => Scorer
  matches: Matches
}

const scoreParts = (of: readonly ScoredQuery[], options: FoldOptions): ScorePart[] =>
  of.map(({ node, score }) => {
    const find = lazy(() => options.matchesOf(node))
    return {
      isEverywhere: node.op === 'all',
      scorer: lazy(() => foldScore(score!, options)),
      matches: latest((segment, within) => find()(segment, within)),
    }
  })

/** Caches the last result. */
const latest = (find: Matches): Matches => {
  let asked: [segment: number, within: OrdinalSet] | undefined
  let found = EMPTY_SET
  return (segment, within) => {
    if (asked?.[0] !== segment.id || asked[1] !== within) {
      found = find(segment, within)
      asked = [segment.id, within]
    }
    return found
  }
}

/** Number of parts above which sets may form too many groups. */
const MAX_GROUPED_PARTS = 8

const areGrouped = (parts: readonly ScorePart[]): boolean =>
  parts.length <= MAX_GROUPED_PARTS && parts.every(({ scorer }) => scorer().groups !== undefined)

const greatestOf = (parts: readonly ScorePart[]): number => Math.max(...parts.map(({ scorer }) => scorer().greatest))

const plus = (sum: number, one: number): number => sum + one

const sumScorer = (of: readonly ScoredQuery[], options: FoldOptions): Scorer => {
  const parts = scoreParts(of, options)
  if (parts.every(({ isEverywhere, scorer }) => isEverywhere && scorer().uniform !== undefined))
    return uniformScorer(parts.reduce((sum, { scorer }) => sum + scorer().uniform!, 0))
  const combined = combineScores(parts, plus, options)
  if (!combined.groups) return { uniform: undefined, greatest: Number.POSITIVE_INFINITY, ...combined }
  const greatest = areExclusive(of, options)
    ? greatestOf(parts)
    : parts.reduce((sum, { scorer }) => sum + scorer().greatest, 0)
  return { uniform: undefined, greatest, ...combined }
}

/** Whether the parts exclude each other, each requiring another value of the same field. */
const areExclusive = (of: readonly ScoredQuery[], { isSingle }: FoldOptions): boolean => {
  const [first] = of
  if (first?.node.op !== 'in' || !isSingle(first.node.field)) return false
  const { path } = first.node.field
  const values: QueryValue[] = []
  for (const { node } of of) {
    if (node.op !== 'in' || node.field.path !== path) return false
    values.push(...node.values)
  }
  return new Set(values).size === values.length
}

const bestScorer = ({ of, tie }: Extract<Score, { by: 'best' }>, options: FoldOptions): Scorer => {
  const parts = scoreParts(of, options)
  const best = combineScores(parts, Math.max, options)
  if (tie === 0) {
    const greatest = best.groups ? greatestOf(parts) : Number.POSITIVE_INFINITY
    return { uniform: undefined, greatest, ...best }
  }
  const all = combineScores(parts, plus, options)
  const withTie = (best: number, sum: number): number => best + tie * (sum - best)
  return {
    uniform: undefined,
    greatest: Number.POSITIVE_INFINITY,
    groups:
      best.groups &&
      ((segment, matches) => {
        const size = options.sizeOf(segment)
        const bySum = all.groups!(segment, matches)
        return merged(
          best.groups!(segment, matches).flatMap(({ score, set }) =>
            bySum.map(sum => ({ score: withTie(score, sum.score), set: and(set, sum.set, size) })),
          ),
          size,
        )
      }),
    scores(segment, ordinals) {
      const sums = all.scores(segment, ordinals)
      return best.scores(segment, ordinals).map((score, i) => withTie(score, sums[i]!))
    },
  }
}

const lowered = (score: Extract<Score, { by: 'lowered' }>, options: FoldOptions): Scorer => {
  const { factor } = score
  const of = foldScore(score.of, options)
  const where = lazy(() => options.matchesOf(score.where))
  return {
    uniform: undefined,
    greatest: of.groups ? of.greatest * Math.max(1, factor) : Number.POSITIVE_INFINITY,
    groups:
      of.groups &&
      ((segment, matches) => {
        const size = options.sizeOf(segment)
        const unwanted = where()(segment, matches)
        return merged(
          of.groups!(segment, matches).flatMap(({ score, set }) => {
            const [inside, outside] = splitSet(set, unwanted, size)
            return [
              { score: score * factor, set: inside },
              { score, set: outside },
            ]
          }),
          size,
        )
      }),
    scores(segment, ordinals) {
      const scores = of.scores(segment, ordinals)
      const unwanted = toArray(where()(segment, listed(ordinals)))
      for (let i = 0, j = 0; j < unwanted.length; i++)
        if (ordinals[i] === unwanted[j]) {
          scores[i]! *= factor
          j++
        }
      return scores
    },
  }
}

/** Adds the scores of the parts that match. */
const combineScores = (
  parts: readonly ScorePart[],
  add: (before: number, one: number) => number,
  { sizeOf, check }: FoldOptions,
): Pick<Scorer, 'groups' | 'scores'> => {
  const groups: Scorer['groups'] = (segment, matches) => {
    if (isEmptySet(matches)) return []
    const size = sizeOf(segment)
    let groups: ScoreGroup[] = [{ score: 0, set: matches }]
    for (const { isEverywhere, scorer, matches: find } of parts) {
      const own = isEverywhere ? matches : find(segment, matches)
      if (isEmptySet(own)) continue
      const scores = scorer().groups!(segment, own)
      groups = merged(
        groups.flatMap(({ score: before, set }) => {
          const [inside, outside] = splitSet(set, own, size, set === matches)
          return [
            ...scores.map(one => ({
              score: add(before, one.score),
              set: scores.length === 1 ? inside : and(inside, one.set, size),
            })),
            { score: before, set: outside },
          ]
        }),
        size,
      )
    }
    return groups
  }
  return {
    groups: areGrouped(parts) ? groups : undefined,
    scores(segment, ordinals) {
      const found = new Float64Array(ordinals.length)
      for (const { isEverywhere, scorer, matches } of parts) {
        check()
        const some = isEverywhere ? ordinals : toArray(matches(segment, listed(ordinals)))
        const own = scorer().scores(segment, some)
        for (let i = 0, j = 0; j < some.length; i++)
          if (ordinals[i] === some[j]) {
            found[i] = add(found[i]!, own[j]!)
            j++
          }
      }
      return found
    },
  }
}

/** Splits a set by another; `isPart`: the other is a subset of it. */
const splitSet = (
  set: OrdinalSet,
  other: OrdinalSet,
  size: number,
  isPart = false,
): [inside: OrdinalSet, outside: OrdinalSet] => {
  const inside = isPart ? other : and(set, other, size)
  if (isEmptySet(inside)) return [EMPTY_SET, set]
  return count(inside) === count(set) ? [set, EMPTY_SET] : [inside, minus(set, inside, size)]
}

/** Merges groups of equal score. */
const merged = (groups: readonly ScoreGroup[], size: number): ScoreGroup[] => {
  const found: ScoreGroup[] = []
  for (const group of groups) {
    if (isEmptySet(group.set)) continue
    const same = found.find(({ score }) => score === group.score)
    if (same) same.set = or([same.set, group.set], size)
    else found.push({ ...group })
  }
  return found
}

/** The scores of all matches, by ordinal. */
export const spread = (groups: readonly ScoreGroup[], size: number): Float64Array => {
  const all = new Float64Array(size)
  for (const { score, set } of groups)
    if (set.form === 'run') all.fill(score, set.from, set.to)
    else for (const ordinal of toArray(set)) all[ordinal] = score
  return all
}
