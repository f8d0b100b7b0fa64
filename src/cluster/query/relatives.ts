import { ALL, type JoinNode, type Node } from '../../query/ast.ts'
import type { Document } from '../../query/predicate.ts'
import type { RequestPart, SearchRequest } from '../../query/request.ts'
import { type LeafScore, leavesIn, type RelativeScore, type Score, same } from '../../query/score.ts'
import { together } from '../../query/score-predicate.ts'
import { and, child, parent } from '../../query/simplify.ts'
import { META_FIELDS } from '../meta.ts'
import type { Dsl } from './dsl.ts'
import { blocksIn, type Looking, MOST_RELATED, tooMany } from './joins.ts'
import type { Joins } from './node.ts'
import type { Compiled } from './search.ts'
import { unsupported } from './unsupported.ts'

/** What relatives score, looked up before the search. */
export interface RelativeScores {
  /** As a score of the documents that have these relatives. */
  scoreOf(score: RelativeScore): Score
  /** Of one document; 0 where it has no such relatives. */
  valueOf(score: RelativeScore): (document: Pick<Document, '_id' | '_parent'>) => number
  /** What its conditions stand for. */
  ids: ReadonlyMap<JoinNode, readonly string[]>
}

export const withRelatives = (joins: Joins, { ids }: RelativeScores): Joins => ({
  idsOf: node => ids.get(node) ?? joins.idsOf(node),
})

/** Each score is a condition of its own. */
const MOST_SCORES = 500
const PAGE = 10_000

type Prepare = (request: SearchRequest, looking: Looking) => Promise<Compiled>

/** `prepare` compiles the search for relatives, which may be scored by theirs. */
export const resolveRelatives = async (
  parts: readonly Pick<RequestPart, 'query' | 'score'>[],
  looking: Looking,
  prepare: Prepare,
): Promise<RelativeScores> => {
  const scores = new Map<RelativeScore, Score>()
  const found = new Map<RelativeScore, number | IdsByScore>()
  const ids = new Map<JoinNode, readonly string[]>()
  for (const { query, score } of parts)
    for (const one of leavesIn(score).filter(isRelative)) {
      const byScore = await idsByScore(one, blocksIn(query, one.kind), { looking, prepare })
      found.set(one, byScore)
      if (typeof byScore === 'number') {
        scores.set(one, same(byScore * one.boost))
        continue
      }
      const of = Array.from(byScore, ([value, some]) => {
        const node = (one.by === 'child' ? child(one.kind, ALL) : parent(one.kind, ALL)) as JoinNode
        ids.set(node, some)
        return { node, score: same(value * one.boost) }
      })
      if (of.length > MOST_SCORES)
        throw unsupported(
          `a score of ${clauseOf(one)} that is another one for more than ${MOST_SCORES} documents`,
          'narrow its inner query, or put it into constant_score there',
        )
      scores.set(one, { by: 'sum', of })
    }
  return {
    ids,
    scoreOf: score => lookedUp(scores, score),
    valueOf(score) {
      const byScore = lookedUp(found, score)
      if (typeof byScore === 'number') return () => byScore * score.boost
      const values = new Map(
        Array.from(byScore, ([value, ids]) => ids.map(id => [id, value * score.boost] as const)).flat(),
      )
      return ({ _id, _parent = '' }) => values.get(score.by === 'child' ? _id : _parent) ?? 0
    },
  }
}

const lookedUp = <T>(all: ReadonlyMap<RelativeScore, T>, score: RelativeScore): T => {
  const found = all.get(score)
  if (found === undefined) throw new Error(`a score of a ${score.by} was not looked up`)
  return found
}

const clauseOf = ({ by }: RelativeScore): string => (by === 'child' ? 'has_child' : 'has_parent')

const isRelative = (leaf: LeafScore): leaf is RelativeScore => leaf.by === 'child' || leaf.by === 'parent'

type IdsByScore = ReadonlyMap<number, readonly string[]>

interface Asking {
  looking: Looking
  prepare: Prepare
}

