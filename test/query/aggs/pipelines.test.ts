import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { AGGREGATIONS } from '../../../src/query/aggs/kinds/index.ts'
import { PIPELINES, parsePipeline } from '../../../src/query/aggs/pipelines/index.ts'
import type { PipelineAggregation } from '../../../src/query/aggs/pipelines/pipeline.ts'
import { type AggregationShape, orderPipelines, runPipelines } from '../../../src/query/aggs/pipelines/tree.ts'
import { type AggregationResults, renderResults } from '../../../src/query/aggs/result.ts'
import { parseExactJson } from '../../../src/query/json.ts'
import { resultsOf } from '../../support/aggregations.ts'

type Members = Record<string, unknown>
interface Request {
  [name: string]: Members & { aggs?: Request }
}

/** Reads a request as the aggregations around will: pipelines apart from the others. */
const read = (
  aggs: Request,
  parent?: Pick<AggregationShape, 'spec' | 'gives'>,
  at = 'aggs',
): { aggs: AggregationShape[]; pipelines: readonly PipelineAggregation[] } => {
  const shapes: AggregationShape[] = []
  const pipelines: PipelineAggregation[] = []
  for (const [name, { aggs: inner = {}, meta, ...typed }] of Object.entries(aggs)) {
    const [type, body] = Object.entries(typed)[0]!
    const place = { path: `${at}.${name}.${type}`, value: parseExactJson(JSON.stringify(body)) }
    const pipeline = parsePipeline(name, type, place)
    if (pipeline) {
      pipelines.push(meta === undefined ? pipeline : { ...pipeline, meta: parseExactJson(JSON.stringify(meta)) })
      continue
    }
    const { min_doc_count: minDocCount } = body as { min_doc_count?: number }
    const spec = { kind: type, ...(minDocCount !== undefined && { minDocCount }) }
    const { gives } = AGGREGATIONS[type as keyof typeof AGGREGATIONS]
    shapes.push({ name, spec, gives, ...read(inner, { spec, gives }, `${at}.${name}.aggs`) })
  }
  return { aggs: shapes, pipelines: orderPipelines(pipelines, shapes, parent) }
}

const run = (request: Request, results: AggregationResults): Members => {
  const { aggs, pipelines } = read(request)
  runPipelines(results, aggs, pipelines)
  return JSON.parse(renderResults(results, { typedKeys: true }))
}

/** Days with their sums and means, of which two days have no documents and one no values. */
const COUNTS = [1, 2, 0, 1, 3, 0, 1, 1]
const SUMS = [1, 12, 0, 2, 16, 0, 8, 0]
const MEANS = [1, 6, null, 2, 16 / 3, null, 8, null]

const days = () =>
  resultsOf({
    'date_histogram#h': {
      buckets: COUNTS.map((doc_count, i) => ({
        key_as_string: `day ${i}`,
        key: 1583971200000 + i * 86_400_000,
        doc_count,
        'sum#s': { value: SUMS[i] },
        'avg#a': { value: MEANS[i] },
        'stats#st': { count: doc_count, avg: MEANS[i] },
        'tdigest_percentiles#p': { values: { '50.0': MEANS[i] } },
        'filter#f': { doc_count, 'sum#s': { value: SUMS[i] } },
        'sterms#tt': {
          buckets: i % 2 === 0 ? [{ key: "it's a", doc_count: 1, 'sum#s': { value: i } }] : [],
        },
      })),
    },
  })

const INNER: Request = {
  s: { sum: { field: 'v' } },
  a: { avg: { field: 'v' } },
  st: { stats: { field: 'v' } },
  p: { percentiles: { field: 'v' } },
  f: { filter: {}, aggs: { s: { sum: {} } } },
  tt: { terms: { field: 'k' }, aggs: { s: { sum: {} } } },
}

const inDays = (x: Members, more: Request = {}): Request => ({
  h: { date_histogram: {}, aggs: { ...INNER, ...more, x } as Request },
})

