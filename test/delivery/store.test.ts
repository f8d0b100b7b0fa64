import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import type { OutboxEntry } from '../../src/alerts/alert.ts'
import type { AlertMessage, SendOutcome } from '../../src/delivery/channels/channel.ts'
import { takenOver, upgradeDeliveries } from '../../src/delivery/ledger/file.ts'
import { DELIVERY_MIGRATIONS } from '../../src/delivery/ledger/migrations.ts'
import type { DeliveryInfo } from '../../src/delivery/ledger/records.ts'
import { type DeliveryStore, openDeliveries } from '../../src/delivery/ledger/store.ts'
import { SCHEDULE_MS } from '../../src/delivery/retry-schedule.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import {
  ACCOUNT,
  DELIVERED,
  dataFolder,
  dueIn,
  FAILED,
  GONE,
  mail,
  makeAlert,
  makeChannels,
  makeOutbox,
  makeRule,
  NETWORK,
  post,
  REFUSED,
} from '../support/delivery.ts'

const A = 'https://a.example/one'
const B = 'https://b.example/two'
const DIGEST_MS = 120_000
const DAY = 86_400_000

/** A store with one rule, and time that is set by hand. */
const setUp = async (t: TestContext, rule = makeRule(1, [post(A), post(B)])) => {
  const data = await dataFolder(t)
  const outbox = makeOutbox()
  const state: { now: number; rule: StoredRule | undefined; identity: string; digestMs: number } = {
    now: 10_000,
    rule,
    identity: 'store-1',
    digestMs: DIGEST_MS,
  }
  const store = openDeliveries(data, { now: () => state.now })
  t.after(() => store.close())
  const channels = makeChannels()
  const expand = (entries: readonly OutboxEntry[] = outbox.entries) =>
    store.expand(
      { network: NETWORK, identity: state.identity },
      entries,
      id => (state.rule?.id === id ? state.rule : undefined),
      {
        channels,
        digestMs: state.digestMs,
        now: state.now,
      },
    )
  const tell = (type: OutboxEntry['type'], alert = makeAlert('alert-1'), repeat?: number) => {
    outbox.add(type, alert, repeat)
    return expand()
  }
  /** One attempt of the delivery that is due first at a destination. */
  const attempt = (destination: string, outcome: SendOutcome | { type: 'aborted' } = DELIVERED) => {
    const [due] = dueIn(store, destination, state.now, 1)
    assert.ok(due, `nothing is due at ${destination}`)
    const [job] = store.claim([[due]], state.now)
    assert.ok(job)
    return store.settle([{ ids: job.ids, at: state.now, latencyMs: 3.4, outcome }], {
      now: state.now,
      schedule: SCHEDULE_MS,
      random: () => 0.5,
    })
  }
  return { data, store, outbox, state, expand, tell, attempt, brief: () => brief(store.list({ limit: 100 })) }
}

/** Each delivery on a line, the oldest first. */
const brief = (list: readonly DeliveryInfo[]) =>
  list
    .toReversed()
    .map(it => `${it.alert} ${it.type} → ${it.target}: ${it.state}${it.lastError ? ` (${it.lastError})` : ''}`)

const disabled = (at: number) =>
  `disabled by 410: the receiver answered at ${new Date(at).toISOString()} that it wants no more messages; to enable it, change the rule or ask for redelivery`

describe('opening the deliveries', () => {
  it('makes a file that its owner alone may read', async t => {
    const { data } = await setUp(t)
    assert.equal(statSync(join(data, 'deliveries.sqlite')).mode & 0o777, 0o600)
    const db = new Database(join(data, 'deliveries.sqlite'))
    assert.equal(db.pragma('user_version', { simple: true }), DELIVERY_MIGRATIONS.length)
    assert.equal(db.pragma('journal_mode', { simple: true }), 'wal')
    db.close()
  })

  it('finds in one of before which receivers fail, and since when', async t => {
    const { data, store, state, tell, attempt } = await setUp(t)
    tell('confirmed', makeAlert('alert-1'))
    attempt(A)
    attempt(B, FAILED)
    state.now += 1_000
    tell('confirmed', makeAlert('alert-2'))
    attempt(A, FAILED)
    state.now += 1_000
    tell('confirmed', makeAlert('alert-3'))
    attempt(A, GONE)
    attempt(B)
    store.close()
    const db = new Database(join(data, 'deliveries.sqlite'))
    db.exec('DROP TABLE failing; DROP INDEX delivery_group')
    for (const name of ['silence', 'group_key', 'group_size', 'group_id', 'repeat'])
      db.exec(`ALTER TABLE delivery DROP COLUMN ${name}`)
    db.pragma(`user_version = ${DELIVERY_MIGRATIONS.findIndex(text => text.includes('CREATE TABLE failing'))}`)
    db.close()
    assert.throws(() => openDeliveries(data), { code: 'deliveries_older' })
    upgradeDeliveries(data, undefined)
    const reopened = openDeliveries(data)
    t.after(() => reopened.close())
    const [failing, ...others] = reopened.failing()
    assert.deepEqual(others, [])
    const { channel, rule, account, since, at, target } = failing!
    assert.deepEqual(
      { channel, rule, account, since, at, target },
      { channel: 'Webhook (POST)', rule: 1, account: ACCOUNT, since: 11_000, at: 12_000, target: 'a.example' },
    )
    reopened.setFailing([failing!])
    assert.deepEqual(reopened.failing(), [failing])
    reopened.setFailing([])
    assert.deepEqual(reopened.failing(), [])
  })

  it('refuses one that a newer version wrote', async t => {
    const data = await dataFolder(t)
    const path = join(data, 'deliveries.sqlite')
    const db = new Database(path)
    db.exec('CREATE TABLE delivery (id INTEGER)')
    db.pragma(`user_version = ${DELIVERY_MIGRATIONS.length + 1}`)
    db.close()
    assert.throws(() => openDeliveries(data), {
      next: 'stop',
      code: 'deliveries_newer',
      message:
        `${path} was written by a newer version of Chainsieve (deliveries version ${DELIVERY_MIGRATIONS.length + 1}, this one knows ` +
        `${DELIVERY_MIGRATIONS.length}): run that version, or choose another data folder with --data`,
    })
  })

  it('names a file that is none of SQLite’s', async t => {
    const data = await dataFolder(t)
    await (await import('node:fs/promises')).writeFile(
      join(data, 'deliveries.sqlite'),
      'not a database, but long enough'.repeat(200),
    )
    assert.throws(() => openDeliveries(data), { next: 'stop', message: /deliveries\.sqlite is damaged: .*sent again/ })
  })
})

