import { type Explanation, explanation, type Score, type Scored } from '../../../query/score.ts'
import type { Segment } from '../../reader.ts'
import { count, listed } from '../match/ordinal-set.ts'
import { createScorer, matchesOf, type ScorerOptions } from './scorer.ts'

/** Explains the score of a document that matches: which clauses match, and what each of them adds. */
export type Explain = (segment: Segment, ordinal: number) => Explanation

export const createExplainer = ({ node, score }: Scored, options: ScorerOptions): Explain => {
  const scoreOf = score && createScorer(score, options).scores
  const clauses = (score?.by === 'sum' || score?.by === 'best' ? score.of : []).map(one => clause(one, options))
  const text = score ? describe(score, node) : 'a filter'
  return (segment, ordinal) => {
    const details = clauses.flatMap(explain => explain(segment, ordinal))
    return explanation(scoreOf?.(segment, Uint32Array.of(ordinal))[0] ?? 0, text, details)
  }
}

const clause = (scored: Scored, options: ScorerOptions): ((...at: Parameters<Explain>) => Explanation[]) => {
  const matches = matchesOf(scored.node, options)
  const explain = createExplainer(scored, options)
  return (segment, ordinal) =>
    count(matches(segment, listed(Uint32Array.of(ordinal)))) > 0 ? [explain(segment, ordinal)] : []
}

const describe = (score: Score, node: Scored['node']): string => {
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
