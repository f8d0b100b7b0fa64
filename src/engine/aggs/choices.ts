import type { SpecOf } from '../../query/aggs/ast.ts'
import { rangeKey } from '../../query/aggs/buckets/range.ts'
import type { Aggregator, Context, Inner } from './aggregator.ts'
import { filtered, ordinalAt } from './batch.ts'
import { createChoices } from './buckets.ts'
import { createSource } from './sources.ts'
import { eachValue, gathered } from './values.ts'

export const createRange = (spec: SpecOf<'range' | 'date_range'>, inner: Inner, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  return createChoices(
    spec.ranges,
    {
      ...{ type: spec.kind, isNamed: spec.keyed },
      choose(at, batch) {
        const found = source.read(at, batch)
        const values = found.form === 'several' ? undefined : gathered(found, batch)
        return ({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
          if (values) return filtered(batch, (_, i) => values[i]! >= from && values[i]! < to)
          const inside = new Uint8Array(batch.count)
          eachValue(found, batch, (i, value) => {
            if (value >= from && value < to) inside[i] = 1
          })
          return filtered(batch, (_, i) => inside[i] === 1)
        }
      },
      describe: range => rangeKey(range, spec),
    },
    inner,
    context,
  )
}

export const createFilters = ({ filters, other }: SpecOf<'filters'>, inner: Inner, context: Context): Aggregator => {
  const isNamed = filters[0]!.name !== undefined
  const rest = other === undefined ? [] : [{ name: other, query: undefined }]
  return createChoices(
    [...filters, ...rest],
    {
      ...{ type: 'filters', isNamed },
      choose(at, batch) {
        const matched = new Set<number>()
        return ({ query }) => {
          if (!query) return filtered(batch, ordinal => !matched.has(ordinal))
          const one = context.matching.filter(query, at, batch)
          if (other !== undefined) for (let i = 0; i < one.count; i++) matched.add(ordinalAt(one, i))
          return one
        }
      },
      describe: ({ name }) => ({ ...(isNamed && { name: name! }), key: [] }),
    },
    inner,
    context,
  )
}
