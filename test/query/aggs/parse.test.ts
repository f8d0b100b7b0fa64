import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Kind } from '../../../src/mapping/index.ts'
import { AGGREGATIONS } from '../../../src/query/aggs/kinds/index.ts'
import type { AggregationKind } from '../../../src/query/aggs/kinds/kind.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { REFUSED_AGGREGATIONS } from '../../../src/query/refused.ts'

const read = (aggs: unknown, kind: Kind = 'event') => parseSearch(JSON.stringify({ size: 0, aggs }), [kind], 0)

/** What stands around aggregations that need it. */
const AROUND: Record<string, object> = {
  reverse_nested: { nested: { path: 'args' } },
  rate: { date_histogram: { field: 'timestamp', calendar_interval: 'day' } },
}

describe('reading aggregations', () => {
  for (const [name, kind] of Object.entries<AggregationKind>(AGGREGATIONS))
    it(`takes the example of ${name}`, () => {
      const one = { a: { [name]: kind.example } }
      const outer = AROUND[name]
      const inner = outer ? { n: { ...outer, aggs: one } } : one
      assert.equal(read(inner, kind.on).aggregations?.aggs.length, 1)
    })

  for (const name of REFUSED_AGGREGATIONS.keys())
    it(`refuses ${name} by name`, () => {
      assert.throws(
        () => read({ a: { [name]: {} } }),
        new RegExp(`aggs\\.a\\.${name}: the aggregation \\[${name}\\] is not supported`),
      )
    })

  const REFUSALS: readonly (readonly [string, unknown, RegExp])[] = [
    ['a type that is none', { a: { foo: {} } }, /aggs\.a\.foo: Unknown aggregation type \[foo\]/],
    ['a type that no object has', { a: { constructor: {} } }, /Unknown aggregation type \[constructor\]/],
    [
      'text fields',
      { a: { terms: { field: 'event' } } },
      /aggs\.a\.terms\.field: Text fields are not optimised .* \[event\.raw\]/,
    ],
    ['unknown fields', { a: { terms: { field: 'evnt.raw' } } }, /no field \[evnt\.raw\].*Did you mean "event\.raw"/],
    [
      'sums of texts',
      { a: { sum: { field: 'event.raw' } } },
      /Field \[event\.raw\] of type \[keyword\] is not supported/,
    ],
    ['unknown options', { a: { terms: { field: 'event.raw', sise: 3 } } }, /unknown key \[sise\].*"size"/],
    [
      'a size of none',
      { a: { terms: { field: 'event.raw', size: 0 } } },
      /aggs\.a\.terms\.size: expected an integer from 1 on/,
    ],
    [
      'orders by nothing',
      { a: { terms: { field: 'event.raw', order: { s: 'desc' } } } },
      /Invalid aggregation order path \[s\]/,
    ],
    [
      'two types',
      { a: { terms: { field: 'event.raw' }, sum: { field: 'logIndex.num' } } },
      /Found two aggregation type definitions in \[a\]: \[terms\] and \[sum\]/,
    ],
    ['no type', { a: {} }, /Missing definition for aggregation \[a\]/],
    [
      'what is inside of metrics',
      { a: { sum: { field: 'logIndex.num' }, aggs: { b: { sum: { field: 'logIndex.num' } } } } },
      /cannot accept sub-aggregations/,
    ],
    [
      'global ones inside',
      { a: { terms: { field: 'event.raw' }, aggs: { g: { global: {} } } } },
      /Global aggregations can only be defined as top level/,
    ],
    [
      'lists that are none',
      { a: { nested: { path: 'arg' } } },
      /failed to find nested object under path \[arg\].*"args"/,
    ],
    ['names with brackets', { 'a[b]': { terms: { field: 'event.raw' } } }, /Invalid aggregation name/],
    ['scripts', { a: { terms: { script: 'x' } } }, /scripts are not supported/],
    ['exact means', { a: { avg: { field: 'logIndex.num', exact: true } } }, /unknown key \[exact\]/],
    [
      'regular expressions for numbers',
      { a: { terms: { field: 'logIndex.num', include: '1.*' } } },
      /aggs\.a\.terms\.include: cannot support regular expression style/,
    ],
    ['broken regular expressions', { a: { terms: { field: 'event.raw', include: '(a' } } }, /a/],
    ['ids as terms', { a: { terms: { field: '_id' } } }, /value_count or cardinality/],
    ['fields that nothing has', { a: { sum: { field: 'nope' } } }, /no field \[nope\]/],
    ['texts that are no booleans', { a: { terms: { field: 'removed', include: ['yes'] } } }, /aggs\.a\.terms/],
    ['all hits beside them', undefined, /size.*beside aggregations/],
  ]
  for (const [name, aggs, why] of REFUSALS)
    it(`refuses ${name}`, () => {
      const parse = () =>
        aggs === undefined
          ? parseSearch('{"size":-1,"aggs":{"a":{"sum":{"field":"logIndex.num"}}}}', ['event'], 0)
          : read(aggs)
      assert.throws(
        parse,
        (error: Error & { next: string }) =>
          (error.next === 'refuse' && why.test(error.message)) || assert.fail(error.message),
      )
    })

  it('takes both names of the member, one at a time', () => {
    const one = { a: { sum: { field: 'logIndex.num' } } }
    assert.ok(parseSearch(JSON.stringify({ aggregations: one }), ['event'], 0).aggregations)
    assert.throws(
      () => parseSearch(JSON.stringify({ aggregations: one, aggs: one }), ['event'], 0),
      /either \[aggs\] or/,
    )
  })

  it('stops at the limits of depth and number', () => {
    const deep = (levels: number): object => ({
      a: { terms: { field: 'event.raw' }, ...(levels > 1 && { aggs: deep(levels - 1) }) },
    })
    assert.ok(read(deep(20)))
    assert.throws(() => read(deep(21)), /more than 20 levels of aggregations/)
    const many = Object.fromEntries(
      Array.from({ length: 501 }, (_, i) => [`a${i}`, { sum: { field: 'logIndex.num' } }]),
    )
    assert.throws(() => read(many), /more than 500 aggregations/)
  })
})
