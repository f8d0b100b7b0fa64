import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { createSilenceFinder } from '../../src/delivery/silences.ts'
import { createWorker } from '../../src/delivery/worker.ts'
import { silent } from '../../src/lib/log.ts'
import { createMetrics } from '../../src/metrics/index.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import type { SilenceMatcher } from '../../src/rules/silences/check.ts'
import { openRules } from '../../src/rules/store.ts'
import {
  DELIVERED,
  dataFolder,
  FAILED,
  mail,
  makeAlert,
  makeChannels,
  makeMessage,
  makeOutbox,
  makeRule,
  NETWORK,
  post,
} from '../support/delivery.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const HOUR = 3_600_000
const A = 'https://a.example/'

const setUp = async (t: TestContext, answer: Parameters<typeof makeChannels>[0] = () => DELIVERED) => {
  const clock = createVirtualClock()
  const folder = await dataFolder(t)
  const accounts = openAccounts(folder)
  accounts.createToken('alice')
  accounts.close()
  // As the command line does it: by another connection.
  const mine = openRules(folder, { now: clock.now })
  const theirs = openRules(folder, { now: clock.now })
  const rules = new Map<number, StoredRule>([[1, makeRule(1, [post(A)], { account: 1 })]])
  const outbox = makeOutbox()
  const store = openDeliveries(folder, { now: clock.now })
  const channels = makeChannels(answer)
  const metrics = createMetrics()
  const find = (id: number) => rules.get(id)
  const start = (counted = createMetrics()) =>
    createWorker({
      ...{ store, channels, clock, metrics: counted, log: silent, secrets: () => [], rules: find },
      outboxes: () => new Map([[NETWORK, outbox]]),
      silences: createSilenceFinder({ silences: theirs.silences, version: theirs.version, rules: find }),
      options: { digestMs: 0 },
    })
  let worker = start(metrics)
  const stop = async () => {
    const stopped = worker.stop()
    await clock.run(60_000)
    await stopped
  }
  t.after(async () => {
    await stop()
    for (const it of [store, mine, theirs]) it.close()
  })
  return {
    ...{ clock, store, channels, outbox, rules, metrics },
    silence: (matcher: SilenceMatcher, forMs = HOUR, fromMs = 0) =>
      mine.silences.add(1, {
        ...{ matcher, reason: 'upgrade' },
        ...{ from: clock.now() + fromMs, to: clock.now() + fromMs + forMs },
      }),
    end: (id: number) => mine.silences.remove(1, id),
    restart: async () => {
      await stop()
      worker = start()
    },
    reload: () => worker.reload(),
    tell: async (type: 'pending' | 'confirmed' | 'retracted', id = 'alert-1', over = {}) => {
      outbox.add(type, makeAlert(id, over))
      await clock.run(3_000)
    },
    sent: () => channels.sent.flatMap(({ messages }) => messages.map(({ id, type }) => `${id} ${type}`)),
    states: () =>
      store
        .list({ limit: 99 })
        .reverse()
        .map(({ alert, type, state }) => `${alert} ${type}: ${state}`),
  }
}

