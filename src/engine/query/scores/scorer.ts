import { lazy } from '../../../lib/caches.ts'
import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import type { SearchRequest } from '../../../query/request.ts'
import { type Explanation, explanation, mapParts, type Score, type ScoredQuery } from '../../../query/score.ts'
import { compileDocumentScore, together } from '../../../query/score-predicate.ts'
import { bm25, expandBeginning, expandNear, type Statistics, weightOf } from '../../../query/statistics.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import { type Documents, memberName } from '../documents.ts'
import { numberedAs, positionOfOrdinal, viewOf } from '../fields/ordinals.ts'
import { evaluatePlan } from '../match/evaluate.ts'
import { linkOf, NO_PARENT } from '../match/joins.ts'
import { and, collected, count, listed, type OrdinalSet, packed, toArray } from '../match/ordinal-set.ts'
import type { MatchContext } from '../match/segment-matcher.ts'
import { planQuery } from '../plan/planner.ts'
import { type FoldOptions, foldScore, type Scorer, uniformScorer } from './fold.ts'
import { createStatistics, isOneWord } from './statistics.ts'

export interface ScorerOptions {
  kind: Kind
  reader: StoreReader
  ask: MatchContext['ask']
  exact: Documents
  /** Blocks that value frequencies are counted in; default: all. */
  within?: SearchRequest['within']
}

/** Scores by BM25, with the average field length in place of stored norms. */
export const createScorer = (score: Score, options: ScorerOptions): Scorer => {
  const { kind, reader } = options
  const known = createStatistics(options)
  const folding: FoldOptions = {
    leaf: leaf => leafScorer(leaf, { ...options, known, folding }),
    matchesOf: node => matchesOf(node, options),
    sizeOf: segment => viewOf(segment, numberedAs(kind), reader).size,
    isSingle: field => field.list === undefined && isOneWord(kind, field, reader),
    check: reader.check,
  }
  return foldScore(simplified(score, known), folding)
}

/** Replaces fuzzy values and prefixes by the values that they match. */
const simplified = (score: Score, known: Statistics): Score => {
  if (score.by === 'fuzzy') return expandNear(score, known)
  if (score.by === 'phrase' && score.prefix && score.words.length === 1)
    return expandBeginning(score.field, score.words[0]!, score.boost, known)
  return mapParts(score, inner => simplified(inner, known))
}

/** Filters some documents to those that match. */
export const matchesOf = (node: Node, { kind, reader, ask }: ScorerOptions) => {
  const evaluation = evaluatePlan({ kind, plan: planQuery(kind, node, reader), reader, ask })
  return (segment: Segment, within: OrdinalSet): OrdinalSet => {
    const { size } = viewOf(segment, numberedAs(kind), reader)
    return and(packed(evaluation.matches(segment, within), size), within, size)
  }
}

type LeafScore = Parameters<FoldOptions['leaf']>[0]
type LeafOptions = ScorerOptions & { known: Statistics; folding: FoldOptions }

const leafScorer = (score: LeafScore, options: LeafOptions): Scorer => {
  const { kind, reader, known, folding } = options
  switch (score.by) {
    case 'same':
      return uniformScorer(score.value)
    case 'term':
      if (!isOneWord(kind, score.field, reader)) return scoreByDocuments(score, options)
      return uniformScorer(bm25(weightOf(score, known), 1, 1, known.averageLength(score.field)))
    case 'nested': {
      const { mode, of } = score
      const uniform = mode === 'sum' || !of.score ? undefined : foldScore(of.score, folding).uniform
      return uniform === undefined ? scoreByDocuments(score, options) : uniformScorer(uniform)
    }
    case 'child':
    case 'parent': {
      const related = createScorer(score.of.score ?? { by: 'same', value: 0 }, { ...options, kind: score.kind })
      const isSum = score.by === 'child' && score.mode === 'sum'
      if (score.of.score && !isSum && related.uniform !== undefined) return uniformScorer(related.uniform * score.boost)
      return oneByOne(
        score.by === 'child' ? scoreByChildren(score, related, options) : scoreByParent(score, related, options),
      )
    }
    default:
      return scoreByDocuments(score, options)
  }
}

/** Scores that need each document. */
const oneByOne = (scores: Scorer['scores']): Scorer => ({
  uniform: undefined,
  greatest: Number.POSITIVE_INFINITY,
  groups: undefined,
  scores,
})