describe('taking over an outbox', () => {
  it('makes a delivery of each action of the rule', async t => {
    const { store, tell, state } = await setUp(t)
    const { due, dead, cancelled } = tell('confirmed')
    assert.deepEqual(due, [
      { account: ACCOUNT, destination: A, at: 10_000 },
      { account: ACCOUNT, destination: B, at: 10_000 },
    ])
    assert.deepEqual([dead.size, cancelled.size], [0, 0])
    const common = {
      network: NETWORK,
      alert: 'alert-1',
      type: 'alert.confirmed',
      rule: 1,
      channel: 'Webhook (POST)',
      state: 'queued',
      tries: 0,
      nextAt: 10_000,
      createdAt: 10_000,
      deliveredAt: null,
      lastStatus: null,
      lastError: null,
      silence: null,
    }
    assert.deepEqual(store.list({ limit: 10 }), [
      { id: 2, action: 1, target: 'b.example', ...common },
      { id: 1, action: 0, target: 'a.example', ...common },
    ])
    assert.deepEqual(store.lanes(), [
      { account: ACCOUNT, destination: A, dueAt: 10_000, tried: false },
      { account: ACCOUNT, destination: B, dueAt: 10_000, tried: false },
    ])
    const [job] = store.claim([dueIn(store, A, state.now, 1)], state.now)
    assert.deepEqual(JSON.parse(JSON.stringify(job!.messages[0]!.source, null)), JSON.parse(makeAlert('').source))
    assert.match(JSON.stringify(job!.messages[0]!.source), /18446744073709551615/)
    assert.deepEqual(
      { ...job, messages: job!.messages.map(it => ({ ...it, source: null })) },
      {
        ids: [1],
        destination: A,
        account: 7,
        action: post(A),
        messages: [
          {
            id: 'alert-1',
            type: 'alert.confirmed',
            network: NETWORK,
            timestamp: 2_000,
            rule: { id: 1, name: 'rule 1', version: null },
            targetType: 'Event',
            confirmations: 0,
            entity: { _id: `0x${'7c'.repeat(32)}_e_0`, _type: 'event', blockNumber: 100 },
            source: null,
          },
        ],
      },
    )
  })

  it('changes nothing the second time, also where the store was made anew or the file was opened again', async t => {
    const { data, store, outbox, tell, expand, state, brief: list } = await setUp(t)
    tell('confirmed')
    outbox.add('pending', makeAlert('alert-2'))
    expand()
    const before = list()
    assert.equal(store.cursor({ network: NETWORK, identity: 'store-1' }), 4)
    expand()
    state.identity = 'store-2'
    assert.equal(store.cursor({ network: NETWORK, identity: 'store-2' }), 0)
    assert.equal(expand().due.length, 0)
    assert.deepEqual(list(), before)
    assert.deepEqual([...store.counts()], [[1, 1]])
    const again = openDeliveries(data)
    assert.equal(again.cursor({ network: NETWORK, identity: 'store-2' }), 4)
    assert.deepEqual(brief(again.list({ limit: 9 })), before)
    again.close()
  })

  it('tells how far an outbox was taken over', async t => {
    const { data, tell, store } = await setUp(t)
    assert.equal(takenOver(data, 'store-1'), 0)
    tell('confirmed')
    assert.equal(takenOver(data, 'store-1'), store.cursor({ network: NETWORK, identity: 'store-1' }))
    assert.equal(takenOver(data, 'store-1'), 1)
    assert.equal(takenOver(data, 'store-2'), 0)
  })

  it('commits deliveries and cursor together or not at all', async t => {
    const { store, outbox, expand, brief: list } = await setUp(t)
    outbox.add('confirmed', makeAlert('alert-1'))
    outbox.add('confirmed', makeAlert('alert-2', { source: null as unknown as string }))
    assert.throws(() => expand(), /NOT NULL/)
    assert.deepEqual(list(), [])
    assert.equal(store.cursor({ network: NETWORK, identity: 'store-1' }), 0)
    outbox.entries[1]!.alert.source = '{}'
    expand()
    assert.equal(list().length, 4)
  })

  it('makes none for a rule that is gone, and cancelled ones for a paused one', async t => {
    const { store, tell, state, brief: list } = await setUp(t)
    const rule = state.rule!
    state.rule = undefined
    tell('confirmed')
    assert.deepEqual(list(), [])
    state.rule = { ...rule, enabled: false }
    tell('confirmed', makeAlert('alert-2'))
    assert.deepEqual(list(), [
      'alert-2 alert.confirmed → a.example: cancelled (its rule was paused)',
      'alert-2 alert.confirmed → b.example: cancelled (its rule was paused)',
    ])
    assert.deepEqual([...store.counts([1, 2])], [[1, 1]])
  })

  it('gives what is pending up when it is confirmed, and waits for what is under way', async t => {
    const { store, tell, attempt, brief: list, state } = await setUp(t, makeRule(1, [post(A)]))
    tell('pending')
    const [pending] = dueIn(store, A, state.now, 1)
    tell('confirmed')
    assert.deepEqual(list(), [
      'alert-1 alert.pending → a.example: cancelled (overtaken by alert.confirmed)',
      'alert-1 alert.confirmed → a.example: queued',
    ])
    const [confirmed] = dueIn(store, A, state.now, 1)
    assert.equal(confirmed!.sequence, pending!.sequence)
    attempt(A)
    assert.equal(dueIn(store, A, state.now, 1).length, 0)
  })
})

