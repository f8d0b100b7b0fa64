import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { askAggregations } from '../../support/aggregations.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

interface Bucket {
  key: number
  doc_count: number
  [name: string]: unknown
}

describe('rates are totals by the units of time in a bucket', () => {
  const store = createTestStore(demoBlocks())
  const searcher = createSearcher(store.reader)
  after(() => store.close())
  const bucketsOf = (interval: object, aggs: object): Bucket[] => {
    const body = { aggs: { h: { date_histogram: { field: 'timestamp', ...interval }, aggs } } }
    return (askAggregations(searcher, 'tx', body, { typedKeys: false }) as { h: { buckets: Bucket[] } }).h.buckets
  }
  const numberIn = (found: unknown) => (found as { value: number }).value
  const near = (found: number, due: number) =>
    assert.ok(Math.abs(found - due) <= Math.abs(due) * 1e-12, `${found}, due ${due}`)

  it('of documents and numbers, in buckets of one length', () => {
    const gas = { field: 'gasUsed.num' }
    const buckets = bucketsOf(
      { fixed_interval: '5m' },
      {
        ...{ sum: { sum: gas }, rate: { rate: { ...gas, unit: 'hour', format: '0.00' } }, per: { rate: gas } },
        ...{ minutes: { rate: { unit: 'minute' } }, change: { derivative: { buckets_path: 'minutes' } } },
        terms: { terms: { field: 'type.num', order: { s: 'desc' } }, aggs: { s: { rate: { unit: 'second' } } } },
      },
    )
    assert.ok(buckets.length > 3)
    for (const [i, bucket] of buckets.entries()) {
      near(numberIn(bucket.minutes), bucket.doc_count / 5)
      near(numberIn(bucket.rate), numberIn(bucket.sum) * 12)
      assert.equal((bucket.rate as { value_as_string: string }).value_as_string, (numberIn(bucket.sum) * 12).toFixed(2))
      assert.equal(numberIn(bucket.per), numberIn(bucket.sum))
      if (i > 0) near(numberIn(bucket.change), (bucket.doc_count - buckets[i - 1]!.doc_count) / 5)
      for (const { doc_count, s } of (bucket.terms as { buckets: Bucket[] }).buckets) near(numberIn(s), doc_count / 300)
    }
  })

  it('of months by their days, and of each other', () => {
    const [bucket] = bucketsOf(
      { calendar_interval: 'month', time_zone: 'Europe/Berlin' },
      {
        ...{ day: { rate: { unit: 'day' } }, year: { rate: { unit: 'year' } } },
        count: { rate: { field: 'to.raw', mode: 'value_count', unit: 'month' } },
        values: { value_count: { field: 'to.raw' } },
      },
    )
    const start = new Date(bucket!.key + 12 * 3_600_000)
    const days = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate()
    const skipped = start.getUTCMonth() === 2 ? -1 / 24 : start.getUTCMonth() === 9 ? 1 / 24 : 0
    near(numberIn(bucket!.day), bucket!.doc_count / (days + skipped))
    near(numberIn(bucket!.year), bucket!.doc_count * 12)
    assert.equal(numberIn(bucket!.count), numberIn(bucket!.values))
  })

  const WRONG: [aggs: object, why: RegExp][] = [
    [{ r: { rate: { unit: 'day' } } }, /aggs.r.rate: The rate aggregation can only be used inside a date_histogram/],
    [inDays({ unit: 'month' }), /rate.unit: Cannot use month-based rate unit \[month\]/],
    [inDays({ unit: 'days' }), /rate.unit: expected a unit of time: second, .*year/],
    [inDays({ mode: 'sum' }), /The mode parameter is only supported when field is set/],
    [inDays({ field: 'gas.num', mode: 'avg' }), /rate.mode: expected "sum" or "value_count"/],
    [inDays({ field: 'from.raw' }), /of type \[keyword\] is not supported/],
    [
      {
        h: {
          date_histogram: { field: 'timestamp', calendar_interval: 'month', order: { r: 'asc' } },
          aggs: { r: { rate: { unit: 'day' } } },
        },
      },
      /is a rate of months, which differ in length/,
    ],
  ]
  for (const [aggs, why] of WRONG)
    it(`refuses ${JSON.stringify(aggs)}`, () =>
      assert.throws(() => parseSearch(JSON.stringify({ aggs }), ['tx'], 0), { message: why }))
})

function inDays(rate: object): object {
  return { h: { date_histogram: { field: 'timestamp', fixed_interval: '1d' }, aggs: { r: { rate } } } }
}
