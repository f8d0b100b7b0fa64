import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import { filtered, ordinalAt } from './batch.ts'
import { createKeyed } from './keyed.ts'
import { bucketsByKey, choices, chosenBy, listed } from './range.ts'

export const createFilters = ({ filters, other }: SpecOf<'filters'>, inner: Inner, context: Context): Aggregator => {
  const keyed = createKeyed(
    (at, batch, wantsInner) => {
      const chosen = chosenBy(filters, ({ query }) => context.matching.filter(query, at, batch), batch, context)
      if (other !== undefined) {
        const matched = new Set<number>()
        for (const one of chosen) for (let i = 0; i < one.count; i++) matched.add(ordinalAt(one, i))
        chosen.push(filtered(batch, ordinal => !matched.has(ordinal)))
      }
      return choices(batch, wantsInner, chosen)
    },
    inner,
    context.reader.check,
  )
  const isNamed = filters[0]!.name !== undefined
  const names = [...filters.map(({ name }) => name), ...(other === undefined ? [] : [other])]
  return {
    ...listed(keyed),
    result(owner): Buckets {
      context.count(names.length)
      const buckets = bucketsByKey(keyed, owner)
      return {
        is: 'buckets',
        type: 'filters',
        members: [],
        keyed: isNamed,
        buckets: names.map((name, i): Bucket => {
          const bucket = buckets.get(i) ?? -1
          return {
            ...(isNamed && { name: name! }),
            key: [],
            docCount: keyed.counts[bucket] ?? 0,
            results: resultsOf(inner, bucket),
          }
        }),
      }
    },
    number: () => null,
  }
}