describe('the repeats of an open alert', () => {
  const repeated = makeAlert('alert-1')

  it('are told to all, each once, but not to whom the opening is still to be told', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t)
    tell('confirmed')
    attempt(A)
    tell('repeated', repeated, 20)
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-1 alert.confirmed → b.example: queued',
      'alert-1 alert.repeated → a.example: queued',
    ])
    attempt(B)
    tell('repeated', repeated, 30)
    assert.deepEqual(list().slice(2), [
      'alert-1 alert.repeated → a.example: cancelled (overtaken by alert.repeated)',
      'alert-1 alert.repeated → a.example: queued',
      'alert-1 alert.repeated → b.example: queued',
    ])
    const [due] = dueIn(store, A, state.now, 1)
    const [job] = store.claim([[due!]], state.now)
    const [{ id, type, repeat }] = job!.messages as [AlertMessage]
    assert.deepEqual([id, type, repeat], ['alert-1', 'alert.repeated', 30])
    // Only the opening counts as an alert.
    assert.deepEqual([...store.counts([1])], [[1, 1]])
  })

  it('end with the alert, are taken back with it, and are sent again alone', async t => {
    const { store, tell, attempt, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A)
    tell('repeated', repeated, 20)
    attempt(A)
    assert.equal(store.redeliver({ alert: 'alert-1' }), 1)
    assert.equal(list().at(-1), 'alert-1 alert.repeated → a.example: queued')
    attempt(A)
    tell('repeated', repeated, 30)
    tell('resolved')
    assert.deepEqual(list().slice(2), [
      'alert-1 alert.repeated → a.example: cancelled (overtaken by alert.resolved)',
      'alert-1 alert.resolved → a.example: queued',
    ])
    attempt(A)
    tell('reopened')
    attempt(A)
    tell('repeated', repeated, 25)
    attempt(A)
    tell('retracted')
    assert.deepEqual(list().slice(4), [
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-1 alert.repeated → a.example: delivered',
      'alert-1 alert.retracted → a.example: queued',
    ])
  })

  it('are not told twice after the store was replaced, also where no receiver was there before', async t => {
    const { tell, attempt, state, expand, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A)
    for (const block of [20, 30]) {
      tell('repeated', repeated, block)
      attempt(A)
    }
    const before = list()
    state.identity = 'store-2'
    expand()
    assert.deepEqual(list(), before)
    tell('repeated', repeated, 40)
    attempt(A)
    assert.equal(list().length, before.length + 1)
    // The places of actions change with the rule.
    const moved = makeAlert('alert-2')
    state.rule = makeRule(1, [], { revision: 2 })
    tell('confirmed', moved)
    for (const [block, url] of [
      [20, A],
      [30, B],
      [40, A],
    ] as const) {
      state.rule = makeRule(1, [post(url)], { revision: block })
      tell('repeated', moved, block)
      attempt(url)
    }
    assert.equal(list().filter(it => it.startsWith('alert-2 alert.repeated') && it.endsWith('delivered')).length, 3)
  })

  it('are cancelled while their rule is paused, and dead where the queue is full of others', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A)
    state.rule = { ...state.rule!, enabled: false }
    tell('repeated', repeated, 20)
    assert.equal(list().at(-1), 'alert-1 alert.repeated → a.example: cancelled (its rule was paused)')
    state.rule = { ...state.rule, enabled: true }
    tell('repeated', repeated, 30)
    store.cancelRule(1, state.now, 'its rule was paused', 9)
    assert.equal(list().at(-1), 'alert-1 alert.repeated → a.example: cancelled (its rule was paused)')
  })

  it('are one message with others where the rule groups them', async t => {
    const rule = makeRule(1, [post(A)])
    const group = { wait: { seconds: 60 } }
    rule.input.config.notify = { group }
    const { store, tell, state } = await setUp(t, rule)
    for (const id of ['alert-1', 'alert-2']) tell('confirmed', makeAlert(id))
    state.now += 60_000
    const first = dueIn(store, A, state.now, 9)
    store.claim([first], state.now)
    store.settle([{ ids: first.map(({ id }) => id), at: state.now, latencyMs: 1, outcome: DELIVERED }], {
      ...{ now: state.now, schedule: SCHEDULE_MS },
    })
    for (const id of ['alert-1', 'alert-2']) tell('repeated', makeAlert(id), 20)
    assert.equal(dueIn(store, A, state.now, 9).length, 0)
    state.now += 60_000
    const [job] = store.claim([dueIn(store, A, state.now, 9)], state.now)
    assert.match(job!.group!, /^group_/)
    assert.deepEqual(
      job!.messages.map(({ id, type }) => [id, type]),
      [
        ['alert-1', 'alert.repeated'],
        ['alert-2', 'alert.repeated'],
      ],
    )
  })
})

