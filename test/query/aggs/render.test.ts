import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AggregationResult,
  type AggregationResults,
  type Bucket,
  type Metric,
  renderResults,
} from '../../../src/query/aggs/result.ts'
import { parseExactJson } from '../../../src/query/json.ts'
import { javaDouble } from '../../../src/query/numbers.ts'

const metric = (type: string, ...body: Metric['body']): Metric => ({ is: 'metric', type, body, number: () => null })
const bucket = (key: Bucket['key'], docCount: number, results: AggregationResults = new Map()): Bucket => ({
  key,
  docCount,
  results,
})

test('doubles are written as Java writes them', () => {
  const cases: [number, string][] = [
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-21001, '-21001.0'],
    [0.001, '0.001'],
    [0.00099, '9.9E-4'],
    [9999999, '9999999.0'],
    [1e7, '1.0E7'],
    [12345678.5, '1.23456785E7'],
    [1583971200000, '1.5839712E12'],
    [1.2457813486565853e19, '1.2457813486565853E19'],
    [1e-4, '1.0E-4'],
    [-1e300, '-1.0E300'],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ]
  for (const [value, text] of cases) assert.equal(javaDouble(value), text)
})

/** Answers of Elasticsearch 7.17.29, its members in our order: it writes aggregations in the order of a hash table. */
test('buckets of every shape, typed and not', () => {
  const results: AggregationResults = new Map<string, AggregationResult>([
    [
      'h',
      {
        is: 'buckets',
        type: 'sterms',
        members: [
          ['doc_count_error_upper_bound', 0n],
          ['sum_other_doc_count', 0n],
        ],
        keyed: false,
        meta: parseExactJson('{"z":1,"a":1.5,"q":[1,{"r":null}]}'),
        buckets: [
          bucket(
            [['key', 'a']],
            4,
            new Map<string, AggregationResult>([
              ['x', { is: 'bucket', type: 'filter', docCount: 4, results: new Map() }],
            ]),
          ),
        ],
      },
    ],
    [
      'hk',
      {
        is: 'buckets',
        type: 'histogram',
        members: [],
        keyed: true,
        buckets: [
          { ...bucket([['key', 0]], 4), name: '0.0' },
          { ...bucket([['key', 5]], 4), name: '5.0' },
        ],
      },
    ],
    [
      'co',
      {
        is: 'buckets',
        type: 'composite',
        members: [
          [
            'after_key',
            new Map<string, string | number>([
              ['a', 'a'],
              ['b', 5],
            ]),
          ],
        ],
        keyed: false,
        buckets: [bucket([['key', new Map([['t', 1583971200000n]])]], 1)],
      },
    ],
    ['s', metric('stats', ['count', 0n], ['min', null], ['sum', 0])],
    ['big', metric('sum', ['value', Number.POSITIVE_INFINITY], ['value_exact', String(2n ** 256n)], ['i', 2n ** 63n])],
    ['th', { is: 'hits', type: 'top_hits', hits: '{"hits":[]}' }],
  ])
  assert.equal(
    renderResults(results, { typedKeys: true }),
    '{"sterms#h":{"meta":{"z":1,"a":1.5,"q":[1,{"r":null}]},"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"a","doc_count":4,"filter#x":{"doc_count":4}}]},"histogram#hk":{"buckets":{"0.0":{"key":0.0,"doc_count":4},"5.0":{"key":5.0,"doc_count":4}}},"composite#co":{"after_key":{"a":"a","b":5.0},"buckets":[{"key":{"t":1583971200000},"doc_count":1}]},"stats#s":{"count":0,"min":null,"sum":0.0},"sum#big":{"value":"Infinity","value_exact":"115792089237316195423570985008687907853269984665640564039457584007913129639936","i":9223372036854775808},"top_hits#th":{"hits":{"hits":[]}}}',
  )
  assert.deepEqual(Object.keys(JSON.parse(renderResults(results, { typedKeys: false }))), [
    'h',
    'hk',
    'co',
    's',
    'big',
    'th',
  ])
})

test('names from outside are quoted', () => {
  assert.equal(
    renderResults(new Map<string, AggregationResult>([['a"\u2028__proto__', metric('sum', ['value', 1])]]), {
      typedKeys: true,
    }),
    '{"sum#a\\"\u2028__proto__":{"value":1.0}}',
  )
})

test('a text that would be written too often is refused before it is written, by its name', () => {
  const name = 'x'.repeat(1_000)
  const bucket = (i: number): Bucket => ({
    key: [['key', BigInt(i)]],
    docCount: 1,
    results: new Map([[name, metric('avg', ['value', 1])]]),
  })
  const of = (count: number, meta?: string): AggregationResults => {
    const buckets = Array.from({ length: count }, (_, i) => bucket(i))
    const one: AggregationResult = { is: 'buckets', type: 'histogram', members: [], keyed: false, buckets }
    return new Map([['h', meta === undefined ? one : { ...one, meta }]])
  }
  const render = (results: AggregationResults, answer: number) =>
    renderResults(results, { typedKeys: false, limits: { answer } })
  const text = render(of(100), 200_000)
  assert.equal(render(of(100), text.length + 400), text)
  assert.throws(
    () => render(of(500), 200_000),
    /^ChainsieveError: The answer, in which the aggregation name \[x{99}…\] of 1000 characters stands 500 times, has more than 200kB of data\. /,
  )
  assert.throws(() => render(of(1, 'y'.repeat(5_000)), 4_000), /in which the meta of \[h\] \["y*…\] of 5002 characters/)
  let checks = 0
  renderResults(of(2_000), { typedKeys: false, check: () => checks++ })
  assert.ok(checks > 10)
})
