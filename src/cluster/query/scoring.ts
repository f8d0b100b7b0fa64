import { tellsFrequency } from '../../engine/query/plan.ts'
import { hasDictionary } from '../../engine/query/term-dictionary.ts'
import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Node } from '../../query/ast.ts'
import type { Score, Scored } from '../../query/score.ts'
import { bm25 } from '../../query/similarity.ts'
import { and } from '../../query/simplify.ts'
import { expandBeginning, expandNear, type Statistics, weightOf } from '../../query/statistics.ts'
import { type Dsl, MATCH_ALL } from './dsl.ts'
import { type Expanding, type Frequencies, hasLength, isExpanding, isText } from './frequencies.ts'
import { compilePhrase } from './leaf.ts'
import { compileNode, type Joins } from './node.ts'
import type { RelativeScores } from './relatives.ts'
import { unsupported } from './unsupported.ts'

/** Words of a list are several in one text. */
const isWordOfList = ({ compare, list }: FieldPath): boolean =>
  compare === 'token' && list !== undefined && !list.nested

/** What was looked up of scores. */
export type Scoring = Frequencies & Pick<RelativeScores, 'scoreOf'>

/** A score in which what is the same for all that match is one number. */
export const folded = (score: Score, kind: Kind, known: Scoring): Score => {
  const inner = ({ node, score }: Scored): Scored => ({ node, score: score && folded(score, kind, known) })
  switch (score.by) {
    case 'term':
      return foldedTerm(score, kind, known)
    case 'fuzzy':
    case 'phrase':
      return isExpanding(score) ? expanded(score, kind, known) : score
    case 'sum': {
      const of = score.of.map(inner)
      let sure = 0
      for (const { node, score } of of) {
        if (node.op !== 'all' || score?.by !== 'same') return { by: 'sum', of }
        sure += score.value
      }
      return { by: 'same', value: sure }
    }
    case 'best':
      return { ...score, of: score.of.map(inner) }
    case 'lowered':
      return { ...score, of: folded(score.of, kind, known) }
    case 'nested': {
      const of = inner(score.of)
      return score.mode !== 'sum' && of.score?.by === 'same' ? of.score : { ...score, of }
    }
    case 'child':
    case 'parent':
      return known.scoreOf(score)
    default:
      return score
  }
}

const foldedTerm = (score: Extract<Score, { by: 'term' }>, kind: Kind, known: Scoring): Score => {
  const { field, value } = score
  const isTold = score.frequency !== undefined || tellsFrequency(kind, field, value)
  if (isWordOfList(field) || (isText(field) && !(isTold && known.isPlain(kind, field)))) return score
  const average = isTold && hasLength(kind, field) ? known.averageLength(kind, field) : 1
  const weight = weightOf(score, {
    ...statisticsOf(kind, known),
    frequency: () => (isTold ? known.frequency(kind, field, value) : undefined),
  })
  return { by: 'same', value: bm25(weight, 1, 1, average) }
}

/** The score of those values that there are; as it was where these are too many. */
const expanded = (score: Expanding, kind: Kind, known: Scoring): Score => {
  const values = spelledOut(score, kind, known)
  return values ? folded(values, kind, known) : score
}

/** The values that a score stands for; undefined where these are too many. */
export const spelledOut = (score: Expanding, kind: Kind, known: Frequencies): Score | undefined => {
  const { field, boost } = score
  if (!hasDictionary(kind, field)) return { by: 'same', value: boost }
  const values = known.valuesOf(kind, score)
  if (values === undefined) return undefined
  const statistics = { ...statisticsOf(kind, known), values: () => values }
  return score.by === 'fuzzy'
    ? expandNear(score, statistics)
    : expandBeginning(field, score.words[0]!, boost, statistics)
}

/** As a store tells them: of what it does not count nothing is known here, either. */
export const statisticsOf = (kind: Kind, known: Frequencies): Statistics => ({
  documents: field => known.documents(kind, field),
  frequency: (field, value) => (tellsFrequency(kind, field, value) ? known.frequency(kind, field, value) : undefined),
  averageLength: field => (hasLength(kind, field) ? known.averageLength(kind, field) : 1),
  values: () => undefined,
})