type Found = { key: number; [typed: string]: unknown }

/** What a pipeline finds in each day: its value, undefined where it finds nothing. */
const along = (x: Members, more?: Request): (number | null | undefined)[] => {
  const answer = run(inDays(x, more), days()) as { 'date_histogram#h': { buckets: Found[] } }
  return answer['date_histogram#h'].buckets.map(bucket => {
    const name = Object.keys(bucket).find(name => name.endsWith('#x'))
    return name === undefined ? undefined : (bucket[name] as { value: number | null }).value
  })
}

/** Which days are left, in order. */
const left = (x: Members): number[] => {
  const answer = run(inDays(x), days()) as { 'date_histogram#h': { buckets: Found[] } }
  return answer['date_histogram#h'].buckets.map(({ key }) => (key - 1583971200000) / 86_400_000)
}

const _ = undefined

/** As Elasticsearch 7.17.29 answers, and OpenSearch 3.3 where there is a script. */
test('pipelines along a histogram with gaps', () => {
  const cases: [Members, (number | null | undefined)[]][] = [
    [{ derivative: { buckets_path: 's' } }, [_, 11, null, null, 14, null, null, -8]],
    [{ derivative: { buckets_path: '_count' } }, [_, 1, -2, 1, 2, -3, 1, 0]],
    [{ derivative: { buckets_path: 'a', gap_policy: 'insert_zeros' } }, [_, 5, -6, 2, 16 / 3 - 2, -16 / 3, 8, -8]],
    [
      { derivative: { buckets_path: 'a', gap_policy: 'keep_values' } },
      [_, 5, null, null, 16 / 3 - 2, null, null, null],
    ],
    [{ derivative: { buckets_path: 'p[50.0]' } }, [_, 5, null, null, 16 / 3 - 2, null, null, null]],
    [{ cumulative_sum: { buckets_path: 's' } }, [1, 13, 13, 15, 31, 31, 39, 39]],
    [{ cumulative_sum: { buckets_path: 'f>s' } }, [1, 13, 13, 15, 31, 31, 39, 39]],
    [{ serial_diff: { buckets_path: 's', lag: 2 } }, [_, _, _, -10, _, _, -8, _]],
    [{ serial_diff: { buckets_path: 's', lag: '2' } }, [_, _, _, -10, _, _, -8, _]],
    [
      { moving_fn: { buckets_path: 's', window: 2, script: 'MovingFunctions.max(values)' } },
      [null, 1, _, 12, 12, _, 16, 16],
    ],
    [
      { moving_fn: { buckets_path: 's', window: 2, shift: 1, script: 'MovingFunctions.sum(values)' } },
      [1, 13, _, 14, 18, _, 24, 8],
    ],
    [
      {
        moving_fn: {
          buckets_path: 's',
          window: 3,
          script: 'MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))',
        },
      },
      [null, 0, _, 5.5, 4.96655480858378, _, 5.887840577551898, 5.734883511361751],
    ],
    [
      { moving_fn: { buckets_path: 's', window: 3, script: 'MovingFunctions.linearWeightedAvg(values)' } },
      [null, 0.5, _, 6.25, 4.428571428571429, _, 9.142857142857142, 8.285714285714286],
    ],
    [{ moving_avg: { buckets_path: 's' } }, [_, 1, _, 6.5, 5, _, 7.75, 7.8]],
    [
      { moving_avg: { buckets_path: 's', model: 'linear', window: 3, minimize: false, settings: {} } },
      [_, 0.5, _, 6.25, 4.428571428571429, _, 9.142857142857142, 8.285714285714286],
    ],
    [
      { bucket_script: { buckets_path: { a: 's', c: '_count' }, script: 'params.a / params.c' } },
      [1, 6, _, 2, 16 / 3, _, 8, 0],
    ],
    [
      { bucket_script: { buckets_path: { a: 'a' }, gap_policy: 'insert_zeros', script: 'params.a + 1' } },
      [2, 7, 1, 3, 16 / 3 + 1, 1, 9, 1],
    ],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '3 / 2' } }, [1, 1, _, 1, 1, _, 1, 1]],
    [
      { bucket_script: { buckets_path: { a: 's' }, script: 'params.a / 0' } },
      [null, null, _, null, null, _, null, null],
    ],
    [{ bucket_script: { buckets_path: { a: "tt['it's a']>s" }, script: 'params.a' } }, [0, _, _, _, 4, _, 6, _]],
    [{ bucket_script: { buckets_path: { n: 'tt._bucket_count' }, script: 'params.n' } }, [1, 0, _, 0, 1, _, 1, 0]],
    [
      {
        bucket_script: {
          buckets_path: { a: 'a', c: '_count' },
          script: { source: 'abs(a - 2) * c', lang: 'expression' },
        },
      },
      [1, 8, _, 0, 10, _, 6, _],
    ],
  ]
  for (const [x, expected] of cases) {
    const found = along(x).map((value, i) => (isNear(value, expected[i]) ? expected[i] : value))
    assert.deepEqual(found, expected, JSON.stringify(x))
  }
})

