import { requestOf } from '../../../engine/aggs/top-hits.ts'
import { hidesScores } from '../../../engine/show/envelope.ts'
import { javaDouble } from '../../../query/aggs/java-double.ts'
import type { SearchRequest } from '../../../query/request.ts'
import { asFloat } from '../../../query/similarity.ts'
import { notInCluster } from '../../refused.ts'
import { numberIn } from '../answer.ts'
import type { ClusterAggregation } from '../kind.ts'

export const topHits: ClusterAggregation<'top_hits'> = {
  ask(spec, { hits, request, uniform }) {
    if (spec.elements)
      throw notInCluster(
        '[top_hits] inside [nested]',
        'use [top_hits] of the documents, whose [_source] has the elements',
      )
    const { size, from } = spec
    const inner = requestOf(spec, request)
    // The cluster takes no size of 0, and would count nothing.
    return { top_hits: { ...hits.ask(inner, scoreOf(inner, uniform)), size: Math.max(size, 1), from } }
  },
  read(spec, found, { hits, request, uniform }) {
    const inner = requestOf(spec, request)
    const score = scoreOf(inner, uniform)
    const { total, max_score, hits: list } = partsOf(found?.hits as string | undefined)
    // Where scores are but one of several keys, Elasticsearch does not look for the greatest one.
    const showsGreatest = !hidesScores(inner) && (spec.sort.length < 2 || inner.trackScores === true)
    const text = spec.size === 0 ? '' : hits.write(inner, list, score)
    const most = text !== '' && showsGreatest ? javaDouble(asFloat(score ?? max_score ?? 0)) : 'null'
    return {
      is: 'hits',
      type: 'top_hits',
      hits: `{"total":${hits.total(total)},"max_score":${most},"hits":[${text}]}`,
    }
  },
}

/** Related documents, and those of `global`, all score the same. */
export const scoreOf = ({ parts }: SearchRequest, uniform: number | undefined): number | undefined =>
  parts.some(({ score }) => score) ? uniform : 1

/** What stands before the list is short, and has no lists. */
const partsOf = (text: string | undefined): { total: number; max_score: number | null; hits: string } => {
  if (text === undefined) return { total: 0, max_score: null, hits: '[]' }
  const at = text.indexOf('"hits":')
  const { total, max_score } = JSON.parse(`${text.slice(0, at).replace(/,$/, '')}}`) as {
    total: { value: number }
    max_score: unknown
  }
  return { total: total.value, max_score: numberIn(max_score), hits: text.slice(at + '"hits":'.length, -1) }
}
