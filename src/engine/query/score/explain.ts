import { bestOf, compileExplanation, loweredTo, sumOf } from '../../../query/explain-predicate.ts'
import { type Explanation, joined, told } from '../../../query/explanation.ts'
import type { Scored } from '../../../query/score.ts'
import type { Segment } from '../../reader.ts'
import { numberedAs, positionOfOrdinal } from '../places.ts'
import { count, listed } from '../sets.ts'
import { createScorer, matchesOf, type ScorerOptions, simplified } from './scorer.ts'
import { createStatistics } from './statistics.ts'

/** Tells how the score of a document that matches comes about. */
export type Explain = (segment: Segment, ordinal: number) => Explanation

export const createExplainer = (scored: Scored, options: ScorerOptions): Explain => {
  const known = createStatistics(options)
  return build({ node: scored.node, score: scored.score && simplified(scored.score, known) }, options)
}

const build = ({ node, score }: Scored, options: ScorerOptions): Explain => {
  switch (score?.by) {
    case 'sum': {
      const parts = score.of.map(part => gated(part, options))
      return (segment, ordinal) => {
        const details = parts.flatMap(part => part(segment, ordinal) ?? [])
        return sumOf(details)
      }
    }
    case 'best': {
      const { tie } = score
      const parts = score.of.map(part => gated(part, options))
      return (segment, ordinal) => {
        const details = parts.flatMap(part => part(segment, ordinal) ?? [])
        return bestOf(details, tie)
      }
    }
    case 'lowered': {
      const of = build({ node, score: score.of }, options)
      const isLowered = gate(score.where, options)
      return (segment, ordinal) => {
        const full = of(segment, ordinal)
        return isLowered(segment, ordinal) ? loweredTo(full, score) : full
      }
    }
    case 'child':
    case 'parent': {
      const scorer = createScorer(score, options)
      return (segment, ordinal) => {
        const [value = 0] = scorer.scores(segment, Uint32Array.of(ordinal))
        return joined(value, idOf(segment, ordinal, options))
      }
    }
    default: {
      const explain = compileExplanation({ node, score }, createStatistics(options))
      return (segment, ordinal) => {
        const document = documentAt(segment, ordinal, options)
        return document ? explain(document._source, document) : told(0, 'no such document')
      }
    }
  }
}

/** What a part adds; undefined where it does not match. */
const gated = (part: Scored, options: ScorerOptions): ((...at: Parameters<Explain>) => Explanation | undefined) => {
  const matches = gate(part.node, options)
  const explain = build(part, options)
  return (segment, ordinal) => (matches(segment, ordinal) ? explain(segment, ordinal) : undefined)
}

const gate = (node: Scored['node'], options: ScorerOptions): ((...at: Parameters<Explain>) => boolean) => {
  if (node.op === 'all') return () => true
  const matches = matchesOf({ node, score: undefined }, options)
  return (segment, ordinal) => count(matches(segment, listed(Uint32Array.of(ordinal)))) > 0
}

const documentAt = (segment: Segment, ordinal: number, { kind, reader, exact }: ScorerOptions) => {
  reader.check()
  return exact.load(kind, [positionOfOrdinal(reader.header(segment), numberedAs(kind), ordinal)])[0]
}

const idOf = (segment: Segment, ordinal: number, options: ScorerOptions): string =>
  documentAt(segment, ordinal, options)?._id ?? ''
