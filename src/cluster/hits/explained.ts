import { tellsFrequency } from '../../engine/query/plan.ts'
import type { Kind } from '../../mapping/index.ts'
import { compileExplanation, type Explaining } from '../../query/explain-predicate.ts'
import type { CompileJoin } from '../../query/predicate.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Score, Scored } from '../../query/score.ts'
import { asFloat } from '../../query/similarity.ts'
import type { Page } from '../asker.ts'
import { type Expanding, isExpanding, isText } from '../query/frequencies.ts'
import type { Joins } from '../query/node.ts'
import { spelledOut, statisticsOf } from '../query/scoring.ts'
import type { Known } from '../query/search.ts'
import { notInCluster } from '../refused.ts'
import type { FoundHits } from './found.ts'

/** Tells hits how their scores come about, where that is asked for. */
export const explained = (
  { parts, shown }: SearchRequest,
  { hits, known }: Pick<Page, 'hits' | 'known'>,
  found: FoundHits,
): void => {
  if (!shown?.explain || hits.length === 0) return
  for (const { kind, query: node, score } of parts) {
    // Of what all have the same score the writer tells.
    if (score === undefined) continue
    const counted = knownOf(kind, known ?? refused())
    const explain = compileExplanation({ node, score: spelt(score, counted) }, counted)
    for (const hit of hits) {
      if (hit.kind !== kind) continue
      const [document] = found.exact.load(kind, [hit.position])
      if (document) hit.explanation = { ...explain(document._source, document), value: asFloat(hit.score ?? 1) }
    }
  }
}

/** What scores are counted from, as far as they are not the cluster's own. */
interface Counted extends Explaining {
  /** Whether it is counted here. */
  counts(term: Extract<Score, { by: 'term' }>): boolean
  /** Near values and beginnings as what they stand for; undefined where the cluster counts them. */
  expanded(score: Expanding): Score | undefined
}

const knownOf = (kind: Kind, { frequencies: known, joins, relatives }: Known): Counted => {
  return {
    ...statisticsOf(kind, known),
    relatives: { join: joinsOf(joins), scoreOf: relatives.valueOf },
    counts: ({ field, value, frequency }) =>
      !isText(field) || ((frequency !== undefined || tellsFrequency(kind, field, value)) && known.isPlain(kind, field)),
    expanded: score => spelledOut(score, kind, known),
  }
}

/** By the ids that conditions on relatives stand for. */
const joinsOf =
  (joins: Joins): CompileJoin =>
  node => {
    const ids = new Set(joins.idsOf(node))
    return ({ _id, _parent = '' }) => ids.has(node.op === 'child' ? _id : _parent)
  }

/** With near values and beginnings as the values that they stand for. Refuses scores that the cluster counts by itself. */
const spelt = (score: Score, known: Counted): Score => {
  const inner = ({ node, score }: Scored): Scored => ({ node, score: score && spelt(score, known) })
  switch (score.by) {
    case 'same':
      return score
    case 'term':
      return known.counts(score) ? score : refused()
    case 'fuzzy':
    case 'phrase': {
      const all = isExpanding(score) ? known.expanded(score) : undefined
      return all ? spelt(all, known) : refused()
    }
    case 'sum':
    case 'best':
      return { ...score, of: score.of.map(inner) }
    case 'lowered':
      return { ...score, of: spelt(score.of, known) }
    case 'nested':
      return { ...score, of: inner(score.of) }
    case 'child':
    case 'parent':
      return score
  }
}

const refused = (): never => {
  throw notInCluster('[explain] of words of longer texts', 'put them into a filter, or leave [explain] out')
}
