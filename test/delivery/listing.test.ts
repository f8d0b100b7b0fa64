import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import type { PageFilter } from '../../src/delivery/ledger/listing.ts'
import type { DeliveryInfo, DeliveryState } from '../../src/delivery/ledger/records.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { dataFolder, NETWORK } from '../support/delivery.ts'

const STATES: readonly DeliveryState[] = ['queued', 'delivered', 'dead', 'cancelled']
const TARGETS = ['https://a.example/…', 'https://b.example/…']

interface Row {
  account: number
  rule: number
  state: DeliveryState
  tries: number
  target: number
  createdAt: number
  type: string
}

/** A store with these deliveries, numbered from 1. */
const filled = async (t: TestContext, rows: readonly Row[]) => {
  const data = await dataFolder(t)
  openDeliveries(data).close()
  const db = new Database(join(data, 'deliveries.sqlite'))
  for (const [n, shown] of TARGETS.entries())
    db.prepare('INSERT INTO receiver VALUES (?, ?, ?, ?, ?, ?)').run(
      n + 1,
      shown,
      'Webhook (POST)',
      shown,
      shown,
      shown,
    )
  db.prepare('INSERT INTO message VALUES (1, ?, ?, ?, ?)').run(NETWORK, 'a', '{}', '{}')
  const insert = db.prepare(
    `INSERT INTO delivery (id, network, alert, round, type, action, rule, revision, account, receiver, destination, message, state, tries,
       next_at, created_at, queued_at, received_at, changed_at, settled_at)
     VALUES (@id, 'n', @alert, 1, @type, 0, @rule, 1, @account, @receiver, 'd', 1, @state, @tries, 5, @createdAt, 0, 0, 0, @settled)`,
  )
  db.transaction(() => {
    for (const [n, { target, ...row }] of rows.entries())
      insert.run({
        ...row,
        ...{ id: n + 1, alert: `alert-${n}`, receiver: target + 1, settled: row.state === 'queued' ? null : 1 },
      })
  })()
  db.close()
  const store = openDeliveries(data)
  t.after(() => store.close())
  return store
}

const rowOf = fc.record({
  account: fc.integer({ min: 1, max: 2 }),
  rule: fc.integer({ min: 1, max: 3 }),
  state: fc.constantFrom(...STATES),
  tries: fc.integer({ min: 0, max: 1 }),
  target: fc.integer({ min: 0, max: 1 }),
  createdAt: fc.integer({ min: 0, max: 9 }),
  type: fc.constantFrom('alert.confirmed', 'alert.confirmed', 'alert.test'),
})
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const filterOf = fc.record({
  account: fc.integer({ min: 1, max: 2 }),
  state: maybe(fc.constantFrom(...STATES, 'waiting' as const, 'retried' as const)),
  rule: maybe(fc.integer({ min: 1, max: 3 })),
  target: maybe(fc.constantFrom(...TARGETS)),
  since: maybe(fc.integer({ min: 0, max: 9 })),
  until: maybe(fc.integer({ min: 0, max: 9 })),
  limit: fc.integer({ min: 1, max: 5 }),
})

const fits = (row: Row, { account, state, rule, target, since, until }: Omit<PageFilter, 'limit'>): boolean =>
  row.account === account &&
  (state === undefined ||
    (state === 'waiting' || state === 'retried'
      ? row.state === 'queued' && row.tries > 0 === (state === 'retried')
      : row.state === state)) &&
  (rule === undefined || row.rule === rule) &&
  (target === undefined || TARGETS[row.target] === target) &&
  (since === undefined || row.createdAt >= since) &&
  (until === undefined || row.createdAt <= until)

test('pages of deliveries are, one after the other, all that fit, the newest first', async t => {
  const rows = fc.sample(rowOf, 80)
  const store = await filled(t, rows)
  fc.assert(
    fc.property(filterOf, filter => {
      const found: DeliveryInfo[] = []
      let before: number | undefined
      do {
        const page = store.page({ ...filter, before })
        assert.ok(page.deliveries.length <= filter.limit)
        found.push(...page.deliveries)
        before = page.next ?? undefined
      } while (before !== undefined)
      const due = rows.flatMap((row, n) => (fits(row, filter) ? [n + 1] : [])).reverse()
      assert.deepEqual(
        found.map(({ id }) => id),
        due,
      )
    }),
    { numRuns: 300 },
  )
})

