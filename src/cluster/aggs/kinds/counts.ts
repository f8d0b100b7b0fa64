import { cardinalityOf } from '../../../query/aggs/metrics/cardinality.ts'
import { valueCountOf } from '../../../query/aggs/metrics/value-count.ts'
import { countIn } from '../answer.ts'
import { sourceOf } from '../fields.ts'
import type { ClusterAggregation } from '../kind.ts'
import { askDistinct, distinctIn, mayRepeat, numbersIn, totalsOf } from './distinct.ts'

export const valueCount: ClusterAggregation<'value_count'> = {
  ask: ({ values }, asking) => (mayRepeat(values) ? askDistinct(values, asking) : { value_count: sourceOf(values) }),
  read({ values, format }, found, reading) {
    const count = mayRepeat(values) ? totalsOf(numbersIn(distinctIn(found, reading))).count : countIn(found, 'value')
    const metric = valueCountOf(count)
    const hasText = format && values.type !== 'date' && values.type !== 'boolean'
    return hasText ? { ...metric, body: [...metric.body, ['value_as_string', format(count)]] } : metric
  },
}

interface KnownEstimate {
  isEstimated: true
}

const isEstimated = (known: unknown): boolean => known !== undefined && 'isEstimated' in (known as object)

/** As many as are asked for in parts are counted exactly; beyond the cluster estimates, mostly within half a percent. */
export const cardinality: ClusterAggregation<'cardinality'> = {
  ask({ values }, asking) {
    // Each document has an id of its own.
    if (values.meta === '_id') return { value_count: sourceOf(values) }
    if (!isEstimated(asking.known)) return askDistinct(values, asking)
    return { cardinality: { ...sourceOf(values), precision_threshold: MOST_PRECISE } }
  },
  read({ values }, found, reading) {
    const { known, again } = reading
    if (values.meta === '_id' || isEstimated(known)) return cardinalityOf(countIn(found, 'value'))
    const tooMany = () => again({ isEstimated: true } satisfies KnownEstimate)
    return cardinalityOf(distinctIn(found, reading, { keeps: false, tooMany }).size)
  },
}

/** The most that clusters take. */
const MOST_PRECISE = 40_000