const isNear = (a: unknown, b: unknown) => typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) < 1e-9

test('pipelines on pipelines, whatever their order in the request', () => {
  const more: Request = { c: { cumulative_sum: { buckets_path: 'x' } }, d: { derivative: { buckets_path: 's' } } }
  assert.deepEqual(along({ derivative: { buckets_path: 'd' } }, more), [_, _, null, null, null, null, null, null])
  const answer = run(
    {
      ...inDays({ derivative: { buckets_path: 's' } }),
      m: { max_bucket: { buckets_path: 'h>x' }, meta: { unit: 1.5 } },
    },
    days(),
  )
  assert.deepEqual(answer['bucket_metric_value#m'], { meta: { unit: 1.5 }, value: 14, keys: ['day 4'] })
})

/** As Elasticsearch 7.17.29 answers. */
test('pipelines beside a histogram', () => {
  const beside = (x: Members) => {
    const answer = run({ h: { date_histogram: {}, aggs: INNER }, x } as Request, days())
    return JSON.stringify(Object.entries(answer).find(([name]) => name.endsWith('#x')))
  }
  const cases: [Members, string][] = [
    [{ avg_bucket: { buckets_path: 'h>s' } }, '["simple_value#x",{"value":6.5}]'],
    [{ sum_bucket: { buckets_path: 'h._count' } }, '["simple_value#x",{"value":9}]'],
    [{ sum_bucket: { buckets_path: 'h>_count' } }, '["simple_value#x",{"value":9}]'],
    [{ max_bucket: { buckets_path: 'h>s' } }, '["bucket_metric_value#x",{"value":16,"keys":["day 4"]}]'],
    [
      { min_bucket: { buckets_path: 'h>s', format: '#,##0.00' } },
      '["bucket_metric_value#x",{"value":0,"value_as_string":"0.00","keys":["day 7"]}]',
    ],
    [
      { min_bucket: { buckets_path: 'h>s', gap_policy: 'insert_zeros' } },
      '["bucket_metric_value#x",{"value":0,"keys":["day 2","day 5","day 7"]}]',
    ],
    [{ stats_bucket: { buckets_path: 'h>s' } }, '["stats_bucket#x",{"count":6,"min":0,"max":16,"avg":6.5,"sum":39}]'],
    [
      { extended_stats_bucket: { buckets_path: 'h>s' } },
      '["extended_stats_bucket#x",{"count":6,"min":0,"max":16,"avg":6.5,"sum":39,"sum_of_squares":469,"variance":35.916666666666664,"variance_population":35.916666666666664,"variance_sampling":43.1,"std_deviation":5.993051532121734,"std_deviation_population":5.993051532121734,"std_deviation_sampling":6.565059024867941,"std_deviation_bounds":{"upper":18.486103064243466,"lower":-5.486103064243467,"upper_population":18.486103064243466,"lower_population":-5.486103064243467,"upper_sampling":19.630118049735884,"lower_sampling":-6.6301180497358825}}]',
    ],
    [
      { percentiles_bucket: { buckets_path: 'h>s' } },
      '["percentiles_bucket#x",{"values":{"1.0":0,"5.0":0,"25.0":1,"50.0":8,"75.0":12,"95.0":16,"99.0":16}}]',
    ],
  ]
  for (const [x, expected] of cases) assert.equal(beside(x), expected, JSON.stringify(x))
})

