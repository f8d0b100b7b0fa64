import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alertsOfSeveral } from '../../src/app/alerting.ts'
import type { AlertRecord } from '../../src/delivery/thread-messages.ts'
import type { StoredRule } from '../../src/rules/rule.ts'

const record = (n: number, receivedAt: number): AlertRecord =>
  ({ n, alert: { id: `alert ${n}`, receivedAt, changedAt: 0, source: '{}' }, deliveries: [] }) as unknown as AlertRecord

test('alerts of several networks are listed page by page, each once, also where they were received in another order than found', async () => {
  const all: Record<string, AlertRecord[]> = {
    'x/a/net': [record(5, 50), record(3, 90), record(1, 10)],
    'x/b/net': [record(9, 60), record(8, 20)],
    'x/c/net': [],
  }
  const delivery = {
    alerts: async (
      network: string,
      _: number,
      { size, before = 1_000 }: { size: number; before?: number | undefined },
    ) => all[network]!.filter(({ n }) => n < before).slice(0, size),
  }
  for (const size of [1, 2, 3, 5, 10]) {
    const seen: string[] = []
    for (let before: string | undefined, page = 0; page < 10; page++) {
      const { alerts, next } = await alertsOfSeveral(delivery, { id: 1 } as StoredRule, Object.keys(all), {
        ...{ size, before, state: undefined },
      })
      for (const { network, id } of alerts as { network: string; id: string }[]) seen.push(`${network} ${id}`)
      if (next === null) break
      before = next
    }
    assert.deepEqual(seen, [
      'x/b/net alert 9',
      'x/a/net alert 5',
      'x/a/net alert 3',
      'x/b/net alert 8',
      'x/a/net alert 1',
    ])
  }
  await assert.rejects(
    alertsOfSeveral(delivery, { id: 1 } as StoredRule, [], { size: 1, before: 'x', state: undefined }),
    { next: 'refuse' },
  )
})
