import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createMetrics, exposition, labelled } from '../../src/lib/metrics.ts'
import { parseExposition } from '../support/exposition.ts'

describe('metrics', () => {
  it('counts by labels, in whatever order they are given', () => {
    const metrics = createMetrics()
    const counter = metrics.counter('sent_total', 'What was sent.')
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
          const metrics = createMetrics()
          const histogram = metrics.histogram('lag', 'Lag.', bounds)
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
    const metrics = createMetrics()
    const counter = metrics.counter('a', '')
    counter.add({ x: 'y' })
    const before = metrics.snapshot()
    counter.add({ x: 'y' })
    assert.deepEqual(before, [{ type: 'counter', name: 'a', help: '', series: [{ labels: { x: 'y' }, value: 1 }] }])
  })

  it('refuses a name twice, and bounds that do not ascend', () => {
    const metrics = createMetrics()
    metrics.counter('a', '')
    assert.throws(() => metrics.histogram('a', '', [1]), /two metrics a/)
    assert.throws(() => metrics.histogram('b', '', [1, 1]), /bounds of b do not ascend/)
  })
})

describe("Prometheus's text format", () => {
  it('is as it stands in its documentation', () => {
    const metrics = createMetrics()
    metrics.counter('http_requests_total', 'The total number of HTTP requests.').of({ method: 'post' })(1027)
    metrics.gauge('msdos', 'A path\\of\nMS-DOS.').set({ path: 'C:\\DIR\n"FILE"' }, Number.POSITIVE_INFINITY)
    const observe = metrics.histogram('seconds', 'Time.', [0.05, 1]).of({ of: 'x' })
    for (const value of [0.04, 0.06, 3]) observe(value)
    metrics.counter('nothing_total', 'What never was counted.')
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
      const metrics = createMetrics()
      metrics.counter('blocks_total', 'Blocks that were stored.').add({ network: 'own' }, value)
      metrics.gauge('rules', 'Rules that are looked for.').set({}, value)
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
          const metrics = createMetrics()
          const gauge = metrics.gauge('values', 'Values that were set.')
          for (const [text, value] of values) gauge.set({ text }, value)
          const read = parseExposition(exposition(metrics.snapshot())).get('values')!.samples
          const due = new Map(values)
          assert.deepEqual(new Map(read.map(({ labels, value }) => [labels.text, value])), due)
        },
      ),
    ))
})
