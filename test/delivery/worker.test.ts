import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import type { ChannelOf, SendOutcome } from '../../src/delivery/channels/channel.ts'
import { createChannels } from '../../src/delivery/channels/index.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { createWorker, type DeliveryWorker, type WorkerOptions } from '../../src/delivery/worker.ts'
import { stop } from '../../src/lib/errors.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import { type Clock, systemClock } from '../../src/lib/retry.ts'
import { createMetrics } from '../../src/metrics/index.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import {
  DELIVERED,
  dataFolder,
  FAILED,
  GONE,
  hang,
  mail,
  makeAlert,
  makeChannels,
  makeOutbox,
  makeRule,
  NETWORK,
  post,
  REFUSED,
  statesIn,
} from '../support/delivery.ts'
import { fastClock } from '../support/node.ts'
import { type Behaviour, startReceiver } from '../support/receiver.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

interface Setting {
  channels: ChannelOf
  clock?: Clock
  options?: NonNullable<WorkerOptions['options']>
  data?: string
  failingSince?: WorkerOptions['failingSince']
}

/** A worker over an outbox in memory; rules are looked up in a map that tests change, and the first one notifies one receiver. */
const setUp = async (t: TestContext, { channels, clock = systemClock, options = {}, data, failingSince }: Setting) => {
  const folder = data ?? (await dataFolder(t))
  const outbox = makeOutbox()
  const rules = new Map<number, StoredRule>([[1, makeRule(1, [post('https://a.example/')])]])
  const metrics = createMetrics()
  const store = openDeliveries(folder, { now: clock.now })
  const start = (counted = createMetrics()): DeliveryWorker =>
    createWorker({
      store,
      outboxes: () => new Map([[NETWORK, outbox]]),
      rules: id => rules.get(id),
      channels,
      secrets: () => [SECRET],
      clock,
      log: silent,
      metrics: counted,
      options: { digestMs: 0, ...options },
      ...(failingSince && { failingSince }),
    })
  const worker = start(metrics)
  t.after(async () => {
    await worker.stop()
    store.close()
  })
  const states = () => ({ queued: 0, delivered: 0, dead: 0, cancelled: 0, ...statesIn(store) })
  const confirm = (id: string, rule = 1) => outbox.add('confirmed', makeAlert(id, { rule, receivedAt: clock.now() }))
  return { folder, outbox, rules, metrics, store, worker, start, states, confirm }
}

const until = async (is: () => boolean, what = 'what is waited for') => {
  const end = Date.now() + 120_000
  while (!is()) {
    if (Date.now() > end) assert.fail(`${what} did not come about`)
    await systemClock.sleep(5)
  }
}

/** Lets a clock go by in steps until something comes about, for so long at most. */
const passUntil = async (
  clock: VirtualClock,
  is: () => boolean,
  { stepMs, mostMs }: Record<'stepMs' | 'mostMs', number>,
) => {
  for (const end = clock.now() + mostMs; !is(); await clock.run(stepMs))
    assert.ok(clock.now() < end, 'what is waited for did not come about')
}

const deliveriesOf = (metrics: ReturnType<typeof createMetrics>, outcome: string) =>
  metrics
    .snapshot()
    .flatMap(it => (it.name === 'chainsieve_deliveries_total' && it.type === 'counter' ? it.series : []))
    .filter(({ labels }) => labels.outcome === outcome)

