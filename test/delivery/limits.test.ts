import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import type { SendOutcome } from '../../src/delivery/channels/channel.ts'
import { upgradeDeliveries } from '../../src/delivery/ledger/file.ts'
import { DELIVERY_MIGRATIONS } from '../../src/delivery/ledger/migrations.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { SCHEDULE_MS } from '../../src/delivery/retry-schedule.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import {
  ACCOUNT,
  DELIVERED,
  dataFolder,
  dueIn,
  FAILED,
  makeAlert,
  makeChannels,
  makeOutbox,
  makeRule,
  NETWORK,
  post,
  REFUSED,
  setUpWorker,
  statesIn,
} from '../support/delivery.ts'

const A = 'https://a.example/'
const B = 'https://b.example/'
const ORIGIN = { network: NETWORK, identity: 'store-1' }
const DAY = 86_400_000

const setUp = async (t: TestContext, limits = DEFAULT_LIMITS) => {
  const data = await dataFolder(t)
  const state = { now: 10_000 }
  const store = openDeliveries(data, { now: () => state.now, limits })
  t.after(() => store.close())
  const rules = new Map<number, StoredRule>()
  const outbox = makeOutbox()
  const how = () => ({ channels: makeChannels(), digestMs: 0, now: state.now, limits })
  const take = (share?: number) =>
    store.expand(ORIGIN, outbox.after(store.cursor(ORIGIN), 1_000), id => rules.get(id), {
      ...how(),
      ...(share !== undefined && { share }),
    })
  const settle = (destination: string, outcome = DELIVERED) => {
    const jobs = store.claim(
      dueIn(store, destination, state.now, 1_000).map(it => [it]),
      state.now,
    )
    store.settle(
      jobs.map(job => ({ ids: job!.ids, at: state.now, latencyMs: 1, outcome })),
      { now: state.now, schedule: SCHEDULE_MS },
    )
  }
  const inFile = <T>(sql: string): T[] => {
    const db = new Database(join(data, 'deliveries.sqlite'), { readonly: true })
    try {
      return db.prepare(sql).all() as T[]
    } finally {
      db.close()
    }
  }
  return { data, state, store, rules, outbox, how, take, settle, inFile }
}

describe('what a rule says', () => {
  it('is kept once, however often it fires, and as long as something tells of it', async t => {
    const { data, state, store, rules, outbox, take, settle, inFile } = await setUp(t)
    const name = 'n'.repeat(2_000_000)
    const rule = makeRule(1, [post(A)])
    rules.set(1, { ...rule, input: { ...rule.input, name } })
    for (let n = 0; n < 85; n++) outbox.add('confirmed', makeAlert(`alert-${n}`))
    take()
    const { size } = statSync(join(data, 'deliveries.sqlite'))
    const wal = statSync(join(data, 'deliveries.sqlite-wal')).size
    assert.ok(size + wal < 8_000_000, `${size + wal} bytes`)
    const [job] = store.claim([dueIn(store, A, state.now, 1)], state.now)
    assert.equal(job!.messages[0]!.rule.name, name)
    settle(A)
    state.now += 2 * DAY
    assert.equal(store.pruneRule(1, state.now - DAY, 500), 85)
    for (const table of ['delivery', 'message', 'receiver', 'said', 'attempt', 'rule_count'])
      assert.deepEqual(inFile(`SELECT count(*) AS n FROM ${table}`), [{ n: 0 }], table)
  })

  it('is read from a file of before', async t => {
    const data = await dataFolder(t)
    const db = new Database(join(data, 'deliveries.sqlite'))
    db.exec(DELIVERY_MIGRATIONS[0]!)
    db.pragma('user_version = 1')
    const head = {
      rule: { id: 1, name: 'old', version: 3 },
      targetType: 'Event',
      confirmations: 0,
      entity: { _id: '0x1', _type: 'event', blockNumber: 5 },
    }
    db.exec(`INSERT INTO receiver VALUES (1, '${JSON.stringify(post(A))}', 'Webhook (POST)', '${A}', 't', 'a.example')`)
    for (let n = 1; n <= 3; n++) {
      db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)').run(n, NETWORK, `alert-${n}`, JSON.stringify(head), '{}')
      db.prepare(
        `INSERT INTO delivery (network, alert, round, type, action, rule, revision, account, receiver, destination, message, state,
           next_at, created_at, queued_at, received_at, changed_at)
         VALUES (?, ?, 1, 'alert.confirmed', 0, 1, 2, ${ACCOUNT}, 1, ?, ?, 'queued', 5, 5, 5, 5, 5)`,
      ).run(NETWORK, `alert-${n}`, A, n)
    }
    db.close()
    upgradeDeliveries(data, undefined)
    const store = openDeliveries(data)
    t.after(() => store.close())
    const jobs = store.claim(
      dueIn(store, A, 10, 9).map(it => [it]),
      10,
    )
    const { rule, ...rest } = head
    assert.deepEqual(
      jobs.map(job => job!.messages.map(it => ({ rule: it.rule, entity: it.entity, confirmations: it.confirmations }))),
      Array(3).fill([{ rule, entity: rest.entity, confirmations: 0 }]),
    )
  })
})

