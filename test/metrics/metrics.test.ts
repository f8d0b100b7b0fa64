import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createMetrics, exposition, labelled } from '../../src/metrics/index.ts'
import type { MetricDeclaration } from '../../src/metrics/table.ts'
import { parseExposition } from '../support/exposition.ts'

const TABLE = {
  sent_total: ['counter', '', 'What was sent.'],
  lag: ['histogram', '', 'Lag.'],
  a: ['counter', '', ''],
  b: ['histogram', '', ''],
  http_requests_total: ['counter', '', 'The total number of HTTP requests.'],
  msdos: ['gauge', '', 'A path\\of\nMS-DOS.'],
  seconds: ['histogram', '', 'Time.'],
  nothing_total: ['counter', '', 'What never was counted.'],
  blocks_total: ['counter', '', 'Blocks that were stored.'],
  rules: ['gauge', '', 'Rules that are looked for.'],
  values: ['gauge', '', 'Values that were set.'],
} satisfies Record<string, MetricDeclaration>

describe('metrics', () => {
  it('counts by labels, in whatever order they are given', () => {
    const metrics = createMetrics(TABLE)
    const counter = metrics.counter('sent_total')
    assert.deepEqual(metrics.snapshot(), [{ type: 'counter', name: 'sent_total', help: 'What was sent.', series: [] }])
    counter.add({ channel: 'Chat', type: 'a' })
    counter.add({ type: 'a', channel: 'Chat' }, 4)
    counter.add({ channel: 'Email', type: 'a' })
    counter.add({})
    assert.deepEqual(metrics.snapshot(), [
      {
        type: 'counter',
        name: 'sent_total',
        help: 'What was sent.',
        series: [
          { labels: { channel: 'Chat', type: 'a' }, value: 5 },
          { labels: { channel: 'Email', type: 'a' }, value: 1 },
          { labels: {}, value: 1 },
        ],
      },
    ])
  })

  it('counts values of a histogram up to each bound', () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { maxLength: 6 }),
        fc.array(fc.integer({ min: -60, max: 60 })),
        (unsorted, values) => {
          const bounds = unsorted.sort((a, b) => a - b)
          const metrics = createMetrics(TABLE)
          const histogram = metrics.histogram('lag', bounds)
          for (const value of values) histogram.observe({ a: '1' }, value)
          const series = {
            labels: { a: '1' },
            counts: bounds.map(bound => values.filter(it => it <= bound).length),
            sum: values.reduce((sum, it) => sum + it, 0),
            count: values.length,
          }
          assert.deepEqual(metrics.snapshot(), [
            { type: 'histogram', name: 'lag', help: 'Lag.', bounds, series: values.length > 0 ? [series] : [] },
          ])
        },
      ),
    ))

  it('gives snapshots that later values do not change', () => {
    const metrics = createMetrics(TABLE)
    const counter = metrics.counter('a')
    counter.add({ x: 'y' })
    const before = metrics.snapshot()
    counter.add({ x: 'y' })
    assert.deepEqual(before, [{ type: 'counter', name: 'a', help: '', series: [{ labels: { x: 'y' }, value: 1 }] }])
  })

  it('refuses a name twice, another type than is declared, and bounds that do not ascend', () => {
    const metrics = createMetrics(TABLE)
    metrics.counter('a')
    assert.throws(() => metrics.counter('a'), /two metrics a/)
    assert.throws(() => metrics.gauge('lag'), /lag is not declared as a gauge/)
    assert.throws(() => metrics.histogram('b', [1, 1]), /bounds of b do not ascend/)
  })
})

describe("Prometheus's text format", () => {
  it('is as it stands in its documentation', () => {
    const metrics = createMetrics(TABLE)
    metrics.counter('http_requests_total').of({ method: 'post' })(1027)
    metrics.gauge('msdos').set({ path: 'C:\\DIR\n"FILE"' }, Number.POSITIVE_INFINITY)
    const observe = metrics.histogram('seconds', [0.05, 1]).of({ of: 'x' })
    for (const value of [0.04, 0.06, 3]) observe(value)
    metrics.counter('nothing_total')
    assert.equal(
      exposition(metrics.snapshot()),
      String.raw`# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post"} 1027
# HELP msdos A path\\of\nMS-DOS.
# TYPE msdos gauge
msdos{path="C:\\DIR\n\"FILE\""} +Inf
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{of="x",le="0.05"} 1
seconds_bucket{of="x",le="1"} 2
seconds_bucket{of="x",le="+Inf"} 3
seconds_sum{of="x"} 3.1
seconds_count{of="x"} 3
`,
    )
  })

  it('has all series of a name in one place, whoever counts them', () => {
    const of = (network: string, value: number) => {
      const metrics = createMetrics(TABLE)
      metrics.counter('blocks_total').add({ network: 'own' }, value)
      metrics.gauge('rules').set({}, value)
      return labelled(metrics.snapshot(), { network, in: network })
    }
    assert.equal(
      exposition([...of('a', 1), ...of('b', 2)]),
      `# HELP blocks_total Blocks that were stored.
# TYPE blocks_total counter
blocks_total{network="own",in="a"} 1
blocks_total{network="own",in="b"} 2
# HELP rules Rules that are looked for.
# TYPE rules gauge
rules{network="a",in="a"} 1
rules{network="b",in="b"} 2
`,
    )
  })

  it('is read back as it was, whatever labels hold', () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.double({ noNaN: true, min: 0 })), { minLength: 1 }),
        values => {
          const metrics = createMetrics(TABLE)
          const gauge = metrics.gauge('values')
          for (const [text, value] of values) gauge.set({ text }, value)
          const read = parseExposition(exposition(metrics.snapshot())).get('values')!.samples
          const due = new Map(values)
          assert.deepEqual(new Map(read.map(({ labels, value }) => [labels.text, value])), due)
        },
      ),
    ))
})