describe('the end of an alert of windows', () => {
  it('is told once to those who were told of it, before a retraction, and what opens again is told again', async t => {
    const { tell, attempt, state, brief: list } = await setUp(t)
    tell('confirmed')
    attempt(A)
    // B was not reached yet: it is told of the end alone. C came later.
    state.rule = makeRule(1, [post(A), post(B), post('https://c.example/')], { revision: 2 })
    tell('resolved')
    tell('resolved')
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-1 alert.confirmed → b.example: cancelled (overtaken by alert.resolved)',
      'alert-1 alert.resolved → a.example: queued',
      'alert-1 alert.resolved → b.example: queued',
    ])
    attempt(A)
    tell('confirmed')
    assert.equal(list().length, 4)
    tell('reopened')
    assert.deepEqual(list().slice(4), [
      'alert-1 alert.confirmed → a.example: queued',
      'alert-1 alert.confirmed → b.example: queued',
      'alert-1 alert.confirmed → c.example: queued',
    ])
    attempt(A)
    tell('retracted')
    assert.deepEqual(list().slice(7), ['alert-1 alert.retracted → a.example: queued'])
  })

  it('is not told where the alert cannot have arrived', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    const ends: Record<string, boolean> = {}
    const end = (id: string) => {
      tell('resolved', makeAlert(id))
      ends[id] = list().includes(`${id} alert.resolved → a.example: queued`)
      if (ends[id]) attempt(A)
    }
    tell('confirmed', makeAlert('refused'))
    attempt(A, REFUSED)
    end('refused')

    tell('confirmed', makeAlert('failed'))
    attempt(A, FAILED)
    end('failed')

    const rule = state.rule!
    state.rule = { ...rule, enabled: false }
    tell('confirmed', makeAlert('paused'))
    state.rule = rule
    end('paused')

    tell('confirmed', makeAlert('cancelled'))
    store.cancelRule(1, state.now, 'its rule was paused', 9)
    end('cancelled')

    const silence = {
      ...{ id: 1, account: ACCOUNT, matcher: {}, author: '', reason: '' },
      ...{ from: 0, to: 1e13, createdAt: 0 },
    }
    tell('confirmed', makeAlert('silenced'))
    store.silence([dueIn(store, A, state.now, 1)[0]!.id], state.now, () => silence)
    end('silenced')

    // Told before the silence came, perhaps.
    tell('confirmed', makeAlert('tried'))
    const { id } = dueIn(store, A, state.now, 1)[0]!
    attempt(A, FAILED)
    store.silence([id], state.now, () => silence)
    end('tried')

    // Dead without a try.
    tell('confirmed', makeAlert('gone'))
    attempt(A, GONE)
    tell('confirmed', makeAlert('disabled'))
    state.rule = { ...rule, revision: 2 }
    end('disabled')

    assert.deepEqual(ends, {
      ...{ refused: false, failed: true, paused: false, cancelled: false },
      ...{ silenced: false, tried: true, disabled: false },
    })
  })
})