/** Reads the documents themselves. */
const scoreByDocuments = (score: LeafScore, { kind, reader, exact, known }: LeafOptions): Scorer => {
  const compiled = lazy(() => compileDocumentScore(score, known))
  const fields = 'field' in score ? [memberName(score.field)] : score.by === 'nested' ? [score.path] : undefined
  return oneByOne((segment, ordinals) => {
    const count = compiled()
    const header = reader.header(segment)
    return Float64Array.from(ordinals, ordinal => {
      reader.check()
      const [document] = exact.load(kind, [positionOfOrdinal(header, numberedAs(kind), ordinal)], fields)
      return document ? count(document._source, document) : 0
    })
  })
}

/** Parents and children are in the same segment. */
const scoreByChildren = (
  { kind: child, of, mode, boost }: Extract<Score, { by: 'child' }>,
  related: Scorer,
  options: ScorerOptions,
): Scorer['scores'] => {
  const { kind, reader } = options
  const [own, parent] = [numberedAs(child), numberedAs(kind)]
  const link = linkOf(own, parent, reader)
  const matches = lazy(() => matchesOf(of.node, { ...options, kind: child }))
  return (segment, ordinals) => {
    const at = viewOf(segment, parent, reader)
    const children = matches()(segment, link.down(at, listed(ordinals)))
    const scores = related.scores(segment, toArray(children))
    const byParent = new Map<number, number[]>()
    for (const [i, ordinal] of link.up(at, children).entries()) {
      if (ordinal === NO_PARENT) continue
      const list = byParent.get(ordinal)
      if (list) list.push(scores[i]!)
      else byParent.set(ordinal, [scores[i]!])
    }
    return Float64Array.from(ordinals, ordinal => boost * together(mode, byParent.get(ordinal) ?? []))
  }
}

const scoreByParent = (
  { kind: parent, boost }: Extract<Score, { by: 'parent' }>,
  related: Scorer,
  { kind, reader }: ScorerOptions,
): Scorer['scores'] => {
  const link = linkOf(numberedAs(kind), numberedAs(parent), reader)
  return (segment, ordinals) => {
    const parents = link.up(viewOf(segment, numberedAs(kind), reader), listed(ordinals))
    const distinct = toArray(
      collected(
        parents.filter(ordinal => ordinal !== NO_PARENT),
        viewOf(segment, numberedAs(parent), reader).size,
      ),
    )
    const scores = related.scores(segment, distinct)
    const known = new Map(Array.from(distinct, (ordinal, i) => [ordinal, scores[i]!]))
    return Float64Array.from(parents, ordinal => boost * (known.get(ordinal) ?? 0))
  }
}

/** Explains a match's score: the matching clauses and what each adds. */
export type Explain = (segment: Segment, ordinal: number) => Explanation
export const createExplainer = ({ node, score }: ScoredQuery, options: ScorerOptions): Explain => {
  const scoreOf = score && createScorer(score, options).scores
  const clauses = (score?.by === 'sum' || score?.by === 'best' ? score.of : []).map(one => explainClause(one, options))
  const text = score ? describeScore(score, node) : 'a filter'
  return (segment, ordinal) => {
    const details = clauses.flatMap(explain => explain(segment, ordinal))
    return explanation(scoreOf?.(segment, Uint32Array.of(ordinal))[0] ?? 0, text, details)
  }
}
const explainClause = (
  scored: ScoredQuery,
  options: ScorerOptions,
): ((...at: Parameters<Explain>) => Explanation[]) => {
  const matches = matchesOf(scored.node, options)
  const explain = createExplainer(scored, options)
  return (segment, ordinal) =>
    count(matches(segment, listed(Uint32Array.of(ordinal)))) > 0 ? [explain(segment, ordinal)] : []
}
const describeScore = (score: Score, node: ScoredQuery['node']): string => {
  switch (score.by) {
    case 'same':
      return 'field' in node ? `${node.field.path}: the same score for each match` : 'the same score for each match'
    case 'term':
      return `${score.field.path}: ${score.value}`
    case 'fuzzy':
      return `${score.field.path}: words like ${score.near.text}`
    case 'phrase':
      return `${score.field.path}: "${score.words.join(' ')}${score.prefix ? '*' : ''}"`
    case 'sum':
      return 'the sum of what matches'
    case 'best':
      return 'the best of what matches'
    case 'lowered':
      return 'lowered where the negative clause matches'
    case 'nested':
      return `${score.mode} of the matching ${score.path}`
    case 'child':
      return `${score.mode} of the matching children (${score.kind})`
    case 'parent':
      return `of the parent (${score.kind})`
  }
}
