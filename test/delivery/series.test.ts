import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AlertTime } from '../../src/alerts/outbox.ts'
import { countAlerts } from '../../src/delivery/series.ts'

const DAY = 86_400_000
const NOW = 10 * DAY

/** An outbox with alerts of rule 1, in the order in which they were stored. */
const outboxOf = (times: readonly AlertTime[]) => {
  const pages: number[] = []
  return {
    pages,
    times: (rule: number, before: number, limit: number) => {
      pages.push(before)
      return rule === 1
        ? times
            .filter(({ n }) => n < before)
            .toReversed()
            .slice(0, limit)
        : []
    },
  }
}

const alert = (n: number, receivedAt: number, storedAt = receivedAt): AlertTime => ({
  ...{ n, id: `alert_${n}`, state: 'confirmed', block: n, receivedAt, changedAt: storedAt },
})

const asked = (starts: readonly number[], intervalMs: number) => ({
  rules: [
    { id: 1, network: 'a/b/c' },
    { id: 2, network: 'a/b/c' },
  ],
  ...{ starts, intervalMs, now: NOW },
})

test('alerts are counted by when their blocks were received, as by looking at each', async () => {
  const gap = fc.integer({ min: 0, max: DAY / 100 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(gap, gap), { maxLength: 1_500 }),
      fc.integer({ min: 0, max: 9 }),
      async (gaps, day) => {
        let at = 0
        const times = gaps.map(([wait, delay], n) => {
          at += wait
          return alert(n + 1, Math.max(0, at - delay), at)
        })
        const starts = [0, 1, 2].map(n => (day + n / 2) * DAY)
        const { rules, complete } = await countAlerts(() => outboxOf(times), asked(starts, DAY / 2))
        const { n: _, ...last } = times.at(-1) ?? { n: 0 }
        assert.ok(complete)
        assert.deepEqual(rules, [
          {
            rule: 1,
            counts: starts.map(
              start => times.filter(it => it.receivedAt >= start && it.receivedAt < start + DAY / 2).length,
            ),
            last24h: times.filter(it => it.receivedAt >= NOW - DAY).length,
            last: times.length === 0 ? null : last,
          },
          { rule: 2, counts: [0, 0, 0], last24h: 0, last: null },
        ])
      },
    ),
    { numRuns: 100 },
  )
})

test('older alerts than the time are not read', async () => {
  const outbox = outboxOf(Array.from({ length: 10_000 }, (_, n) => alert(n + 1, n)))
  const { rules } = await countAlerts(() => outbox, asked([NOW - DAY], DAY))
  assert.deepEqual([rules[0]!.counts, outbox.pages.length], [[0], 2])
})

test('of very many alerts the newest are counted, and that is told', async () => {
  const outbox = {
    times: (_: number, before: number, limit: number) =>
      Array.from({ length: limit }, (_, n) => alert(Math.min(before, 1e9) - n - 1, NOW)),
  }
  const { rules, complete } = await countAlerts(() => outbox, asked([NOW], DAY))
  assert.deepEqual([rules[0]!.counts, complete], [[200_000], false])
})

test('a network without a store has no alerts', async () => {
  assert.deepEqual(await countAlerts(() => undefined, { ...asked([0], DAY), rules: [{ id: 1, network: 'x' }] }), {
    rules: [{ rule: 1, counts: [0], last24h: 0, last: null }],
    complete: true,
  })
})
