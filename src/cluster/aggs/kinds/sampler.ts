import type { Kind } from '../../../mapping/index.ts'
import { META_FIELDS } from '../../meta.ts'
import { notInCluster } from '../../refused.ts'
import { type Answered, countIn, listIn, numberIn, objectIn } from '../answer.ts'
import { type ClusterAggregation, INNER } from '../kind.ts'
import { askMore, mostOf } from '../most.ts'
import { kindIs } from '../queries.ts'

/** Where the sample of each kind ends; without a place it holds all. */
interface KnownEnds {
  ends: ReadonlyMap<Kind, number | undefined>
}

const endsIn = (known: unknown): KnownEnds | undefined =>
  known !== undefined && 'ends' in (known as object) ? (known as KnownEnds) : undefined

/** The oldest documents: their last place is asked for at first. */
export const sampler: ClusterAggregation<'sampler'> = {
  ask({ size, diversity }, asking) {
    const { kinds, request, known } = asking
    if (diversity)
      throw notInCluster('the aggregation [diversified_sampler]', 'use [sampler], or terms with [top_hits]')
    if (request.parts.some(({ score }) => score))
      throw notInCluster(
        'a [sampler] of a query with scores',
        'put the query into [filter], or take hits by their scores',
      )
    const ends = endsIn(known)?.ends
    const { position } = META_FIELDS
    if (ends) {
      const upTo = (kind: Kind, end: number | undefined) =>
        end === undefined ? [kindIs(kind)] : [kindIs(kind), { range: { [position]: { lte: end } } }]
      return { filter: { bool: { should: Array.from(ends, one => ({ bool: { filter: upTo(...one) } })) } } }
    }
    const most = Math.min(size, mostOf(asking))
    const first = { terms: { field: position, size: most, shard_size: most, order: { _key: 'asc' } } }
    const ofKinds = kinds.map((kind): [string, object] => [kind, { filter: kindIs(kind), aggs: { first } }])
    return { filter: { match_all: {} }, aggs: Object.fromEntries(ofKinds) }
  },
  read({ size }, found, reading) {
    const shown = (bucket: Answered | undefined) => ({
      ...({ is: 'bucket', type: 'sampler', docCount: countIn(bucket) } as const),
      results: reading.inner(bucket, INNER),
    })
    const { known, request, learnt, again } = reading
    if (endsIn(known) || !found) {
      reading.count(1)
      return shown(found)
    }
    const ends = new Map<Kind, number | undefined>()
    for (const { kind } of request.parts) {
      const first = objectIn(objectIn(found, kind), 'first')
      const places = listIn(first, 'buckets')
      const isWhole = countIn(first, 'sum_other_doc_count') === 0
      if (places.length < size && !isWhole) {
        askMore(reading)
        return shown(undefined)
      }
      ends.set(kind, places.length < size ? undefined : numberIn(places.at(-1)!.key)!)
    }
    learnt((): KnownEnds => ({ ends }))
    again()
    return shown(undefined)
  },
}