describe('a retraction', () => {
  it('is told to nobody where nothing was begun', async t => {
    const { tell, brief: list } = await setUp(t)
    tell('confirmed')
    tell('retracted')
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: cancelled (the alert was retracted)',
      'alert-1 alert.confirmed → b.example: cancelled (the alert was retracted)',
    ])
  })

  it('goes where the alert may have arrived, whatever the rule is now', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t)
    tell('confirmed')
    attempt(A)
    // Begun, and then the program was killed.
    store.claim([dueIn(store, B, state.now, 1)], state.now)
    state.rule = makeRule(1, [post('https://c.example/')], { revision: 2 })
    tell('retracted')
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-1 alert.confirmed → b.example: cancelled (the alert was retracted)',
      'alert-1 alert.retracted → a.example: queued',
      'alert-1 alert.retracted → b.example: queued',
    ])
    const [job] = store.claim([dueIn(store, A, state.now, 1)], state.now)
    assert.deepEqual(
      [job!.action, job!.messages[0]!.id, job!.messages[0]!.type],
      [post(A), 'alert-1', 'alert.retracted'],
    )
    state.rule = undefined
    tell('retracted')
    assert.equal(list().length, 4)
  })

  it('is one for each target, though pending and confirmed were told', async t => {
    const { tell, attempt, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('pending')
    attempt(A)
    tell('confirmed')
    attempt(A, FAILED)
    tell('retracted')
    assert.deepEqual(list(), [
      'alert-1 alert.pending → a.example: delivered',
      'alert-1 alert.confirmed → a.example: cancelled (the alert was retracted)',
      'alert-1 alert.retracted → a.example: queued',
    ])
  })

  it('goes to the pending message’s receiver where the rule went elsewhere before it was confirmed', async t => {
    const { tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('pending')
    attempt(A)
    state.rule = makeRule(1, [post(B)], { revision: 2 })
    tell('confirmed')
    attempt(B)
    tell('retracted')
    assert.deepEqual(list().slice(2), [
      'alert-1 alert.retracted → a.example: queued',
      'alert-1 alert.retracted → b.example: queued',
    ])
  })

  it('is not sent where nothing ever left', async t => {
    const { tell, attempt, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A, REFUSED)
    tell('retracted')
    assert.deepEqual(list(), ['alert-1 alert.confirmed → a.example: dead (the target is inward)'])
  })

  it('that an attempt under way crosses still says what arrived', async t => {
    const { store, tell, state, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    const [job] = store.claim([dueIn(store, A, state.now, 1)], state.now)
    tell('retracted')
    const options = { now: state.now, schedule: SCHEDULE_MS }
    store.settle([{ ids: job!.ids, at: 1, latencyMs: 1, outcome: FAILED }], options)
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: cancelled (the alert was retracted)',
      'alert-1 alert.retracted → a.example: queued',
    ])
    store.settle([{ ids: job!.ids, at: 1, latencyMs: 1, outcome: DELIVERED }], options)
    assert.equal(list()[0], 'alert-1 alert.confirmed → a.example: delivered')
    assert.equal(store.attemptsOf(1).length, 2)
  })

  it('that is taken back begins a new round', async t => {
    const { tell, attempt, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A)
    tell('retracted')
    tell('confirmed')
    attempt(A)
    tell('retracted')
    attempt(A)
    tell('pending')
    tell('confirmed')
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-1 alert.retracted → a.example: cancelled (overtaken by alert.confirmed)',
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-1 alert.retracted → a.example: delivered',
      'alert-1 alert.pending → a.example: cancelled (overtaken by alert.confirmed)',
      'alert-1 alert.confirmed → a.example: queued',
    ])
  })
})

describe('attempts', () => {
  it('are kept, each with what followed', async t => {
    const { store, tell, attempt, state } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    assert.deepEqual(attempt(A, { ...FAILED, retryAfterMs: 60_000 } as SendOutcome), [
      {
        id: 1,
        channel: 'Webhook (POST)',
        destination: A,
        type: 'alert.confirmed',
        to: 'retried',
        receivedAt: 1_000,
        first: true,
        nextAt: 73_000,
      },
    ])
    assert.equal(dueIn(store, A, 72_999, 1).length, 0)
    assert.equal(store.nextDue({ account: ACCOUNT, destination: A }, 72_999), 73_000)
    state.now = 80_000
    attempt(A, { type: 'aborted' })
    attempt(A)
    assert.deepEqual(store.deliveriesOf(1, ['alert-1', 'alert-2']), [
      {
        id: 1,
        network: NETWORK,
        alert: 'alert-1',
        type: 'alert.confirmed',
        rule: 1,
        action: 0,
        channel: 'Webhook (POST)',
        target: 'a.example',
        state: 'delivered',
        tries: 2,
        nextAt: null,
        createdAt: 10_000,
        deliveredAt: 80_000,
        lastStatus: 200,
        lastError: null,
        silence: null,
        attempts: [
          {
            n: 1,
            at: 10_000,
            latencyMs: 3,
            outcome: 'retry',
            status: 500,
            error: 'it answered 500',
            head: 'oh',
            nextAt: 73_000,
            combined: 1,
          },
          {
            n: 2,
            at: 80_000,
            latencyMs: 3,
            outcome: 'aborted',
            status: null,
            error: 'interrupted, because the program was stopped',
            head: null,
            nextAt: 80_000,
            combined: 1,
          },
          {
            n: 3,
            at: 80_000,
            latencyMs: 3,
            outcome: 'delivered',
            status: 200,
            error: null,
            head: 'ok',
            nextAt: null,
            combined: 1,
          },
        ],
      },
    ])
    assert.deepEqual(store.deliveriesOf(2, ['alert-1']), [])
  })

  it('are ten, then it is dead', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    for (let tries = 1; tries <= 10; tries++) {
      assert.equal(attempt(A, FAILED)[0]!.to, tries < 10 ? 'retried' : 'dead')
      state.now = store.nextDue({ account: ACCOUNT, destination: A }, state.now) ?? state.now
    }
    assert.deepEqual(list(), ['alert-1 alert.confirmed → a.example: dead (it answered 500)'])
    assert.deepEqual(brief(store.list({ dead: true, limit: 5 })), list())
    assert.equal(store.attemptsOf(1).length, 10)
  })

  it('claim nothing that another process has changed meanwhile', async t => {
    const { data, store, tell, state } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    const due = dueIn(store, A, state.now, 1)
    const version = store.version()
    const other = new Database(join(data, 'deliveries.sqlite'))
    other.exec("UPDATE delivery SET state = 'cancelled'")
    other.close()
    assert.notEqual(store.version(), version)
    assert.deepEqual(store.claim([due], state.now), [undefined])
  })
})