describe('an account that has much to tell', () => {
  it('is left behind, in order, while others are served', async t => {
    const { store, rules, outbox, how, take, inFile } = await setUp(t)
    rules.set(1, makeRule(1, [post(A)], { account: 1 }))
    rules.set(2, makeRule(2, [post(B)], { account: 2 }))
    for (let n = 0; n < 30; n++) outbox.add('confirmed', makeAlert(`much-${n}`, { rule: 1 }))
    outbox.add('retracted', makeAlert('much-0', { rule: 1 }))
    outbox.add('confirmed', makeAlert('little', { rule: 2 }))
    take(10)
    const told = () => inFile<{ alert: string }>('SELECT alert FROM delivery ORDER BY id').map(it => it.alert)
    assert.deepEqual(told(), [...Array.from({ length: 10 }, (_, n) => `much-${n}`), 'little'])
    assert.equal(store.cursor(ORIGIN), outbox.last())
    // What comes for it meanwhile waits behind.
    outbox.add('confirmed', makeAlert('much-30', { rule: 1 }))
    take(10)
    for (let [backlog] = store.backlogs(ORIGIN); backlog; [backlog] = store.backlogs(ORIGIN))
      store.catchUp(ORIGIN, backlog, outbox.after(backlog.n, 7), id => rules.get(id), how())
    assert.deepEqual(
      told().filter(it => it.startsWith('much')),
      Array.from({ length: 31 }, (_, n) => `much-${n}`),
    )
    assert.deepEqual(inFile("SELECT state FROM delivery WHERE alert = 'much-0'"), [{ state: 'cancelled' }])
    outbox.add('confirmed', makeAlert('much-31', { rule: 1 }))
    take(10)
    assert.equal(told().at(-1), 'much-31')
  })

  it('has no more queued than it may: what a full receiver cannot take is dead and says why, and others have room', async t => {
    const limits = { ...DEFAULT_LIMITS, queuedDeliveries: 20 }
    const { state, store, rules, outbox, take, settle } = await setUp(t, limits)
    rules.set(1, makeRule(1, [post(A)]))
    rules.set(2, makeRule(2, [post(B)]))
    for (let n = 0; n < 50; n++) outbox.add('confirmed', makeAlert(`alert-${n}`))
    outbox.add('confirmed', makeAlert('other', { rule: 2 }))
    take()
    const states = () => statesIn(store)
    assert.deepEqual(states(), { queued: 21, dead: 30 })
    assert.equal(
      store.list({ dead: true, limit: 1 })[0]!.lastError,
      'An account has more than 20 queued deliveries. Further deliveries to a slow receiver are dead. Deliver them again later, in smaller ranges. ' +
        'The operator can raise this with --limit queuedDeliveries=N.',
    )
    assert.throws(() => store.redeliver({ rule: 1, dead: true }), { code: 'es_rejected_execution_exception' })
    settle(A)
    state.now += 2_000
    assert.throws(() => store.redeliver({ rule: 1, dead: true }), { next: 'refuse' })
    const deliveries = store.list({ dead: true, limit: 15 })
    for (const { id } of deliveries) assert.equal(store.redeliver({ rule: 1, delivery: id }), 1)
    assert.deepEqual(states(), { queued: 16, dead: 15, delivered: 20 })
  })
})

describe('a rule that is deleted', () => {
  it('has nothing more sent, also of what is tried again, but retractions of what may have arrived', async t => {
    const channels = makeChannels(({ messages }) => (messages[0]!.id === 'alert-1' ? DELIVERED : FAILED))
    const rules = new Map([[1, makeRule(1, [post(A)])]])
    let version = 1
    const options = { channels, rules: (id: number) => rules.get(id), rulesVersion: () => version }
    const { clock, outbox, store, start, stop, confirm } = await setUpWorker(t, options)
    const worker = start()
    confirm('alert-1', 'alert-2', 'alert-3')
    await clock.run(2_000)
    assert.equal(channels.sent.length, 3)
    rules.delete(1)
    version++
    await clock.run(DAY / 2)
    assert.equal(channels.sent.length, 3)
    assert.deepEqual(
      store.list({ limit: 9 }).map(it => [it.alert, it.state, it.lastError]),
      [
        ['alert-3', 'cancelled', 'its rule was deleted'],
        ['alert-2', 'cancelled', 'its rule was deleted'],
        ['alert-1', 'delivered', null],
      ],
    )
    outbox.add('retracted', makeAlert('alert-1'))
    await clock.run(2_000)
    assert.deepEqual(
      channels.sent.slice(3).map(({ messages }) => [messages[0]!.id, messages[0]!.type]),
      [['alert-1', 'alert.retracted']],
    )
    // What belonged to it is forgotten when no block can be lost any more.
    await clock.run(2 * DAY)
    assert.deepEqual(store.list({ limit: 9 }), [])
    await stop(worker)
  })
})