test('pipelines beside nothing', () => {
  const none = () => resultsOf({ 'sterms#t': { buckets: [] } })
  const beside = (type: string, more = {}) =>
    JSON.stringify(
      run({ t: { terms: {}, aggs: { s: { sum: {} } } }, x: { [type]: { buckets_path: 't>s', ...more } } }, none()),
    )
  assert.match(beside('avg_bucket'), /"simple_value#x":\{"value":null\}/)
  assert.match(beside('sum_bucket'), /"simple_value#x":\{"value":0\}/)
  assert.match(beside('max_bucket'), /"bucket_metric_value#x":\{"value":null,"keys":\[\]\}/)
  assert.match(beside('stats_bucket'), /\{"count":0,"min":null,"max":null,"avg":null,"sum":0\}/)
  assert.match(
    beside('percentiles_bucket', { percents: ['50'], keyed: false }),
    /"values":\[\{"key":50,"value":null\}\]/,
  )
})

/** As Elasticsearch 7.17.29 answers, and OpenSearch 3.3 where there is a script. */
test('buckets are sorted and selected', () => {
  const cases: [Members, number[]][] = [
    [{ bucket_sort: { sort: [{ s: 'desc' }], size: 3 } }, [4, 1, 6]],
    [{ bucket_sort: { sort: [{ a: { order: 'asc' } }] } }, [0, 3, 4, 1, 6]],
    [{ bucket_sort: { sort: { a: 'desc' }, gap_policy: 'insert_zeros' } }, [6, 1, 4, 3, 0, 2, 5, 7]],
    [{ bucket_sort: { sort: ['_count', '_key'], from: 2 } }, [0, 3, 6, 7, 1, 4]],
    [{ bucket_sort: { sort: [{ _key: 'desc' }], size: 2 } }, [7, 6]],
    [{ bucket_sort: { from: 6 } }, [6, 7]],
    [{ bucket_sort: { from: 60 } }, []],
    [{ bucket_selector: { buckets_path: { a: 's' }, script: 'params.a > 3' } }, [1, 4, 6]],
    [
      { bucket_selector: { buckets_path: { a: 'a' }, gap_policy: 'insert_zeros', script: 'params.a < 3' } },
      [0, 2, 3, 5, 7],
    ],
    [{ bucket_selector: { buckets_path: { a: 'a' }, script: '!(params.a < 3)' } }, [1, 2, 4, 5, 6, 7]],
    [{ bucket_selector: { buckets_path: { a: "tt['it's a']>s" }, script: 'params.a == null' } }, [1, 3, 5, 7]],
    [
      { bucket_selector: { buckets_path: { a: 's' }, script: 'params.a <= 1 || Math.abs(params.a - 12) < 1e-3' } },
      [0, 1, 7],
    ],
  ]
  for (const [x, expected] of cases) assert.deepEqual(left(x), expected, JSON.stringify(x))
})

