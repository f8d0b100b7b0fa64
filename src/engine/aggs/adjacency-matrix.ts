import { overLimit } from '../../limits/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Aggregator, Context, Inner } from './aggregator.ts'
import { type Batch, filtered, ordinalAt } from './batch.ts'
import { choices, createBuckets, entriesOf } from './buckets.ts'

export const createAdjacencyMatrix = (
  { filters, separator }: SpecOf<'adjacency_matrix'>,
  inner: Inner,
  context: Context,
): Aggregator => {
  const pairs = filters.flatMap(({ name }, i) => [
    { i, j: i, name },
    ...filters.slice(i + 1).map((other, k) => ({ i, j: i + 1 + k, name: `${name}${separator}${other.name}` })),
  ])
  const { limits, matching, reader } = context
  return createBuckets(
    {
      type: 'adjacency_matrix',
      group(at, batch, wantsInner) {
        const chosen = filters.map(({ query }) => matching.filter(query, at, batch))
        const ordinals = chosen.map(one => new Set(Array.from({ length: one.count }, (_, i) => ordinalAt(one, i))))
        let documents = 0
        const each = pairs.map(({ i, j }): Batch => {
          reader.check()
          const both = i === j ? chosen[i]! : filtered(chosen[i]!, ordinal => ordinals[j]!.has(ordinal))
          documents += both.count
          if (documents * BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
          return both
        })
        return choices(batch, wantsInner, each)
      },
      show(owner, keyed) {
        const name = (bucket: number) => pairs[keyed.keys[bucket]!]!.name
        const found = Array.from(keyed.in(owner)).sort((a, b) => (name(a) < name(b) ? -1 : 1))
        return { entries: entriesOf(keyed, found) }
      },
      describe: key => ({ key: [['key', pairs[key]!.name]] }),
    },
    inner,
    context,
  )
}

/** What a document in a bucket takes while it is looked at. */
const BYTES = 16