describe('a rule that is paused', () => {
  const setUp = async (t: TestContext) => {
    const answers = new Map<string, SendOutcome>()
    const channels = makeChannels(({ messages }) => answers.get(messages[0]!.id) ?? DELIVERED)
    const state = { rule: makeRule(1, [post(A)]), version: 1 }
    const options = { channels, rules: () => state.rule, rulesVersion: () => state.version }
    const made = await setUpWorker(t, options)
    const set = (enabled: boolean) => {
      state.rule = { ...state.rule, enabled, revision: state.rule.revision + 1 }
      state.version++
    }
    const shown = () => made.store.list({ limit: 9 }).map(it => [it.alert, it.type, it.state, it.lastError])
    return { ...made, answers, channels, set, shown }
  }
  const PAUSED = 'its rule was paused'

  it('has nothing more sent until it is resumed, but retractions, and what is asked for', async t => {
    const { clock, answers, channels, outbox, store, start, set, stop, shown, confirm } = await setUp(t)
    for (const id of ['alert-2', 'alert-3']) answers.set(id, FAILED)
    const worker = start()
    confirm('alert-1', 'alert-2', 'alert-3')
    await clock.run(2_000)
    const since = clock.now()
    set(false)
    // Its own look may be the first to cancel.
    await clock.run(2_000)
    assert.equal(await worker.cancel(1, 'paused', since), 2)
    assert.equal(await worker.cancel(1, 'paused', clock.now() + 1), 0)
    outbox.add('confirmed', makeAlert('alert-4'))
    outbox.add('retracted', makeAlert('alert-1'))
    await clock.run(DAY / 2)
    assert.deepEqual(shown(), [
      ['alert-1', 'alert.retracted', 'delivered', null],
      ['alert-4', 'alert.confirmed', 'cancelled', PAUSED],
      ['alert-3', 'alert.confirmed', 'cancelled', PAUSED],
      ['alert-2', 'alert.confirmed', 'cancelled', PAUSED],
      ['alert-1', 'alert.confirmed', 'delivered', null],
    ])
    assert.equal(channels.sent.length, 4)

    set(true)
    await clock.run(2_000)
    answers.set('alert-5', REFUSED)
    outbox.add('confirmed', makeAlert('alert-5'))
    outbox.add('confirmed', makeAlert('alert-6'))
    await clock.run(2_000)
    assert.deepEqual(
      shown()
        .slice(0, 2)
        .map(([alert, , state]) => [alert, state]),
      [
        ['alert-6', 'delivered'],
        ['alert-5', 'dead'],
      ],
    )
    set(false)
    await clock.run(2_000)
    answers.delete('alert-5')
    assert.equal(store.redeliver({ rule: 1, dead: true }), 1)
    worker.reload()
    await clock.run(5_000)
    assert.deepEqual(shown()[1], ['alert-5', 'alert.confirmed', 'delivered', null])
    await stop(worker)
  })

  it('has what was queued cancelled at the next start, where the program ended between', async t => {
    const { clock, answers, channels, outbox, start, set, stop, shown } = await setUp(t)
    answers.set('alert-1', FAILED)
    outbox.add('confirmed', makeAlert('alert-1'))
    const first = start()
    await clock.run(2_000)
    await stop(first)
    set(false)
    outbox.add('confirmed', makeAlert('alert-2'))
    await clock.run(DAY)
    const second = start()
    await clock.run(DAY)
    assert.deepEqual(shown(), [
      ['alert-2', 'alert.confirmed', 'cancelled', PAUSED],
      ['alert-1', 'alert.confirmed', 'cancelled', PAUSED],
    ])
    assert.equal(channels.sent.length, 1)
    await stop(second)
  })
})

describe('tests of rules', () => {
  it('are forgotten, the oldest first', async t => {
    const { store, start, stop } = await setUpWorker(t)
    const worker = start()
    const { signal } = new AbortController()
    for (let n = 0; n < 120; n++) await worker.testFire(makeRule(1, [post(A)]), makeAlert('alert-1'), signal)
    assert.equal(store.list({ rule: 1, limit: 500 }).length, 101)
    await stop(worker)
  })
})