test('what is asked in a wrong way is refused by name', () => {
  const cases: [Members, RegExp][] = [
    [
      { derivative: { buckets_path: 'nope' } },
      /^aggs\.h\.aggs\.x\.derivative: .*No aggregation found for path \[nope\]/,
    ],
    [{ derivative: { buckets_path: 'f>nope' } }, /No aggregation \[nope\] found for path \[f>nope\]/],
    [{ derivative: { buckets_path: 'x' } }, /Cyclical dependency found with pipeline aggregator \[x\]/],
    [{ derivative: { buckets_path: 's.nope' } }, /path not supported for \[s\.nope\]/],
    [{ derivative: { buckets_path: 'st' } }, /\[st\] contains multiple values/],
    [{ derivative: { buckets_path: 'tt>s' } }, /\[tt\] in \[tt>s\] has several buckets/],
    [{ derivative: { buckets_path: "tt['it's a']" } }, /got a bucket at/],
    [{ derivative: { buckets_path: '' } }, /buckets_path: Invalid path \[\]/],
    [{ derivative: { buckets_path: 's[' } }, /Invalid path/],
    [{ derivative: { buckets_path: 'a>'.repeat(60) } }, /Invalid path/],
    [{ derivative: {} }, /Missing required field \[buckets_path\]/],
    [{ derivative: { buckets_path: 's', foo: 1 } }, /derivative\.foo: unknown key \[foo\]/],
    [{ derivative: { buckets_path: 's', gap_policy: 'SKIP' } }, /Invalid gap policy: \[SKIP\]/],
    [{ derivative: { buckets_path: 's', unit: '1x' } }, /derivative\.unit: failed to parse \[1x\]/],
    [{ cumulative_sum: { buckets_path: 's', gap_policy: 'skip' } }, /unknown key \[gap_policy\]/],
    [{ serial_diff: { buckets_path: 's', lag: 0 } }, /lag: expected a positive/],
    [
      { moving_fn: { buckets_path: 's', window: 3, script: 'values.length' } },
      /moving_fn\.script: this script is not supported/,
    ],
    [{ moving_fn: { buckets_path: 's', window: 3, script: 'MovingFunctions.constructor(values)' } }, /not supported/],
    [{ moving_fn: { buckets_path: 's', window: 3, script: 'MovingFunctions.ewma(values, 0.3)' } }, /not supported/],
    [{ moving_avg: { buckets_path: 's', minimize: true } }, /no settings to minimize/],
    [{ moving_avg: { buckets_path: 's', predict: 2 } }, /predictions are not supported/],
    [
      { moving_avg: { buckets_path: 's', model: 'holt_winters' } },
      /moving_avg\.model: the model \[holt_winters\] is not supported/,
    ],
    [{ moving_avg: { buckets_path: 's', model: 'toString' } }, /the model \[toString\] is not supported/],
    [{ bucket_script: { buckets_path: { a: 's' } } }, /Required \[script\]/],
    [
      { bucket_script: { buckets_path: { a: 's' }, script: 'params.a > 3' } },
      /gives a boolean, where a number is needed/,
    ],
    [
      { bucket_script: { buckets_path: { a: 's' }, script: 'params.zz' } },
      /there is no \[zz\] among buckets_path and params/,
    ],
    [
      { bucket_script: { buckets_path: { a: 's' }, script: 'def x = 1; return x' } },
      /this script is not supported: at \[= 1/,
    ],
    [{ bucket_script: { buckets_path: { a: 's' }, script: 'params.a ** 2' } }, /this script is not supported: \[\*\]/],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '3000000000' } }, /is not an integer of its size/],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '2000000000 + 2000000000' } }, /not an integer of 32 bits/],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '3 % 0' } }, /script: \/ by zero/],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '('.repeat(900) } }, /more than 50 parts in one another/],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '-'.repeat(900) } }, /more than 50 parts in one another/],
    [{ bucket_script: { buckets_path: { a: 's' }, script: '1+'.repeat(900) } }, /at most 1000 characters/],
    [
      { bucket_script: { buckets_path: { a: 's' }, script: { source: 'a', lang: 'groovy' } } },
      /script_lang not supported \[groovy\]/,
    ],
    [
      { bucket_script: { buckets_path: { a: "tt['zz']>s" }, gap_policy: 'insert_zeros', script: 'params.a + 1' } },
      /a bucket has no number for one of the paths/,
    ],
    [{ bucket_selector: { buckets_path: { a: 's' }, script: '1' } }, /gives a number, where a boolean is needed/],
    [{ bucket_sort: {} }, /configured to perform nothing/],
    [{ bucket_sort: { size: 0 } }, /size: expected a positive integer/],
    [{ bucket_sort: { from: -1 } }, /from: expected an integer from 0 on/],
    [{ bucket_sort: { sort: [{ nope: 'asc' }] } }, /No aggregation found for path \[nope\]/],
    [{ max_bucket: { buckets_path: 's' } }, /must be a multi-bucket aggregation for aggregation \[x\]/],
    [{ inference: {} }, /\[inference\] is not supported/],
    [{ normalize: {} }, /\[normalize\] is not supported/],
  ]
  for (const [x, message] of cases) {
    assert.throws(
      () => along(x),
      (error: unknown) => {
        assert.ok(error instanceof ChainsieveError && error.next === 'refuse', String(error))
        assert.match(error.message, message)
        return true
      },
    )
  }
  const places: [Request, RegExp][] = [
    [
      { x: { derivative: { buckets_path: '_count' } } },
      /must have a histogram, date_histogram or auto_date_histogram as parent/,
    ],
    [{ t: { terms: {}, aggs: { x: { derivative: { buckets_path: '_count' } } } } }, /as parent/],
    [
      { t: { histogram: { min_doc_count: 1 }, aggs: { x: { derivative: { buckets_path: '_count' } } } } },
      /parent histogram of derivative aggregation \[x\] must have min_doc_count of 0/,
    ],
    [{ x: { bucket_sort: { size: 1 } } }, /must be declared inside of another aggregation/],
    [{ t: { filter: {}, aggs: { x: { bucket_sort: { size: 1 } } } } }, /inside of an aggregation with several buckets/],
    [
      { x: { avg_bucket: { buckets_path: '_count' } } },
      /buckets_path aggregation does not exist for aggregation \[x\]/,
    ],
    [{ c: { composite: {} }, x: { avg_bucket: { buckets_path: 'c>_count' } } }, /must be a multi-bucket aggregation/],
  ]
  for (const [request, message] of places) assert.throws(() => read(request), message)
})

