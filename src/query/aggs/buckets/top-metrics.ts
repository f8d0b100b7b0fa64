import type { Kind } from '../../../mapping/index.ts'
import type { Value as Stored } from '../../ast.ts'
import { rawValuesOf, readValue } from '../../predicate.ts'
import type { Sort } from '../../request.ts'
import { tooLong } from '../../simplify.ts'
import { isRawJson } from '../../source-filter.ts'
import type { SpecOf } from '../ast.ts'
import type { Value } from '../result.ts'

type TopMetric = SpecOf<'top_metrics'>['metrics'][number]

/** The value that a metric shows of a document; undefined of none. */
export const topValue = (
  { values }: TopMetric,
  kind: Kind,
  load: () => { _source: Record<string, unknown> } | undefined,
): Stored | undefined => {
  const field = values.fields[kind]
  const document = field && load()
  const [raw] = field && document ? rawValuesOf(field, document._source) : []
  if (!field || raw === undefined || raw === null) return values.missing
  // Texts are shown as documents show them.
  const value = field.es === 'keyword' ? String(raw) : readValue(field, raw)
  return value === undefined || tooLong(field, value) ? values.missing : value
}

export const shownTopValue = (value: Stored | undefined, { format, values }: TopMetric): Value => {
  if (value === undefined) return null
  if (format && typeof value === 'number') return format(value)
  return values.type === 'long' && typeof value === 'number' ? BigInt(value) : value
}

/** What hits show as `sort`, as these show it. */
export const shownTopSort = (value: unknown, { fields }: Sort): Value => {
  const type = Object.values(fields)[0]?.es
  if (isRawJson(value)) return BigInt(value.rawJSON)
  if (typeof value !== 'number') return value as Value
  if (type === 'boolean') return value === 1
  return type === 'long' || type === 'date' ? BigInt(value) : value
}