describe('the delivery worker', () => {
  it('delivers what stands in the outbox, woken or not, and says how long it took', async t => {
    const channels = makeChannels()
    const { rules, worker, states, confirm, store, metrics } = await setUp(t, { channels })
    rules.set(1, makeRule(1, [post('https://a.example/'), post('https://b.example/')]))
    confirm('alert-1')
    worker.wake(NETWORK)
    await until(() => states().delivered === 2)
    confirm('alert-2')
    await until(() => states().delivered === 4, 'delivery without being woken')
    assert.deepEqual(
      channels.sent.map(it => `${it.messages.map(({ id }) => id)} ${JSON.stringify(it.action)}`).sort(),
      ['alert-1', 'alert-2'].flatMap(id =>
        ['a', 'b'].map(host => `${id} ${JSON.stringify(post(`https://${host}.example/`))}`),
      ),
    )
    assert.deepEqual(channels.sent[0]!.context.secrets, [SECRET])
    assert.deepEqual(deliveriesOf(metrics, 'delivered'), [
      { labels: { channel: 'Webhook (POST)', outcome: 'delivered' }, value: 4 },
    ])
    const lag = metrics
      .snapshot()
      .flatMap(it => (it.type === 'histogram' && it.name === 'chainsieve_delivery_lag_seconds' ? it.series : []))
    assert.deepEqual(
      lag.map(({ labels, count }) => [labels, count]),
      [[{ channel: 'Webhook (POST)' }, 4]],
    )
    assert.deepEqual(
      store.list({ limit: 9 }).map(it => it.tries),
      [1, 1, 1, 1],
    )
  })

  it('tries again by the schedule, not before the receiver wishes, and gives up after the last try', async t => {
    const clock = createVirtualClock()
    const at: number[] = []
    const channels = makeChannels(() => {
      at.push(clock.now())
      return at.length === 1 ? ({ ...FAILED, retryAfterMs: 30_000 } as SendOutcome) : FAILED
    })
    const schedule = [0, 1_000, 20_000, 40_000]
    const { worker, states, confirm, metrics } = await setUp(t, { channels, clock, options: { schedule } })
    confirm('alert-1')
    worker.wake()
    await passUntil(clock, () => states().dead === 1, { stepMs: 1_000, mostMs: 150_000 })
    assert.equal(at.length, 4)
    const waits = at.slice(1).map((time, i) => time - at[i]!)
    assert.ok(waits[0]! >= 30_000 && waits[1]! >= 18_000 && waits[2]! >= 36_000, `it waited ${waits}`)
    assert.deepEqual(
      deliveriesOf(metrics, 'retried').map(it => it.value),
      [3],
    )
    assert.deepEqual(
      deliveriesOf(metrics, 'dead').map(it => it.value),
      [1],
    )
  })

  it('spares a destination that fails, without charging tries to what waits', async t => {
    const clock = createVirtualClock()
    let up = false
    const at: number[] = []
    const channels = makeChannels(() => {
      at.push(clock.now())
      return up ? DELIVERED : FAILED
    })
    const { worker, states, confirm, store } = await setUp(t, {
      channels,
      clock,
      options: { schedule: [0, 3_600_000] },
    })
    for (let i = 0; i < 100; i++) confirm(`alert-${i}`)
    worker.wake()
    // The first ones, as many as may be under way, open the breaker; behind that there are single probes, each later than the one before.
    const hour = { stepMs: 1_000, mostMs: 3_600_000 }
    await passUntil(clock, () => at.length >= 14, hour)
    up = true
    const waits = at.slice(10).map((time, i) => time - at[i + 9]!)
    assert.ok(
      waits.every((wait, i) => wait >= 5_000 * 2 ** i),
      `it waited ${waits}`,
    )
    await passUntil(clock, () => states().delivered >= 86, hour)
    assert.deepEqual(
      new Set(store.list({ limit: 200 }).map(it => `${it.state} ${it.tries}`)),
      new Set(['delivered 1', 'queued 1']),
    )
  })

  it('gives up what waited for the whole schedule while nothing arrived', async t => {
    const clock = createVirtualClock()
    const channels = makeChannels(() => FAILED)
    const { worker, states, confirm, store } = await setUp(t, {
      channels,
      clock,
      options: { schedule: [0, 60_000, 600_000], perDestination: 1 },
    })
    for (let i = 0; i < 500; i++) confirm(`alert-${i}`)
    worker.wake()
    await passUntil(clock, () => states().dead === 500, { stepMs: 10_000, mostMs: 3_600_000 })
    assert.match(
      store.list({ limit: 1 })[0]!.lastError!,
      /^dead: its receiver has accepted nothing since \d{4}-.*Z$|^it answered 500$/,
    )
    assert.ok(channels.sent.length < 100, `${channels.sent.length} attempts were made`)
  })

  it('tells of what it gives up since when nothing arrived, also before it was started', async t => {
    const clock = createVirtualClock()
    const channels = makeChannels(() => FAILED)
    const first = clock.now() - 86_400_000
    const { worker, states, confirm, store } = await setUp(t, {
      channels,
      clock,
      options: { schedule: [0, 60_000], perDestination: 1 },
      failingSince: ({ action }) => (action.type === 'Webhook (POST)' ? first : undefined),
    })
    for (let i = 0; i < 100; i++) confirm(`alert-${i}`)
    worker.wake()
    await passUntil(clock, () => states().dead === 100, { stepMs: 10_000, mostMs: 3_600_000 })
    const given = store.list({ limit: 200 }).filter(({ lastError }) => lastError!.startsWith('dead'))
    assert.ok(given.length > 50, `${given.length}`)
    for (const { lastError } of given)
      assert.equal(lastError, `dead: its receiver has accepted nothing since ${new Date(first).toISOString()}`)
  })

  it('is held up neither by 10,000 deliveries to a receiver that hangs nor by 5,000 receivers that do', async t => {
    const channels = makeChannels(sent =>
      'url' in sent.action.parameters && sent.action.parameters.url.includes('live') ? DELIVERED : hang(sent),
    )
    const clock = createVirtualClock()
    const { rules, worker, metrics, confirm } = await setUp(t, { channels, clock })
    const soon = { stepMs: 1, mostMs: 1_000 }
    // The file takes long to count so many.
    const delivered = () => deliveriesOf(metrics, 'delivered')[0]?.value ?? 0
    rules.set(1, makeRule(1, [post('https://hangs.example/')]))
    rules.set(2, makeRule(2, [post('https://live.example/')]))
    rules.set(4, makeRule(4, [post('https://live.example/never-tried')]))
    for (let i = 0; i < 10_000; i++) confirm(`alert-${i}`, 1)
    confirm('live-1', 2)
    worker.wake()
    await passUntil(clock, () => delivered() === 1, soon)
    assert.equal(channels.sent.length, 11)
    for (let i = 0; i < 5_000; i++) {
      rules.set(100 + i, makeRule(100 + i, [post(`https://hangs.example/${i}`)]))
      confirm(`other-${i}`, 100 + i)
    }
    confirm('live-2', 2)
    confirm('live-3', 4)
    worker.wake()
    await passUntil(clock, () => delivered() === 3, soon)
    // Never all places for receivers that are not known to work.
    assert.ok(channels.sent.length < 2_000, `${channels.sent.length} attempts were made`)
  })

  it('has no more attempts under way than it may', async t => {
    let under = 0
    let most = 0
    const by = new Map<string, number>()
    let mostOfOne = 0
    const channels = makeChannels(async ({ action }) => {
      const { url } = action.parameters as { url: string }
      by.set(url, (by.get(url) ?? 0) + 1)
      most = Math.max(most, ++under)
      mostOfOne = Math.max(mostOfOne, by.get(url)!)
      await systemClock.sleep(3)
      under--
      by.set(url, by.get(url)! - 1)
      return DELIVERED
    })
    const { rules, worker, states, confirm } = await setUp(t, { channels, options: { total: 20, perDestination: 3 } })
    for (let i = 0; i < 40; i++) rules.set(i, makeRule(i, [post(`https://${i}.example/`)]))
    for (let i = 0; i < 800; i++) confirm(`alert-${i}`, i % 40)
    worker.wake()
    await until(() => states().delivered === 800)
    assert.deepEqual([most, mostOfOne], [20, 3])
  })

  it('sends to a destination in the order of the outbox, one after the other where one may be under way', async t => {
    const channels = makeChannels(() => systemClock.sleep(1).then(() => DELIVERED))
    const { worker, states, confirm } = await setUp(t, { channels, options: { perDestination: 1 } })
    for (let i = 0; i < 60; i++) confirm(`alert-${i}`)
    worker.wake()
    await until(() => states().delivered === 60)
    assert.deepEqual(
      channels.sent.map(it => it.messages[0]!.id),
      Array.from({ length: 60 }, (_, i) => `alert-${i}`),
    )
  })

  it('retracts only when the attempt that is under way has ended', async t => {
    const answer = Promise.withResolvers<SendOutcome>()
    const channels = makeChannels(({ messages }) =>
      messages[0]!.type === 'alert.confirmed' ? answer.promise : DELIVERED,
    )
    const { worker, states, confirm, outbox, store } = await setUp(t, { channels })
    confirm('alert-1')
    worker.wake()
    await until(() => channels.sent.length === 1)
    outbox.add('retracted', makeAlert('alert-1'))
    confirm('alert-2')
    worker.wake()
    await until(() => states().cancelled === 1 && channels.sent.length === 2)
    assert.equal(channels.sent[1]!.messages[0]!.id, 'alert-2')
    answer.resolve(DELIVERED)
    await until(() => states().delivered === 3)
    assert.deepEqual(
      store.deliveriesOf(1, ['alert-1']).map(it => [it.type, it.state, it.attempts.length]),
      [
        ['alert.confirmed', 'delivered', 1],
        ['alert.retracted', 'delivered', 1],
      ],
    )
  })

  for (const minutes of [-1_440, -60, -1, 60, 1_440])
    it(`sends as soon as ever where the clock is set by ${minutes} minutes: retries, probes, digests and what is sent again`, async t => {
      const clock = createVirtualClock()
      const sent: { at: number; to: string; ids: readonly string[] }[] = []
      let up = false
      const channels = makeChannels(({ action, messages }) => {
        const isMail = action.type === 'Email'
        sent.push({ at: clock.elapsed(), to: isMail ? 'mail' : 'post', ids: messages.map(({ id }) => id) })
        return isMail || up ? DELIVERED : FAILED
      })
      const options = { schedule: [0, 20_000, 40_000], digestMs: 30_000 }
      const { folder, rules, worker, states, confirm } = await setUp(t, { channels, clock, options })
      rules.set(1, makeRule(1, [post('https://a.example/'), mail('ops@example.com')]))
      for (let n = 1; n <= 6; n++) confirm(`alert-${n}`)
      worker.wake()
      await clock.run(10_000)
      const failed = sent.length
      clock.step(minutes * 60_000)
      up = true
      confirm('alert-7')
      worker.wake()
      await clock.run(50_000)
      assert.equal(states().delivered, 14, JSON.stringify(sent))
      const mails = sent.filter(({ to }) => to === 'mail')
      assert.equal(mails.flatMap(({ ids }) => ids).length, 7)
      assert.ok(mails[0]!.at <= 31_000, `the first mail after ${mails[0]!.at} ms`)
      assert.ok(sent.length - failed <= 9, 'nothing is sent twice')
      const other = openDeliveries(folder, { now: clock.now })
      assert.equal(other.redeliver({ rule: 1, alert: 'alert-3' }), 2)
      other.close()
      await clock.run(3_000)
      assert.equal(states().delivered, 14)
      assert.equal(
        sent.slice(-2).every(({ ids }) => ids.includes('alert-3')),
        true,
      )
    })

  it('sends retries as soon as ever where the clock was set back while it was stopped', async t => {
    const clock = createVirtualClock()
    let up = false
    const channels = makeChannels(() => (up ? DELIVERED : FAILED))
    const { worker, start, states, confirm } = await setUp(t, {
      channels,
      clock,
      options: { schedule: [0, 20_000] },
    })
    confirm('alert-1')
    worker.wake()
    await clock.run(1_000)
    const stopped = worker.stop()
    await clock.run(5_000)
    await stopped
    clock.step(-3_600_000)
    up = true
    const second = start()
    t.after(() => second.stop())
    await clock.run(25_000)
    assert.equal(states().delivered, 1)
  })

  it('combines emails of a rule that come within the time of a digest', async t => {
    const clock = createVirtualClock()
    const channels = makeChannels()
    const { rules, worker, states, confirm, store } = await setUp(t, { channels, clock, options: { digestMs: 60_000 } })
    rules.set(1, makeRule(1, [mail('a@x.org'), post('https://a.example/')]))
    rules.set(2, makeRule(2, [mail('a@x.org')]))
    for (let i = 0; i < 5; i++) confirm(`alert-${i}`, 1)
    confirm('other', 2)
    worker.wake()
    await clock.run(59_000)
    assert.deepEqual([states().delivered, channels.sent.length], [5, 5])
    await clock.run(10_000)
    assert.equal(states().delivered, 11)
    assert.deepEqual(
      channels.sent.slice(5).map(it => it.messages.map(message => message.id)),
      [['alert-0', 'alert-1', 'alert-2', 'alert-3', 'alert-4'], ['other']],
    )
    assert.deepEqual(
      store
        .list({ limit: 20, rule: 1 })
        .filter(it => it.channel === 'Email')
        .map(it => store.attemptsOf(it.id).map(one => one.combined)),
      Array(5).fill([5]),
    )
  })

  it('combines a hundred at most', async t => {
    const channels = makeChannels(() => systemClock.sleep(20).then(() => DELIVERED))
    const { rules, worker, states, confirm } = await setUp(t, { channels })
    rules.set(1, makeRule(1, [mail('a@x.org')]))
    for (let i = 0; i < 250; i++) confirm(`alert-${i}`)
    worker.wake()
    await until(() => states().delivered === 250)
    assert.deepEqual(
      channels.sent.map(it => it.messages.length),
      [100, 100, 50],
    )
  })

  it('takes up what another process has queued again', async t => {
    const channels = makeChannels(() => (channels.sent.length === 1 ? REFUSED : DELIVERED))
    const { folder, worker, states, confirm } = await setUp(t, { channels })
    confirm('alert-1')
    worker.wake()
    await until(() => states().dead === 1)
    const other = openDeliveries(folder)
    assert.equal(other.redeliver({ dead: true }), 1)
    other.close()
    await until(() => states().delivered === 1)
  })

  it('goes on where the file cannot be written for a while', async t => {
    const channels = makeChannels()
    const { folder, worker, states, confirm } = await setUp(t, { channels })
    const { default: Database } = await import('better-sqlite3')
    const other = new Database(`${folder}/deliveries.sqlite`)
    other.exec("CREATE TRIGGER full BEFORE UPDATE ON delivery BEGIN SELECT raise(ABORT, 'the disk is full'); END")
    confirm('alert-1')
    worker.wake()
    await until(() => states().queued === 1)
    await systemClock.sleep(50)
    assert.equal(channels.sent.length, 0)
    other.exec('DROP TRIGGER full')
    other.close()
    await until(() => states().delivered === 1)
    assert.equal(channels.sent.length, 1)
  })

  it('tells of what a store has found since it was brought back from a backup, though it uses numbers again', async t => {
    const channels = makeChannels()
    const { outbox, worker, start, confirm, store, states } = await setUp(t, { channels })
    for (const id of ['alert-1', 'alert-2', 'alert-3', 'alert-4']) confirm(id)
    worker.wake()
    await until(() => states().delivered === 4)
    await worker.stop()
    outbox.entries.splice(2)
    const again = start()
    t.after(() => again.stop())
    again.wake()
    await until(() => store.cursor({ network: NETWORK, identity: outbox.identity }) === outbox.last())
    // What was told before the backup was brought back is found once more, and is told no second time.
    for (const id of ['alert-3', 'alert-5']) confirm(id)
    again.wake()
    await until(() => states().delivered === 5)
    assert.deepEqual(
      channels.sent.map(({ messages }) => messages[0]!.id),
      ['alert-1', 'alert-2', 'alert-3', 'alert-4', 'alert-5'],
    )
  })

  it('goes on where one network’s outbox cannot be read', async t => {
    const channels = makeChannels()
    const data = await dataFolder(t)
    const store = openDeliveries(data)
    const good = makeOutbox('good')
    const lines: string[] = []
    let tries = 0
    const damaged = () => {
      tries++
      throw stop('damaged', 'it is damaged')
    }
    const bad = { ...makeOutbox('bad'), version: () => 1, after: () => damaged() }
    good.add('confirmed', makeAlert('alert-1'))
    const worker = createWorker({
      store,
      outboxes: () =>
        new Map([
          ['bad', bad],
          ['good', good],
        ]),
      rules: id => makeRule(id, [post('https://a.example/')]),
      channels,
      secrets: () => [],
      clock: fastClock(20),
      log: createLog({ write: line => lines.push(line), json: false }),
    })
    await until(() => statesIn(store).delivered === 1)
    await until(() => tries > 5)
    // Told once, though it is tried again and again.
    assert.deepEqual(
      lines.map(line => line.slice(25)),
      ['warn  Failed to copy an outbox, will retry network=bad error="it is damaged"'],
    )
    await worker.stop()
    store.close()
  })
})

describe('stopping', () => {
  it('lets what is under way finish', async t => {
    const channels = makeChannels(() => systemClock.sleep(100).then(() => DELIVERED))
    const { worker, states, confirm } = await setUp(t, { channels })
    confirm('alert-1')
    worker.wake()
    await until(() => channels.sent.length === 1)
    await worker.stop()
    assert.deepEqual(states(), { queued: 0, delivered: 1, dead: 0, cancelled: 0 })
  })

  it('breaks off what hangs, which is sent again after the next start and charged no try', async t => {
    let hangs = true
    const channels = makeChannels(sent => (hangs ? hang(sent) : DELIVERED))
    const { worker, states, confirm, store, start } = await setUp(t, { channels })
    confirm('alert-1')
    worker.wake()
    await until(() => channels.sent.length === 1)
    await worker.stop()
    assert.deepEqual(states(), { queued: 1, delivered: 0, dead: 0, cancelled: 0 })
    hangs = false
    const next = start()
    await until(() => states().delivered === 1)
    await next.stop()
    assert.deepEqual(
      store.deliveriesOf(1, ['alert-1']).map(it => [it.tries, it.attempts.map(attempt => attempt.outcome)]),
      [[1, ['aborted', 'delivered']]],
    )
  })
})

describe('a test', () => {
  it('goes once to each action, is kept as one, and is never sent again', async t => {
    const channels = makeChannels(({ action }) => {
      const { url } = action.parameters as { url: string }
      return url.includes('good') ? DELIVERED : url.includes('bad') ? FAILED : GONE
    })
    const { worker, store, states } = await setUp(t, { channels })
    const actions = ['https://good.example/x', 'https://bad.example/x', 'https://gone.example/x']
    const rule = makeRule(1, actions.map(post))
    const results = await worker.testFire(rule, makeAlert('alert-1'), new AbortController().signal)
    const common = { type: 'Webhook (POST)', latencyMs: 0 }
    assert.deepEqual(
      results.map(it => ({ ...it, latencyMs: 0 })),
      [
        { action: 0, target: 'good.example', delivered: true, status: 200, error: null, ...common },
        { action: 1, target: 'bad.example', delivered: false, status: 500, error: 'it answered 500', ...common },
        { action: 2, target: 'gone.example', delivered: false, status: 410, error: 'it answered 410', ...common },
      ],
    )
    await worker.testFire(rule, makeAlert('alert-1'), new AbortController().signal)
    assert.deepEqual(
      channels.sent.map(it => [it.messages[0]!.type, it.messages[0]!.id, it.messages[0]!.rule]),
      Array(6).fill(['alert.test', 'alert-1', { id: 1, name: 'rule 1', version: null }]),
    )
    assert.deepEqual(
      store.deliveriesOf(1, ['alert-1']).map(it => [it.type, it.state, it.attempts.length]),
      Array(2)
        .fill(['delivered', 'dead', 'dead'].map(state => ['alert.test', state, 1]))
        .flat(),
    )
    assert.equal(store.redeliver({ rule: 1 }), 0)
    assert.deepEqual(states(), { queued: 0, delivered: 0, dead: 0, cancelled: 0 })
    assert.deepEqual(store.list({ dead: true, limit: 9 }), [])
  })

  it('ends with its signal', async t => {
    const { worker, store } = await setUp(t, { channels: makeChannels(hang) })
    const controller = new AbortController()
    const results = worker.testFire(makeRule(1, [post('https://a.example/')]), makeAlert('alert-1'), controller.signal)
    controller.abort(new Error('nobody waits'))
    assert.deepEqual(
      (await results).map(it => [it.delivered, it.status]),
      [[false, null]],
    )
    assert.deepEqual(
      store.list({ limit: 9 }).map(it => it.state),
      ['dead'],
    )
  })
})

/** How receivers behave by the number of the request to that path. */
const RECEIVERS: Record<string, (request: number) => Behaviour> = {
  ok: () => ({ status: 200 }),
  failing: request => ({ status: request <= 2 ? 500 : 200 }),
  hanging: request => (request <= 1 ? 'hang' : { status: 204 }),
  resetting: request => (request <= 2 ? 'reset' : { status: 200 }),
  slow: () => ({ status: 200, after: 30 }),
  limiting: request => (request <= 2 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 }),
  gone: () => ({ status: 410 }),
  redirecting: () => ({ status: 302, headers: { location: '/ok' } }),
  broken: () => ({ status: 500 }),
}
const NEVER_TAKE = ['gone', 'redirecting', 'broken']

