import { overLimit } from '../../limits/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import { type Batch, filtered, ordinalAt } from './batch.ts'
import { createKeyed } from './keyed.ts'
import { choices, listed } from './range.ts'

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
  const keyed = createKeyed(
    (at, batch, wantsInner) => {
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
    inner,
    reader.check,
  )
  return {
    ...listed(keyed),
    result(owner): Buckets {
      const found = Array.from(keyed.in(owner)).sort((a, b) => keyed.keys[a]! - keyed.keys[b]!)
      context.count(found.length)
      const buckets = found.map(bucket => ({
        key: [['key', pairs[keyed.keys[bucket]!]!.name] as [string, string]],
        docCount: keyed.counts[bucket]!,
        results: resultsOf(inner, bucket),
      }))
      const byName = ({ key: [a] }: (typeof buckets)[number], { key: [b] }: (typeof buckets)[number]) =>
        a![1] < b![1] ? -1 : 1
      return { is: 'buckets', type: 'adjacency_matrix', members: [], keyed: false, buckets: buckets.sort(byName) }
    },
    number: () => null,
  }
}

/** What a document in a bucket takes while it is looked at. */
const BYTES = 16