describe('a receiver that is gone', () => {
  it('gets nothing more of that rule until the rule is another', async t => {
    const { tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A), post(B)]))
    tell('confirmed')
    tell('confirmed', makeAlert('alert-2'))
    const settled = attempt(A, GONE)
    assert.deepEqual(
      settled.map(({ id, to }) => [id, to]),
      [
        [1, 'dead'],
        [3, 'dead'],
      ],
    )
    const { dead } = tell('confirmed', makeAlert('alert-3'))
    assert.deepEqual([...dead], [['Webhook (POST)', 1]])
    state.rule = { ...state.rule!, revision: 2 }
    tell('confirmed', makeAlert('alert-4'))
    assert.deepEqual(
      list().filter(it => it.includes('a.example')),
      [
        'alert-1 alert.confirmed → a.example: dead (it answered 410)',
        `alert-2 alert.confirmed → a.example: dead (${disabled(10_000)})`,
        `alert-3 alert.confirmed → a.example: dead (${disabled(10_000)})`,
        'alert-4 alert.confirmed → a.example: queued',
      ],
    )
    assert.ok(list().every(it => it.includes('a.example') || it.endsWith('queued')))
    // Never begun: the retraction has nothing to take back.
    tell('retracted', makeAlert('alert-3'))
    assert.ok(list().includes('alert-3 alert.confirmed → a.example: cancelled (the alert was retracted)'))
  })

  it('still gets what other rules say, and what is redelivered', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A, GONE)
    state.rule = makeRule(2, [post(A)])
    tell('confirmed', makeAlert('alert-2', { rule: 2 }))
    assert.equal(list()[1], 'alert-2 alert.confirmed → a.example: queued')
    assert.equal(store.redeliver({ rule: 1 }), 1)
    state.rule = makeRule(1, [post(A)])
    tell('confirmed', makeAlert('alert-3'))
    assert.ok(list().every(it => it.includes(': queued')))
  })

  it('is this one alone where the URL is another for each alert', async t => {
    const { tell, attempt, brief: list } = await setUp(t, makeRule(1, [post('https://a.example/{transactionHash}')]))
    tell('confirmed')
    tell('confirmed', makeAlert('alert-2'))
    attempt('https://a.example/{transactionHash}', GONE)
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: dead (it answered 410)',
      'alert-2 alert.confirmed → a.example: queued',
    ])
  })
})

describe('what can be combined', () => {
  it('waits from the first on, by rule and recipients', async t => {
    const { store, tell, state } = await setUp(t, makeRule(1, [mail('a@x.org'), mail('b@x.org')]))
    tell('confirmed')
    state.now += 50_000
    tell('confirmed', makeAlert('alert-2'))
    state.now += 70_000
    tell('confirmed', makeAlert('alert-3'))
    assert.deepEqual(
      store
        .list({ limit: 9 })
        .map(it => [it.alert, it.action, it.nextAt])
        .toReversed(),
      [
        ['alert-1', 0, 130_000],
        ['alert-1', 1, 130_000],
        ['alert-2', 0, 130_000],
        ['alert-2', 1, 130_000],
        ['alert-3', 0, 250_000],
        ['alert-3', 1, 250_000],
      ],
    )
    const [first] = dueIn(store, 'smtp://mail', state.now, 1)
    const together = store.combinable(first!, state.now, 100)
    assert.deepEqual(
      together.map(it => it.id),
      [1, 3],
    )
    const [job] = store.claim([together], state.now)
    assert.deepEqual(
      job!.messages.map(it => it.id),
      ['alert-1', 'alert-2'],
    )
    const settled = store.settle([{ ids: job!.ids, at: 1, latencyMs: 1, outcome: FAILED }], {
      now: state.now,
      schedule: SCHEDULE_MS,
    })
    assert.equal(settled[0]!.nextAt, settled[1]!.nextAt)
    assert.deepEqual(
      [1, 3].map(id => store.attemptsOf(id).map(it => it.combined)),
      [[2], [2]],
    )
  })

  it('goes at once where no time is set', async t => {
    const { store, tell, state } = await setUp(t, makeRule(1, [mail('a@x.org')]))
    state.digestMs = 0
    tell('confirmed')
    assert.equal(dueIn(store, 'smtp://mail', state.now, 9).length, 1)
  })
})