/** Conditions that decide which parts of a score count. */
export const nodesIn = (score: Score | undefined): Node[] => {
  switch (score?.by) {
    case 'sum':
    case 'best':
      return score.of.flatMap(({ node, score }) => [node, ...nodesIn(score)])
    case 'lowered':
      return [score.where, ...nodesIn(score.of)]
    default:
      return []
  }
}

/** What of a score the cluster counts by itself. */
export interface Counting {
  kind: Kind
  joins: Joins
  frequencies: Frequencies
  /** Told where words of texts count, whose statistics the cluster has to gather from all of its indices. */
  onText(): void
}

/** A query that matches everything, and counts what the score says. */
export const compileScore = (score: Score | undefined, counting: Counting): Dsl => {
  switch (score?.by) {
    case undefined:
      return constant(0)
    case 'same':
      return constant(score.value)
    case 'term': {
      if (isWordOfList(score.field))
        throw unsupported(`a score of ${score.field.path}`, 'put the clause into a filter, or sort by a field')
      counting.onText()
      return optional([{ term: { [score.field.path]: { value: score.value, boost: boostOf(score, counting) } } }])
    }
    case 'phrase': {
      if (score.prefix)
        throw unsupported(
          score.words.length === 1
            ? 'a score of beginnings of words in many or long texts'
            : 'a score of the beginning of a phrase',
          'put the clause into a filter, or sort by a field',
        )
      counting.onText()
      return optional([compilePhrase({ ...score, op: 'phrase' }, score.boost)])
    }
    case 'fuzzy':
      throw unsupported(
        'a score of near words in many or long texts',
        'put the clause into a filter, or sort by a field',
      )
    case 'sum':
      return optional(flattened(score.of).flatMap(part => summands(part, counting)))
    case 'best': {
      const queries = score.of.map(part => gated(part, counting))
      return optional([{ dis_max: { queries, tie_breaker: score.tie } }])
    }
    case 'lowered': {
      const negative = compileNode(score.where, counting.kind, counting.joins)
      return { boosting: { positive: compileScore(score.of, counting), negative, negative_boost: score.factor } }
    }
    case 'nested': {
      const query = gated(score.of, counting)
      return optional([{ nested: { path: score.path, score_mode: score.mode, query, ignore_unmapped: true } }])
    }
    case 'child':
    case 'parent':
      throw new Error(`a score of a ${score.by} was not looked up`)
  }
}

/** The cluster counts by how frequent the value itself is. */
const boostOf = (score: Extract<Score, { by: 'term' }>, { kind, frequencies }: Counting): number => {
  const { frequency, ...own } = score
  if (frequency === undefined) return score.boost
  const statistics = statisticsOf(kind, frequencies)
  return weightOf(score, statistics) / weightOf({ ...own, boost: 1 }, statistics)
}

const constant = (boost: number, filter: Dsl = MATCH_ALL): Dsl => {
  if (boost < 0) throw unsupported('a negative score', 'give boosts of 0 or more')
  return { constant_score: { filter, boost } }
}

/** Counts those that match; where none does, 0. */
const optional = (should: readonly Dsl[]): Dsl => ({ bool: { filter: [MATCH_ALL], should } })

/** A sum within a sum counts part by part: the cluster would round it by itself. */
const flattened = (parts: readonly Scored[]): Scored[] =>
  parts.flatMap(({ node, score }) =>
    score?.by === 'sum'
      ? flattened(score.of.map(inner => ({ node: and([node, inner.node]), score: inner.score })))
      : [{ node, score }],
  )

/** The cluster adds numbers of single precision up exactly: one of double precision is a sum of two. */
const summands = (part: Scored, counting: Counting): Dsl[] => {
  const { node, score } = part
  if (score?.by !== 'same') return [gated(part, counting)]
  const filter = compileNode(node, counting.kind, counting.joins)
  const large = floatBelow(score.value)
  return [large, Math.fround(score.value - large)].filter(value => value !== 0).map(value => constant(value, filter))
}

const floatBelow = (value: number): number => {
  const nearest = Math.fround(value)
  return nearest <= value ? nearest : Math.fround(nearest - nearest * 2 ** -24)
}

/** Matches what the part does. */
const gated = ({ node, score }: Scored, counting: Counting): Dsl => {
  const filter = compileNode(node, counting.kind, counting.joins)
  if (score?.by === 'same') return constant(score.value, filter)
  const must = compileScore(score, counting)
  return node.op === 'all' ? must : { bool: { filter: [filter], must: [must] } }
}