test('names that every object answers to are none of ours', () => {
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    assert.equal(parsePipeline('x', name, { path: 'x', value: null }), undefined)
    assert.throws(() => along({ derivative: { buckets_path: name } }), /No aggregation found for path/)
    assert.throws(() => along({ bucket_script: { buckets_path: { a: 's' }, script: `params.${name}` } }), /there is no/)
    assert.throws(
      () => along({ bucket_script: { buckets_path: { a: 's' }, script: `Math.${name}(1)` } }),
      /not supported/,
    )
  }
})

test('every example in the docs is read', () => {
  for (const [type, { example }] of Object.entries(PIPELINES)) {
    const place = { path: type, value: parseExactJson(JSON.stringify(example)) }
    assert.equal(parsePipeline('x', type, place)?.type, type)
  }
})

/** A pipeline told by all numbers at once: NaN for a gap, undefined where it finds nothing. */
const NAIVE: Record<string, (values: number[], counts: number[]) => (number | undefined)[]> = {
  derivative: values => values.map((value, i) => (i === 0 ? undefined : value - values[i - 1]!)),
  cumulative_sum: values =>
    values.map((_, i) => values.slice(0, i + 1).reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value), 0)),
  serial_diff: values =>
    values.map((value, i) => (Number.isNaN(value - values[i - 3]!) ? undefined : value - values[i - 3]!)),
  moving_fn: values =>
    values.map((value, i) => {
      if (Number.isNaN(value)) return undefined
      const before = values
        .slice(0, i)
        .filter(value => !Number.isNaN(value))
        .slice(-4)
      return before.reduce((sum, value) => sum + value, 0)
    }),
  bucket_script: (values, counts) =>
    values.map((value, i) => (Number.isNaN(value) ? undefined : value > 5 ? value * 2 - counts[i]! : -value)),
}