describe('redelivery', () => {
  it('queues what is asked for, and keeps the attempts', async t => {
    const { store, tell, attempt, state, brief: list } = await setUp(t)
    tell('confirmed')
    attempt(A)
    attempt(B, REFUSED)
    state.now = 20_000
    tell('confirmed', makeAlert('alert-2'))
    state.now = 30_000
    assert.equal(store.redeliver({ dead: true }), 1)
    assert.equal(store.redeliver({ dead: true }), 0)
    assert.equal(store.redeliver({ delivery: 1, rule: 2 }), 0)
    assert.equal(store.redeliver({ delivery: 1 }), 1)
    assert.equal(store.redeliver({ alert: 'alert-3' }), 0)
    assert.equal(store.redeliver({ from: 10_001, to: 20_000 }), 2)
    assert.equal(store.redeliver({ from: 20_001 }), 0)
    assert.equal(store.redeliver({ rule: 1, alert: 'alert-1' }), 2)
    assert.deepEqual(
      list().map(it => it.split(': ')[1]),
      ['queued', 'queued (the target is inward)', 'queued', 'queued'],
    )
    assert.deepEqual(
      store.list({ limit: 9 }).map(it => [it.tries, it.nextAt]),
      Array(4).fill([0, 30_000]),
    )
    assert.equal(store.attemptsOf(1).length, 1)
    assert.equal(attempt(A)[0]!.first, false)
  })

  it('tells nobody again what no longer holds', async t => {
    const { store, tell, attempt, brief: list } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    attempt(A)
    tell('confirmed', makeAlert('alert-2'))
    tell('retracted')
    attempt(A)
    attempt(A)
    assert.equal(store.redeliver({ rule: 1 }), 2)
    assert.deepEqual(list(), [
      'alert-1 alert.confirmed → a.example: delivered',
      'alert-2 alert.confirmed → a.example: queued',
      'alert-1 alert.retracted → a.example: queued',
    ])
  })

  it('of everything is refused', async t => {
    const { store } = await setUp(t)
    assert.throws(() => store.redeliver({}), { next: 'refuse', code: 'redeliver_all' })
    assert.throws(() => store.redeliver({ dead: false }), { next: 'refuse' })
  })
})

describe('the ledger', () => {
  it('lists the newest first, page by page', async t => {
    const { store, tell, state } = await setUp(t, makeRule(1, [post(A)]))
    for (let i = 1; i <= 5; i++) tell('confirmed', makeAlert(`alert-${i}`))
    state.rule = makeRule(2, [post(B)])
    tell('confirmed', makeAlert('other', { rule: 2 }))
    const ids = (filter: Parameters<DeliveryStore['list']>[0]) => store.list(filter).map(it => it.id)
    assert.deepEqual(ids({ limit: 2 }), [6, 5])
    assert.deepEqual(ids({ limit: 2, before: 5 }), [4, 3])
    assert.deepEqual(ids({ limit: 9, rule: 2 }), [6])
    assert.deepEqual(ids({ limit: 9, rule: 1, before: 3 }), [2, 1])
    assert.deepEqual(ids({ limit: 9, dead: true }), [])
    assert.deepEqual(
      store.waiting().map(({ channel, count }) => [channel, count]),
      [['Webhook (POST)', 6]],
    )
    assert.equal(store.dead(), 0)
  })

  it('takes the outcome of what was cancelled and forgotten while it was under way', async t => {
    const { store, tell, state } = await setUp(t, makeRule(1, [post(A)]))
    tell('confirmed')
    const [due] = dueIn(store, A, state.now, 1)
    const [job] = store.claim([[due!]], state.now)
    tell('retracted')
    assert.equal(store.prune({ settledBefore: state.now + 1, deadBefore: 0 }, 100), 1)
    const attempt = { ids: job!.ids, at: state.now, latencyMs: 1, outcome: DELIVERED }
    assert.deepEqual(store.settle([attempt], { now: state.now, schedule: SCHEDULE_MS }), [])
  })

  it('forgets what was delivered long ago, dead ones later, and waiting ones never', async t => {
    const { data, store, tell, attempt, state, brief: list } = await setUp(t, makeRule(1, [post(A), post(B)]))
    tell('confirmed')
    attempt(A)
    attempt(B, REFUSED)
    tell('confirmed', makeAlert('alert-2'))
    state.now += 31 * DAY
    const before = { settledBefore: state.now - 30 * DAY, deadBefore: state.now - 90 * DAY }
    assert.equal(store.prune(before, 100), 1)
    assert.equal(list().length, 3)
    state.now += 60 * DAY
    assert.equal(store.prune({ settledBefore: state.now - 30 * DAY, deadBefore: state.now - 90 * DAY }, 100), 1)
    assert.deepEqual(list(), [
      'alert-2 alert.confirmed → a.example: queued',
      'alert-2 alert.confirmed → b.example: queued',
    ])
    const db = new Database(join(data, 'deliveries.sqlite'), { readonly: true })
    assert.deepEqual(db.prepare('SELECT alert FROM message').pluck().all(), ['alert-2'])
    assert.equal(db.prepare('SELECT count(*) FROM attempt').pluck().get(), 0)
    db.close()
  })

  it('shows nothing of a URL but what the channel shows', async t => {
    const { store, tell, attempt } = await setUp(t, makeRule(1, [post('https://a.example/s3cret?key=s3cret')]))
    tell('confirmed')
    attempt('https://a.example/s3cret?key=s3cret')
    assert.doesNotMatch(JSON.stringify([store.list({ limit: 9 }), store.deliveriesOf(1, ['alert-1'])]), /s3cret/)
  })

  it('finds what it asks for by an index', async t => {
    const { data } = await setUp(t)
    const db = new Database(join(data, 'deliveries.sqlite'))
    const plan = (sql: string) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(it => it.detail).join('; ')
    assert.match(
      plan(
        "SELECT id FROM delivery WHERE state = 'queued' AND account = 7 AND destination = 'a' AND (tries > 0) = 0 AND next_at <= 5 ORDER BY next_at, id LIMIT 3",
      ),
      /^SEARCH delivery USING (COVERING )?INDEX delivery_due \(account=\? AND destination=\? AND <expr>=\? AND next_at<\?\)$/,
    )
    assert.match(
      plan("SELECT * FROM delivery WHERE state = 'dead' ORDER BY id DESC LIMIT 3"),
      /^S\w+ delivery USING INDEX delivery_dead[^;]*$/,
    )
    assert.match(
      plan("SELECT * FROM delivery WHERE state IN ('delivered', 'cancelled') AND settled_at < 4"),
      /delivery_settled/,
    )
    db.close()
  })
})

