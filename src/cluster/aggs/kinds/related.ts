import type { SpecOf } from '../../../query/aggs/ast.ts'
import { notInCluster } from '../../refused.ts'
import type { ClusterAggregation } from '../kind.ts'

type Name = 'children' | 'parent'

/** At the top they are searches of their own, whose query leads to the related documents. */
export const related: ClusterAggregation<Name> = {
  ask({ kind }: SpecOf<Name>, { isTop }) {
    if (isTop) return { filter: { match_none: {} } }
    throw notInCluster(`the aggregation [${kind}] inside another one`, 'put it at the top, and the others into it')
  },
  read(spec: SpecOf<Name>, _, reading) {
    reading.count(1)
    return reading.related ?? { is: 'bucket', type: spec.kind, docCount: 0, results: reading.inner(undefined, '') }
  },
}
