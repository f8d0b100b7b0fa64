import type { SpecOf } from '../../../query/aggs/ast.ts'
import { rangeKey } from '../../../query/aggs/buckets/range.ts'
import { countIn, objectIn } from '../answer.ts'
import { inMilliseconds, sourceOf } from '../fields.ts'
import type { ClusterAggregation } from '../kind.ts'

type Kind = 'range' | 'date_range'

export const range: ClusterAggregation<Kind> = {
  ask(spec) {
    const { kind, values } = spec
    const edge = (value: number) => (kind === 'date_range' ? String(value) : value)
    const ranges = spec.ranges.map(({ from, to }, i) => ({
      key: String(i),
      ...(from !== undefined && { from: edge(from) }),
      ...(to !== undefined && { to: edge(to) }),
    }))
    return { [kind]: { ...sourceOf(values), ...inMilliseconds(values), keyed: true, ranges } }
  },
  read(spec: SpecOf<Kind>, found, reading) {
    const buckets = objectIn(found, 'buckets')
    reading.count(spec.ranges.length)
    return {
      is: 'buckets',
      type: spec.kind,
      members: [],
      keyed: spec.keyed,
      buckets: spec.ranges.map((one, i) => {
        const bucket = objectIn(buckets, String(i))
        return { ...rangeKey(one, spec), docCount: countIn(bucket), results: reading.inner(bucket, String(i)) }
      }),
    }
  },
}
