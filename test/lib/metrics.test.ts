import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createMetrics } from '../../src/lib/metrics.ts'

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
