import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createMetrics, exposition, labelled } from '../../src/lib/metrics.ts'
import { parseExposition } from '../support/exposition.ts'

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
