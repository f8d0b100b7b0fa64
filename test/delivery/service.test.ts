import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { openAccounts } from '../../src/accounts/index.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { type DeliveryOptions, startDelivery } from '../../src/delivery/service.ts'
import { storeFile } from '../../src/engine/files.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { secret } from '../../src/lib/secret.ts'
import type { Action } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { openSecrets } from '../../src/rules/webhook-secrets.ts'
import { dataFolder, makeRule, NETWORK, post } from '../support/delivery.ts'
import { makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { createTestStore } from '../support/store.ts'

/** A data folder with a rule and a network whose blocks all match it; the thread as the server starts it. */
const setUp = async (t: TestContext, actions: (url: string) => Action[], retries = [100, 100]) => {
  const receiver = await startReceiver(t)
  const data = await dataFolder(t)
  const accounts = openAccounts(data)
  accounts.createToken('somebody')
  accounts.close()
  const rules = openRules(data)
  const rule = rules.create(1, makeRule(1, actions(receiver.url)).input, 0)
  const path = storeFile(data, NETWORK)
  mkdirSync(dirname(path), { recursive: true })
  const store = createTestStore([], { path })
  const alertStore = createAlertStore(store.db)
  const chain = makeChain({ blocks: 5 })
  let stored = 0
  const put = () => {
    const raw = chain[stored++]!
    const hit = {
      rule: rule.id,
      revision: rule.matching,
      targetType: 'Block' as const,
      confirmations: 0,
      notifyPending: false,
      block: Number(raw.block.number),
      blockHash: raw.block.hash,
      entity: { _id: raw.block.hash, _type: 'block' as const },
      source: JSON.stringify({ hash: raw.block.hash }),
      receivedAt: Date.now(),
    }
    store.writer.apply(store.prepare([raw]), () => alertStore.stored({ hits: [hit] }))
  }
  const lines: string[] = []
  const options: DeliveryOptions = {
    data,
    stores: () => new Map([[NETWORK, path]]),
    settings: {
      allowTarget: ['127.0.0.0/8'],
      smtp: secret('smtp://user:hidden@127.0.0.1:1'),
      mailFrom: undefined,
      mailDigest: 0,
      retries,
      timeoutMs: 2_000,
    },
    log: createLog({ write: line => lines.push(line), json: true, level: 'debug' }),
  }
  const delivery = startDelivery(options)
  t.after(async () => {
    await delivery.stop()
    rules.close()
    store.close()
  })
  return { receiver, data, rules, rule, put, options, delivery, lines, secrets: () => openSecrets(data).current(1) }
}

const until = async (is: () => boolean | Promise<boolean>) => {
  const end = Date.now() + 120_000
  while (!(await is())) {
    if (Date.now() > end) assert.fail('it did not come about')
    await systemClock.sleep(10)
  }
}

describe('the thread that delivers', () => {
  it('tells of blocks as they are stored, signed, and what became of it', async t => {
    const { receiver, rule, put, delivery, secrets } = await setUp(t, url => [post(`${url}/hook`)])
    put()
    delivery.wake(NETWORK)
    await until(() => receiver.calls.length === 1)
    const [call] = receiver.calls
    const verified = new Webhook(secrets()[0]!).verify(call!.body, call!.headers as Record<string, string>)
    // Not woken: the change is noticed.
    put()
    const settled = async () => (await delivery.list({ limit: 9 })).filter(({ state }) => state === 'delivered')
    await until(async () => (await settled()).length === 2)
    const alerts = await delivery.alerts(NETWORK, rule.id, { size: 1, before: 2 })
    assert.equal((verified as { id: string }).id, alerts[0]!.alert.id)
    assert.deepEqual(
      alerts.map(it => [
        it.n,
        it.alert.block,
        it.deliveries.map(one => [one.type, one.state, one.target, one.attempts.length]),
      ]),
      [[1, Number(alerts[0]!.alert.block), [['alert.confirmed', 'delivered', `${receiver.url}/hook`, 1]]]],
    )
    assert.deepEqual(await delivery.alerts('no/such/network', rule.id, { size: 1 }), [])
    assert.deepEqual(await delivery.counts([rule.id, 99]), new Map([[rule.id, 2]]))
    assert.deepEqual(
      (await delivery.list({ limit: 9 })).map(it => [it.id, it.state]),
      [
        [2, 'delivered'],
        [1, 'delivered'],
      ],
    )
    assert.equal(await delivery.redeliver({ delivery: 1 }), 1)
    await until(() => receiver.calls.length === 3)
    assert.equal(receiver.calls[2]!.headers['webhook-id'], alerts[0]!.alert.id)
    await assert.rejects(delivery.redeliver({}), { next: 'refuse', code: 'redeliver_all' })
    await until(
      async () => (await delivery.alerts(NETWORK, rule.id, { size: 2 }))[1]!.deliveries[0]!.attempts.length === 2,
    )
    const delivered = (await delivery.metrics()).find(it => it.name === 'chainsieve_deliveries_total')
    assert.deepEqual(delivered?.series, [{ labels: { channel: 'Webhook (POST)', outcome: 'delivered' }, value: 3 }])
  })

  it('fires tests, and ends one that nobody waits for', async t => {
    const { receiver, rule, put, delivery } = await setUp(t, url => [post(`${url}/good`), post(`${url}/hangs`)])
    receiver.behave = ({ path }) => (path === '/hangs' ? 'hang' : { status: 202, body: 'taken' })
    put()
    await until(async () => (await delivery.alerts(NETWORK, rule.id, { size: 1 })).length === 1)
    const { alert } = (await delivery.alerts(NETWORK, rule.id, { size: 1 }))[0]!
    const results = await delivery.testFire(rule, alert)
    assert.deepEqual(
      results.map(it => ({ ...it, latencyMs: 0 })),
      [
        {
          action: 0,
          type: 'Webhook (POST)',
          target: `${receiver.url}/good`,
          delivered: true,
          status: 202,
          error: null,
          latencyMs: 0,
        },
        {
          action: 1,
          type: 'Webhook (POST)',
          target: `${receiver.url}/hangs`,
          delivered: false,
          status: null,
          error: 'it did not answer within 2 s',
          latencyMs: 0,
        },
      ],
    )
    const controller = new AbortController()
    const given = delivery.testFire(rule, alert, controller.signal)
    controller.abort(new Error('the client went away'))
    await assert.rejects(given, /the client went away/)
    await assert.rejects(delivery.testFire(rule, alert, controller.signal), /the client went away/)
  })

  it('sends after the next start what it could not, and writes no secret to its log', async t => {
    const { receiver, data, put, delivery, lines } = await setUp(t, url => [
      post(`${url}/s3cret-s3cret-s3cret?key=s3cret`),
    ])
    receiver.behave = () => 'hang'
    put()
    delivery.wake(NETWORK)
    await until(() => receiver.calls.length > 0)
    await delivery.stop()
    await assert.rejects(delivery.counts(), { code: 'delivery_ended' })
    delivery.wake(NETWORK)
    const store = openDeliveries(data)
    assert.deepEqual(
      store.list({ limit: 9 }).map(it => it.state),
      ['queued'],
    )
    store.close()
    assert.doesNotMatch(lines.join('\n'), /s3cret|hidden/)
  })

  it('tells which receivers fail, since when and why, and when they take something again', async t => {
    const { receiver, rule, put, delivery, lines } = await setUp(t, url => [post(`${url}/hook`)])
    receiver.behave = () => ({ status: 500, body: 'out of order' })
    const before = Date.now()
    put()
    await until(() => delivery.status().failing.length === 1)
    const { failing, ...rest } = delivery.status()
    assert.deepEqual(rest, { state: 'delivering', error: null })
    const [{ since, at, error, receiver: told, ...trouble }] = failing as [(typeof failing)[0]]
    assert.deepEqual(trouble, {
      account: 1,
      rule: rule.id,
      channel: 'Webhook (POST)',
      target: `${receiver.url}/hook`,
      status: 500,
    })
    assert.match(told, /^http:\/\/127\.0\.0\.1:\d+\/~[0-9a-f]{12}$/)
    assert.match(error, /500/)
    assert.ok(Date.parse(since) >= before && Date.parse(at) >= Date.parse(since))
    const warned = () => lines.filter(line => line.includes('A receiver does not accept deliveries'))
    await until(() => receiver.calls.length >= 2)
    assert.equal(warned().length, 1)
    receiver.behave = () => ({ status: 200 })
    await until(async () => (await delivery.redeliver({ dead: true })) === 1)
    await until(() => delivery.status().failing.length === 0)
    assert.ok(lines.some(line => line.includes('A receiver accepts deliveries again')))
  })

  it('remembers over a restart which receivers fail, and forgets those of rules that are gone', async t => {
    const { receiver, rules, rule, put, options, delivery } = await setUp(t, url => [post(`${url}/hook`)], [60_000])
    receiver.behave = () => ({ status: 503 })
    put()
    await until(() => delivery.status().failing.length === 1)
    const before = delivery.status().failing
    await delivery.stop()
    const again = startDelivery(options)
    t.after(again.stop)
    await until(() => again.status().failing.length === 1)
    const [known] = again.status().failing
    assert.deepEqual({ ...known, since: '', at: '' }, { ...before[0], since: '', at: '' })
    assert.ok(Math.abs(Date.parse(known!.since) - Date.parse(before[0]!.since)) < 1_000)
    assert.equal(receiver.calls.length, 1)
    rules.remove(1, rule.id)
    await until(() => again.status().failing.length === 0)
  })

  it('is started again when it dies, and says so meanwhile', async t => {
    const data = mkdtempSync(join(tmpdir(), 'chainsieve-restart-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    // What the thread cannot open.
    mkdirSync(join(data, 'accounts.sqlite'))
    const delivery = startDelivery({
      data,
      stores: () => new Map(),
      settings: {
        allowTarget: [],
        smtp: undefined,
        mailFrom: undefined,
        mailDigest: 0,
        retries: [],
        timeoutMs: 1_000,
      },
      log: silent,
    })
    t.after(delivery.stop)
    await until(() => delivery.status().state === 'restarting')
    const { error, restarts } = delivery.status()
    assert.match(error!, /accounts\.sqlite/)
    assert.ok(Date.parse(restarts!.nextAt!) > Date.parse(restarts!.endedAt))
    rmSync(join(data, 'accounts.sqlite'), { recursive: true })
    await until(async () => Array.isArray(await delivery.metrics().catch(() => undefined)))
    assert.equal(delivery.status().state, 'delivering')
  })
})