/** Those of parents, by what the scores of their children make together, or the score of each; or one score, which all have. */
const idsByScore = async (
  score: RelativeScore,
  blocks: readonly Node[],
  { looking, prepare }: Asking,
): Promise<number | IdsByScore> => {
  const { kind, of } = score
  const part = { kind, query: and([of.node, ...blocks]), ...(of.score && { score: of.score }) }
  const request: SearchRequest = {
    ...{ parts: [part], sort: BY_PLACE, from: 0, size: PAGE, source: false, trackScores: true },
    ...{ trackTotal: false, within: looking.within },
  }
  const compiled = await prepare(request, looking)
  const { uniform } = compiled
  if (uniform === undefined) {
    const all = await scoresOfAll(score, compiled, looking)
    if (score.by === 'parent') return inverted(all.map(({ id, score }): [string, number] => [id, score]))
    const byParent = Map.groupBy(all, ({ parent }) => parent!)
    return inverted(
      Array.from(byParent, ([id, some]) => [
        id,
        together(
          score.mode,
          some.map(one => one.score),
        ),
      ]),
    )
  }
  if (score.by === 'parent' || score.mode !== 'sum') return uniform
  const counts = await childrenByParent(score, compiled, looking)
  return inverted(counts.map(([id, count]) => [id, together('sum', new Array(count).fill(uniform))]))
}

const BY_PLACE: SearchRequest['sort'] = [{ by: '_doc', fields: {}, order: 'desc', missing: '_last' }]

const inverted = (scores: readonly (readonly [id: string, score: number])[]): IdsByScore => {
  const ids = new Map<number, string[]>()
  for (const [id, score] of scores) {
    const some = ids.get(score)
    if (some) some.push(id)
    else ids.set(score, [id])
  }
  return ids
}

interface FoundScores {
  hits: { hits: { _id: string; _score: number; sort: unknown[]; fields?: Record<string, [string]> }[] }
}

interface ScoredRelative {
  id: string
  parent: string | undefined
  score: number
}

const scoresOfAll = async (
  score: RelativeScore,
  { kinds, body, parameters }: Compiled,
  { ask }: Looking,
): Promise<ScoredRelative[]> => {
  const all: ScoredRelative[] = []
  let after: unknown[] | undefined
  while (kinds.length > 0) {
    const shown = { _source: false, docvalue_fields: [META_FIELDS.parent] }
    const asked = { ...body, ...shown, ...(after && { search_after: after }) }
    const { hits } = (await ask(kinds, asked, parameters)) as FoundScores
    for (const { _id, _score, fields } of hits.hits)
      all.push({ id: _id, parent: fields?.[META_FIELDS.parent]?.[0], score: _score })
    if (all.length > MOST_RELATED) throw tooMany(clauseOf(score), score.kind)
    if (hits.hits.length < PAGE) break
    after = hits.hits.at(-1)!.sort
  }
  return all
}

interface FoundCounts {
  /** Absent where there is no index yet. */
  aggregations?: { parents: { after_key?: object; buckets: { key: { id: string }; doc_count: number }[] } }
}

const childrenByParent = async (
  score: RelativeScore,
  { kinds, body: { query } }: Compiled,
  { ask }: Looking,
): Promise<[id: string, count: number][]> => {
  const all: [string, number][] = []
  let after: object | undefined
  while (kinds.length > 0) {
    const sources = [{ id: { terms: { field: META_FIELDS.parent } } }]
    const parents: Dsl = { composite: { size: PAGE, sources, ...(after && { after }) } }
    const { aggregations } = (await ask(kinds, {
      ...{ query, size: 0, track_total_hits: false, aggs: { parents } },
    })) as FoundCounts
    const { buckets, after_key } = aggregations?.parents ?? { buckets: [] }
    for (const { key, doc_count } of buckets) all.push([key.id, doc_count])
    if (all.length > MOST_RELATED) throw tooMany(clauseOf(score), score.kind)
    if (buckets.length < PAGE || !after_key) break
    after = after_key
  }
  return all
}