describe('a silence', () => {
  it('keeps an alert from being sent, is named by the delivery, and is counted', async t => {
    const { tell, silence, sent, store, metrics, clock, end, restart } = await setUp(t)
    const { id } = silence({ rules: [1] })
    await tell('confirmed')
    assert.deepEqual(sent(), [])
    const [delivery] = store.list({ limit: 9 })
    const { state, silence: by, tries, nextAt, lastError } = delivery!
    assert.deepEqual([state, by, tries, nextAt], ['silenced', id, 0, null])
    assert.match(lastError!, /^silence 1 of .+, until 20.+Z: upgrade$/)
    const counted = metrics
      .snapshot()
      .flatMap(it => (it.name === 'chainsieve_deliveries_total' && it.type === 'counter' ? it.series : []))
    assert.deepEqual(counted, [{ labels: { channel: 'Webhook (POST)', outcome: 'silenced' }, value: 1 }])
    // It is never tried again, whatever becomes of the silence and the program.
    end(id)
    await restart()
    await clock.run(2 * HOUR)
    assert.deepEqual(sent(), [])
    assert.equal(store.counts().get(1), 1)
  })

  it('is decided when a message would be sent, also for a retry', async t => {
    let broken = true
    const { tell, silence, sent, states, clock } = await setUp(t, () => (broken ? FAILED : DELIVERED))
    silence({ network: '*/*/*' }, HOUR, 60_000)
    await tell('confirmed')
    await clock.run(20_000)
    assert.deepEqual(sent(), ['alert-1 alert.confirmed', 'alert-1 alert.confirmed'])
    broken = false
    await clock.run(10 * 60_000)
    assert.deepEqual(states(), ['alert-1 alert.confirmed: silenced'])
    await tell('confirmed', 'alert-2')
    await clock.run(HOUR)
    await tell('confirmed', 'alert-3')
    assert.deepEqual(sent().slice(-1), ['alert-3 alert.confirmed'])
    assert.deepEqual(states().slice(1), ['alert-2 alert.confirmed: silenced', 'alert-3 alert.confirmed: delivered'])
  })

  it('takes back nothing that was not sent, and all that may have been', async t => {
    const { tell, silence, sent, end } = await setUp(t)
    await tell('confirmed', 'before')
    const { id } = silence({ network: NETWORK })
    await tell('confirmed', 'during')
    await tell('retracted', 'during')
    await tell('retracted', 'before')
    assert.deepEqual(sent(), ['before alert.confirmed', 'before alert.retracted'])
    // Pending was silenced, confirmed is not: the receiver learns of it then, and of its retraction.
    await tell('pending', 'later')
    end(id)
    await tell('confirmed', 'later')
    await tell('retracted', 'later')
    assert.deepEqual(sent().slice(2), ['later alert.confirmed', 'later alert.retracted'])
  })

  it('leaves a message that failed on its way to be taken back', async t => {
    let broken = true
    const { tell, silence, sent, clock } = await setUp(t, () => (broken ? FAILED : DELIVERED))
    await tell('confirmed')
    silence({ network: NETWORK })
    await clock.run(60_000)
    broken = false
    await tell('retracted')
    assert.deepEqual(sent(), ['alert-1 alert.confirmed', 'alert-1 alert.retracted'])
  })

  it('that is over does not hinder what somebody asks for again', async t => {
    const { tell, silence, sent, store, states, clock, reload } = await setUp(t)
    silence({ network: NETWORK })
    await tell('confirmed')
    assert.equal(store.redeliver({ rule: 1, dead: true }), 0)
    assert.equal(store.redeliver({ alert: 'alert-1' }), 1)
    reload()
    await clock.run(3_000)
    assert.deepEqual(states(), ['alert-1 alert.confirmed: silenced'])
    await clock.run(HOUR)
    assert.equal(store.redeliver({ alert: 'alert-1' }), 1)
    reload()
    await clock.run(3_000)
    assert.deepEqual(sent(), ['alert-1 alert.confirmed'])
    assert.equal(store.list({ limit: 1 })[0]!.silence, null)
  })

  it('leaves out of combined emails what it covers', async t => {
    const { tell, silence, sent, rules, outbox } = await setUp(t)
    rules.set(1, makeRule(1, [mail('x@example.org')], { account: 1 }))
    silence({ fields: { amount: '7' } })
    outbox.add('confirmed', makeAlert('other', { source: '{"amount":8}' }))
    await tell('confirmed', 'covered', { source: '{"amount":7}' })
    assert.deepEqual(sent(), ['other alert.confirmed'])
  })
})

describe('the matcher of a silence', () => {
  const source = {
    address: '0xABcd',
    args: [{ name: 'to', pos: 0, value: '0xFf' }],
    amount: 18,
    none: null,
  }
  const rule = makeRule(7, [], { account: 1 })
  const labelled = { ...rule, input: { ...rule.input, team: 'payments', level: 3, parts: ['payments'] } }
  const covers = (matcher: SilenceMatcher, over: Parameters<typeof makeMessage>[0] = {}, account = 1) => {
    const silence = { id: 1, account: 1, matcher, from: 10, to: 20, reason: '', author: '', createdAt: 0 }
    const finder = createSilenceFinder({
      silences: { unfinished: () => [silence] },
      version: () => 1,
      rules: () => labelled,
    })
    finder.refresh(10)
    const sending = { account, channel: 'Slack', message: makeMessage({ source, ...over }) }
    assert.equal(finder.find(sending, 9) ?? finder.find(sending, 20), undefined)
    return finder.find(sending, 10) !== undefined
  }

  it('covers what has all that it names', () => {
    const yes: SilenceMatcher[] = [
      { rules: [3, 7] },
      { network: 'ethereum/ethereum/mainnet' },
      { network: 'ethereum/*/main,mainnet' },
      { labels: { team: 'payments', level: '3' } },
      { fields: { address: '0xabCD', 'args.to': '0xff', amount: '18' } },
      { rules: [7], network: '*/*/*', labels: { team: 'payments' }, fields: { amount: '18' } },
    ]
    const no: SilenceMatcher[] = [
      { rules: [3] },
      { network: 'ethereum/gnosis/*' },
      { channel: 'Email' },
      { labels: { team: 'other' } },
      { labels: { parts: 'payments' } },
      { labels: { constructor: 'payments' } },
      { fields: { address: '0xabC' } },
      { fields: { nothing: '0xff' } },
      // As an older version kept them.
      { fields: { nothing: '' } },
      { fields: { 'args.memo': '' } },
      { fields: { none: '' } },
      { rules: [7], fields: { amount: '19' } },
    ]
    assert.deepEqual(
      yes.map(it => covers(it)),
      yes.map(() => true),
    )
    assert.deepEqual(
      no.map(it => covers(it)),
      no.map(() => false),
    )
    assert.equal(covers({ rules: [7] }, {}, 2), false)
  })

  it('is for news alone', () => {
    const types = ['alert.pending', 'alert.confirmed', 'alert.repeated', 'alert.retracted', 'alert.test'] as const
    assert.deepEqual(
      types.map(type => covers({ rules: [7] }, { type })),
      [true, true, true, false, false],
    )
  })
})