test('a page looks at so many deliveries and no more, and the next one goes on behind them', async t => {
  const common = { account: 1, rule: 1, tries: 0, target: 0, createdAt: 0, type: 'alert.confirmed' }
  const rows: Row[] = Array.from({ length: 5_000 }, (_, n) => ({
    ...common,
    state: n % 2 === 0 ? 'delivered' : 'dead',
    rule: n === 0 ? 2 : 1,
    target: n === 10 ? 1 : 0,
  }))
  const store = await filled(t, rows)
  const first = store.page({ account: 1, target: TARGETS[1]!, limit: 10 })
  assert.deepEqual(first, { deliveries: [], next: 3_001 })
  const second = store.page({ account: 1, target: TARGETS[1]!, limit: 10, before: first.next! })
  assert.deepEqual(second, { deliveries: [], next: 1_001 })
  const third = store.page({ account: 1, target: TARGETS[1]!, limit: 10, before: second.next! })
  assert.deepEqual([third.deliveries.map(({ id }) => id), third.next], [[11], null])
  assert.deepEqual(
    store.page({ account: 1, rule: 2, limit: 10 }).deliveries.map(({ id }) => id),
    [1],
  )
})

test('what waits and what is dead is counted by destination, and tests are not', async t => {
  const rows = fc.sample(rowOf, 80)
  const store = await filled(t, rows)
  for (const account of [1, 2]) {
    const due = TARGETS.flatMap((target, n) => {
      const mine = rows.filter(row => row.account === account && row.target === n && row.type !== 'alert.test')
      const count = (state: DeliveryState, tries?: number) =>
        mine.filter(row => row.state === state && (tries === undefined || row.tries === tries)).length
      const [waiting, retried, dead] = [count('queued', 0), count('queued', 1), count('dead')]
      return waiting + retried + dead === 0 ? [] : [{ channel: 'Webhook (POST)', target, waiting, retried, dead }]
    })
    const { destinations, complete } = store.destinations(account)
    assert.ok(complete)
    assert.deepEqual(
      destinations.map(({ nextAt: _, ...it }) => it).toSorted((a, b) => (a.target < b.target ? -1 : 1)),
      due,
    )
  }
  assert.deepEqual(store.destinations(3), { destinations: [], complete: true })
})

test('one delivery is shown to its account alone', async t => {
  const store = await filled(t, [
    { account: 1, rule: 1, state: 'dead', tries: 1, target: 0, createdAt: 7, type: 'alert.confirmed' },
  ])
  assert.deepEqual(store.delivery(1, 1), { ...store.list({ limit: 1 })[0], attempts: [] })
  assert.equal(store.delivery(2, 1), undefined)
  assert.equal(store.delivery(1, 2), undefined)
})

test('an account redelivers what is dead of it, by receiver, and nothing of others', async t => {
  const common = { rule: 1, tries: 1, createdAt: 0, type: 'alert.confirmed', state: 'dead' as const }
  const store = await filled(t, [
    { ...common, account: 1, target: 0 },
    { ...common, account: 1, target: 1 },
    { ...common, account: 2, target: 0 },
    { ...common, account: 1, target: 0, state: 'delivered' },
  ])
  const states = () => [2, 1].map(account => store.page({ account, limit: 9 }).deliveries.map(({ state }) => state))
  assert.throws(() => store.redeliver({ account: 1 }), /Name what to deliver again/)
  assert.equal(store.redeliver({ account: 1, dead: true, channel: 'Webhook (POST)', target: TARGETS[0] }), 1)
  assert.deepEqual(states(), [['dead'], ['delivered', 'dead', 'queued']])
  assert.equal(store.redeliver({ account: 1, dead: true, channel: 'Email' }), 0)
  assert.equal(store.redeliver({ account: 1, delivery: 3 }), 0)
  assert.equal(store.redeliver({ account: 1, dead: true }), 1)
  assert.deepEqual(states(), [['dead'], ['delivered', 'queued', 'queued']])
})
