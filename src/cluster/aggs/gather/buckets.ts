import type { CompositeSource, SpecOf } from '../../../query/aggs/ast.ts'
import type { Value } from '../../../query/ast.ts'
import { countIn, listIn, numberIn, objectIn } from '../answer.ts'
import { valueFrom } from '../fields.ts'
import { nameOfSource } from '../kinds/composite.ts'
import { isInside } from '../kinds/histogram.ts'
import { isWanted } from '../kinds/terms.ts'
import { refuseMore } from '../most.ts'
import { gatherKeyed } from './keyed.ts'
import type { Gather } from './kind.ts'

export const terms: Gather<'terms' | 'rare_terms'> = (
  spec: SpecOf<'terms'> | SpecOf<'rare_terms'>,
  told,
  gathering,
) => {
  const wanted = isWanted(spec)
  return gatherKeyed(told, gathering, found => {
    if (countIn(found, 'sum_other_doc_count') > 0) throw refuseMore({ aggregation: { name: gathering.name, spec } })
    return listIn(found, 'buckets')
      .filter(wanted)
      .map(bucket => ({ key: gathering.keyOf([valueFrom(bucket.key, spec.values)]), bucket }))
  })
}

export const histogram: Gather<'histogram' | 'date_histogram'> = (
  spec: SpecOf<'histogram'> | SpecOf<'date_histogram'>,
  told,
  gathering,
) =>
  gatherKeyed(told, gathering, found =>
    listIn(found, 'buckets')
      .map(bucket => ({ key: numberIn(bucket.key)!, bucket }))
      .filter(({ key }) => isInside(spec, key)),
  )

/** By the numbers of the ranges. */
export const range: Gather<'range' | 'date_range'> = ({ ranges }: SpecOf<'range' | 'date_range'>, told, gathering) =>
  gatherKeyed(told, gathering, found =>
    ranges.map((_, i) => ({ key: i, bucket: objectIn(objectIn(found, 'buckets'), String(i)) })),
  )

/** The last one is that of all others. */
export const filters: Gather<'filters'> = ({ filters, other }, told, gathering) => {
  const names = [...filters.map((_, i) => `f${i}`), ...(other === undefined ? [] : ['other'])]
  return gatherKeyed(told, gathering, found =>
    names.map((name, i) => ({ key: i, bucket: objectIn(objectIn(found, 'buckets'), name) })),
  )
}

/** Those of each network that come first hold those that come first of all. */
export const composite: Gather<'composite'> = ({ sources }, told, gathering) =>
  gatherKeyed(told, gathering, found =>
    listIn(found, 'buckets').map(bucket => {
      const key = objectIn(bucket, 'key')
      const values = sources.map((source, i) => partOf(key?.[nameOfSource(i)], source))
      return { key: gathering.keyOf(values), bucket }
    }),
  )

const partOf = (found: unknown, { by, values }: CompositeSource): Value | null => {
  if (found === null || found === undefined) return null
  return by === 'terms' ? valueFrom(found, values) : Number(found)
}
