import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWaitingMetrics } from '../../src/delivery/metrics.ts'
import { CHANNEL_TYPES } from '../../src/rules/channels.ts'

test('what waits is told by channel, those without anything too, and counting takes a tenth of the time at most', t => {
  let asked = 0
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const store = {
    waiting() {
      asked++
      // What takes long is not done again soon.
      now += 20
      return [{ channel: 'Chat' as const, count: 3, dueAt: 4_000 }]
    },
    dead: () => 2,
    cursor: ({ network }: { network: string }) => (network === 'a/b/c' ? 5 : 9),
  }
  const outbox = { identity: 'x', last: () => 8 }
  const outboxes = new Map([
    ['a/b/c', outbox],
    ['d/e/f', outbox],
  ])
  const waiting = createWaitingMetrics(
    store,
    () => outboxes,
    () => 10_000,
  )
  const told = Object.fromEntries(
    waiting().flatMap(one =>
      one.series.map(series => [
        `${one.name.replace('chainsieve_', '')} ${Object.values(series.labels)}`,
        'value' in series && series.value,
      ]),
    ),
  )
  assert.deepEqual(told, {
    ...Object.fromEntries(
      CHANNEL_TYPES.flatMap(type => [
        [`deliveries_queued ${type}`, 0],
        [`deliveries_overdue_seconds ${type}`, 0],
      ]),
    ),
    'deliveries_queued Chat': 3,
    'deliveries_overdue_seconds Chat': 6,
    'dead_letters ': 2,
    'outbox_pending a/b/c': 3,
    'outbox_pending d/e/f': 0,
  })
  now += 199
  waiting()
  assert.equal(asked, 1)
  now += 2
  waiting()
  assert.equal(asked, 2)
})