describe('crashes among receivers that fail', () => {
  for (let seed = 1; seed <= 8; seed++)
    it(`leave nothing undone, with the ids as they were (seed ${seed})`, async t => {
      const random = createRandom(seed)
      const data = await dataFolder(t)
      const names = Object.keys(RECEIVERS)
      const requests = new Map<string, number>()
      /** Of each alert what arrived, and of that what was taken. */
      const arrived = new Map<string, string[]>()
      const taken = new Map<string, string[]>()
      const append = (map: Map<string, string[]>, key: string, value: string) =>
        map.set(key, [...(map.get(key) ?? []), value])
      const receiver = await startReceiver(t, ({ path, headers }) => {
        const name = path.slice(1)
        const request = (requests.get(name) ?? 0) + 1
        requests.set(name, request)
        const behaviour = RECEIVERS[name]!(request)
        const [id, type] = [String(headers['webhook-id']), String(headers['webhook-type'])]
        append(arrived, id, type)
        if (typeof behaviour === 'object' && behaviour.status < 300) append(taken, id, type)
        return behaviour
      })
      const outbox = makeOutbox()
      const clock = fastClock(50)
      const rules = new Map(names.map((name, id) => [id, makeRule(id, [post(`${receiver.url}/${name}`)])]))
      const alerts: { id: string; name: string; retracted: boolean }[] = []
      const add = () => {
        const old = random.pick([...alerts, undefined])
        if (old && !old.retracted && random.chance(0.4)) {
          old.retracted = true
          return outbox.add('retracted', makeAlert(old.id, { rule: names.indexOf(old.name) }))
        }
        const name = random.pick(names)
        const id = `alert-${alerts.length + 1}`
        alerts.push({ id, name, retracted: false })
        outbox.add('confirmed', makeAlert(id, { rule: names.indexOf(name) }))
      }
      const open = () => {
        const store = openDeliveries(data, { now: clock.now })
        const channels = createChannels({
          allowed: ['127.0.0.0/8'],
          smtp: undefined,
          mailFrom: undefined,
          timeoutMs: 1_000,
        })
        const worker = createWorker({
          store,
          outboxes: () => new Map([[NETWORK, outbox]]),
          rules: id => rules.get(id),
          channels,
          secrets: () => [SECRET],
          clock,
          log: silent,
          options: { schedule: [0, 500, 2_000, 5_000, 10_000] },
        })
        return { store, channels, worker }
      }
      for (let crash = 0; crash < 5; crash++) {
        const { store, channels, worker } = open()
        for (let steps = random.int(1, 4); steps > 0; steps--) {
          for (let i = random.int(1, 8); i > 0; i--) add()
          worker.wake()
          await systemClock.sleep(random.int(0, 30))
        }
        // From now on nothing that it does reaches the file, as after a kill.
        store.close()
        await channels.close()
        void worker.stop()
      }
      const { store, channels, worker } = open()
      await until(() => store.cursor({ network: NETWORK, identity: outbox.identity }) === outbox.entries.at(-1)!.n)
      await until(() => !statesIn(store).queued, 'an end of every delivery')
      await worker.stop()
      await channels.close()

      for (const { id, name, retracted } of alerts) {
        const what = `${id} to ${name}: ${arrived.get(id)}`
        const deliveries = store.deliveriesOf(names.indexOf(name), [id])
        if (retracted) {
          // Whoever was told is told that it no longer holds, after all else.
          const types = arrived.get(id) ?? []
          const last = types.indexOf('alert.retracted')
          // What was under way in a crash is sent once more.
          if (name === 'gone') assert.ok(last < 0 || types.slice(last).every(it => it === 'alert.retracted'), what)
          else assert.ok(types.length === 0 || types.at(-1) === 'alert.retracted', what)
          assert.ok(types.lastIndexOf('alert.confirmed') < (types.indexOf('alert.retracted') + 1 || 1 / 0), what)
          if (types.length > 0 && !NEVER_TAKE.includes(name))
            assert.equal(taken.get(id)?.at(-1), 'alert.retracted', what)
        } else if (NEVER_TAKE.includes(name)) {
          assert.deepEqual(
            deliveries.map(it => it.state),
            ['dead'],
            what,
          )
        } else {
          assert.deepEqual(
            deliveries.map(it => [it.type, it.state]),
            [['alert.confirmed', 'delivered']],
            what,
          )
          assert.equal(taken.get(id)?.at(-1), 'alert.confirmed', what)
        }
      }
      const known = new Set(alerts.map(it => it.id))
      for (const id of arrived.keys()) assert.ok(known.has(id), `${id} is no alert`)
      store.close()
    })
})