const BODIES: Record<string, Members> = {
  derivative: { buckets_path: 'f>s' },
  cumulative_sum: { buckets_path: 'f>s' },
  serial_diff: { buckets_path: 'f>s', lag: 3 },
  moving_fn: { buckets_path: 'f>s', window: 4, script: 'MovingFunctions.sum(values)' },
  bucket_script: {
    buckets_path: { v: 'f>s', n: '_count' },
    script: 'params.v > 5 ? params.v * 2 - params.n : -params.v',
  },
}

/** As JSON has it; minus zero is zero. */
const plain = (value: number | null | undefined) => (Number.isNaN(value) ? null : value === 0 ? 0 : value)

test('random trees of buckets, against naive models', () => {
  const bucket = fc.record({
    count: fc.integer({ min: 0, max: 3 }),
    value: fc.option(fc.integer({ min: -20, max: 20 })),
  })
  const groups = fc.array(fc.array(bucket, { maxLength: 12 }), { maxLength: 5 })
  const types = fc.constantFrom(...Object.keys(NAIVE))
  fc.assert(
    fc.property(groups, types, (groups, type) => {
      const results = resultsOf({
        'sterms#t': {
          buckets: groups.map((buckets, group) => ({
            key: `group ${group}`,
            doc_count: 1,
            'histogram#h': {
              buckets: buckets.map(({ count, value }, i) => ({
                key: i,
                doc_count: count,
                'filter#f': { doc_count: count, 'sum#s': { value } },
              })),
            },
          })),
        },
      })
      const inner: Request = { f: { filter: {}, aggs: { s: { sum: {} } } }, x: { [type]: BODIES[type]! } }
      const request: Request = {
        t: {
          terms: {},
          aggs: { m: { sum_bucket: { buckets_path: 'h>x' } }, h: { histogram: {}, aggs: inner } },
        },
        best: { max_bucket: { buckets_path: 't>m' } },
      }
      const answer = run(request, results) as {
        [name: string]: { buckets: Found[]; value: number | null; keys: string[] }
      }
      const sums: number[] = []
      for (const [group, buckets] of groups.entries()) {
        const values = buckets.map(({ count, value }) => (count === 0 || value === null ? Number.NaN : value))
        const expected = NAIVE[type]!(
          values,
          buckets.map(({ count }) => count),
        )
        const found = answer['sterms#t']!.buckets[group]! as unknown as Record<
          string,
          { buckets: Found[]; value: number }
        >
        const shown = found['histogram#h']!.buckets.map(bucket => {
          const name = Object.keys(bucket).find(name => name.endsWith('#x'))
          return name === undefined ? undefined : (bucket[name] as { value: number | null }).value
        })
        assert.deepEqual(shown.map(plain), expected.map(plain))
        // What lies on a bucket without documents counts for no other pipeline.
        const counted = expected.filter(
          (value, i) => value !== undefined && !Number.isNaN(value) && buckets[i]!.count > 0,
        )
        sums.push(counted.reduce((sum: number, value) => sum + value!, 0))
        assert.equal(found['simple_value#m']!.value, sums.at(-1))
      }
      const best = answer['bucket_metric_value#best']!
      const most = Math.max(...sums)
      assert.equal(best.value, sums.length === 0 ? null : most)
      assert.deepEqual(
        best.keys,
        sums.flatMap((sum, group) => (sum === most ? [`group ${group}`] : [])),
      )
    }),
  )
})