/** An alert's life as the store of a network writes it, cut anywhere. */
const life = fc
  .array(fc.record({ pending: fc.boolean(), confirmed: fc.boolean() }), { minLength: 1, maxLength: 3 })
  .map(rounds =>
    rounds.flatMap(({ pending, confirmed }) => [
      ...(pending ? ['pending' as const] : []),
      ...(confirmed ? ['confirmed' as const] : []),
      ...(pending || confirmed ? ['retracted' as const] : []),
    ]),
  )
  .chain(all => fc.nat({ max: all.length }).map(n => all.slice(0, n)))

describe('whatever happens between the entries of an outbox', () => {
  it('every receiver that may have got an alert gets the last that holds, and no other hears of a retraction', async t => {
    const data = await dataFolder(t)
    let run = 0
    const outcomes = [DELIVERED, FAILED, REFUSED, 'killed', 'nothing'] as const
    fc.assert(
      fc.property(
        life,
        fc.array(fc.tuple(fc.constantFrom(...outcomes), fc.constantFrom(...outcomes), fc.boolean()), {
          minLength: 9,
          maxLength: 9,
        }),
        (types, steps) => {
          const folder = join(data, String(run++))
          let store = openDeliveries(folder)
          const rule = makeRule(1, [post(A), post(B)])
          const outbox = makeOutbox()
          const channels = makeChannels()
          let now = 1
          /** What each receiver may have heard last, and whether it may have heard anything: the model. */
          const heard = new Map<string, string>()
          for (const [at, type] of types.entries()) {
            outbox.add(type, makeAlert('x'))
            const [forA, forB, reopen] = steps[at]!
            if (reopen) {
              store.close()
              store = openDeliveries(folder)
            }
            for (let i = 0; i < 2; i++)
              store.expand({ network: NETWORK, identity: 's' }, outbox.entries, () => rule, {
                channels,
                digestMs: 0,
                now,
              })
            const queued = store.list({ limit: 50 }).filter(it => it.state === 'queued')
            for (const [destination, outcome] of [
              [A, forA],
              [B, forB],
            ] as const) {
              const host = new URL(destination).host
              const open = queued.filter(it => it.target === host).map(it => it.type)
              // At most one message of an alert waits for a receiver: that of its state.
              const expected = type === 'retracted' ? heard.has(host) : true
              assert.deepEqual(open, expected ? [`alert.${type}`] : [])
              if (!expected || outcome === 'nothing') continue
              now += 86_400_000
              const [job] = store.claim([dueIn(store, destination, now, 1)], now)
              if (outcome !== REFUSED) heard.set(host, type)
              if (outcome === 'killed') continue
              store.settle([{ ids: job!.ids, at: now, latencyMs: 0, outcome }], { now, schedule: SCHEDULE_MS })
            }
            if (type === 'retracted') heard.clear()
          }
          store.close()
        },
      ),
      { numRuns: 150, seed: 7 },
    )
  })
})
