import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { AlertMessage } from '../../src/delivery/channels/channel.ts'
import { chatBody } from '../../src/delivery/channels/chat.ts'
import { joinMessages } from '../../src/delivery/channels/group.ts'
import { renderMail } from '../../src/delivery/channels/mail.ts'
import { telegramBody } from '../../src/delivery/channels/telegram.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { NO_LINKS } from '../../src/delivery/links.ts'
import { createSilenceFinder } from '../../src/delivery/silences.ts'
import { createWorker } from '../../src/delivery/worker.ts'
import { silent } from '../../src/lib/log.ts'
import type { Action, NotifyConfig, StoredRule } from '../../src/rules/rule.ts'
import type { StoredSilence } from '../../src/rules/silences/store.ts'
import {
  ACCOUNT,
  DELIVERED,
  dataFolder,
  FAILED,
  makeAlert,
  makeChannels,
  makeContext,
  makeMessage,
  makeOutbox,
  makeRule,
  NETWORK,
  openChannels,
  post,
  type Sent,
} from '../support/delivery.ts'
import { startReceiver } from '../support/receiver.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const A = 'https://a.example/'
const GNOSIS = 'ethereum/gnosis/mainnet'

const setUp = async (
  t: TestContext,
  group: NotifyConfig['group'],
  answer: (sent: Sent) => typeof DELIVERED = () => DELIVERED,
) => {
  const clock = createVirtualClock()
  const store = openDeliveries(await dataFolder(t), { now: clock.now })
  const rule = makeRule(1, [post(A)])
  const input = { ...rule.input, config: { ...rule.input.config, notify: { group } } } as StoredRule['input']
  const outboxes = new Map([NETWORK, GNOSIS].map(network => [network, makeOutbox(network)]))
  const channels = makeChannels(answer)
  const silences: StoredSilence[] = []
  const start = () =>
    createWorker({
      ...{ store, channels, clock, log: silent, secrets: () => [], outboxes: () => outboxes },
      rules: () => ({ ...rule, input }),
      silences: createSilenceFinder({
        silences: { unfinished: () => silences },
        version: () => silences.length,
        rules: () => rule,
      }),
      options: { digestMs: 0 },
    })
  let worker = start()
  const stop = async () => {
    const stopped = worker.stop()
    await clock.run(60_000)
    await stopped
  }
  t.after(async () => {
    await stop()
    store.close()
  })
  return {
    ...{ clock, store, silences },
    tell: (id: string, { type = 'confirmed' as 'confirmed' | 'retracted', network = NETWORK, source = '{}' } = {}) =>
      outboxes.get(network)!.add(type, makeAlert(id, { source, receivedAt: clock.now() })),
    restart: async () => {
      await stop()
      worker = start()
    },
    /** The alerts of each message, with the name of a group in order of appearance. */
    sent: () => {
      const names = [...new Set(channels.sent.flatMap(({ context }) => context.group ?? []))]
      return channels.sent.map(({ messages, context }) => {
        const name = context.group === undefined ? '' : `group ${names.indexOf(context.group) + 1}: `
        return `${name}${messages.map(({ id, type }) => (type === 'alert.retracted' ? `-${id}` : id)).join(' ')}`
      })
    },
  }
}

describe('a group', () => {
  it('is what came within the wait; one alone is a message as ever', async t => {
    const { tell, clock, sent } = await setUp(t, { wait: { seconds: 30 } })
    tell('a')
    await clock.run(20_000)
    tell('b')
    await clock.run(5_000)
    assert.deepEqual(sent(), [])
    await clock.run(10_000)
    assert.deepEqual(sent(), ['group 1: a b'])
    tell('c')
    await clock.run(40_000)
    assert.deepEqual(sent(), ['group 1: a b', 'c'])
  })

  it('is sent at once when it is full, and has no more than its size', async t => {
    const { tell, clock, sent } = await setUp(t, { wait: { seconds: 300 }, size: 3 })
    for (const id of ['a', 'b', 'c', 'd']) tell(id)
    await clock.run(3_000)
    assert.deepEqual(sent(), ['group 1: a b c'])
    await clock.run(300_000)
    assert.deepEqual(sent(), ['group 1: a b c', 'd'])
  })

  it('has alerts with the same values, and of a network where that is asked for', async t => {
    const { tell, clock, sent } = await setUp(t, { by: ['network', 'to'], wait: { seconds: 10 } })
    for (const [id, network, to] of [
      ['a', NETWORK, 1],
      ['b', NETWORK, 2],
      ['c', GNOSIS, 1],
      ['d', NETWORK, 1],
      ['e', GNOSIS, 1],
    ] as const)
      tell(id, { network, source: JSON.stringify({ to }) })
    await clock.run(20_000)
    assert.deepEqual(sent().sort(), ['b', 'group 1: a d', 'group 2: c e'])
  })

  it('is the same in every try, whatever comes meanwhile and however the program ends', async t => {
    let broken = true
    const { tell, clock, sent, restart, store } = await setUp(t, { wait: { seconds: 10 } }, () =>
      broken ? (FAILED as typeof DELIVERED) : DELIVERED,
    )
    tell('a')
    tell('b')
    await clock.run(12_000)
    tell('c')
    tell('d')
    await restart()
    broken = false
    await clock.run(600_000)
    const all = sent()
    assert.equal(all[0], 'group 1: a b')
    assert.deepEqual([...new Set(all)].sort(), ['group 1: a b', 'group 2: c d'])
    assert.ok(all.length >= 3)
    assert.deepEqual(new Set(store.list({ limit: 9 }).map(({ state }) => state)), new Set(['delivered']))
    // Asked for again, they are new messages, which no receiver takes for one that it has.
    store.redeliver({ alert: 'a' })
    await restart()
    await clock.run(10_000)
    assert.equal(sent().at(-1), 'a')
  })

  it('has none that was tried alone, whose retries delay no other', async t => {
    let broken = true
    const { tell, clock, sent, store, restart } = await setUp(t, { wait: { seconds: 10 } }, ({ messages }) =>
      broken && messages[0]!.id === 'a' ? (FAILED as typeof DELIVERED) : DELIVERED,
    )
    tell('a')
    await clock.run(60_000)
    assert.deepEqual([...new Set(sent())], ['a'])
    const before = sent().length
    const { nextAt } = store.list({ limit: 1 })[0]!
    assert.ok(nextAt! - clock.now() > 30_000, 'the retry is later than the wait')
    tell('b')
    await clock.run(13_000)
    assert.deepEqual(sent().slice(before), ['b'])
    // Those that become due beside the retry, while the program is stopped, are no part of it either.
    await clock.run(nextAt! - clock.now() - 20_000)
    tell('c')
    tell('d')
    await clock.run(2_000)
    broken = false
    await restart()
    await clock.run(60_000)
    assert.deepEqual(
      sent()
        .slice(before + 1)
        .sort(),
      ['a', 'group 1: c d'],
    )
  })

  it('has the same members in each retry where one of them follows one tried alone', async t => {
    const { tell, clock, sent } = await setUp(t, { wait: { seconds: 10 }, size: 2 }, () => FAILED as typeof DELIVERED)
    tell('a')
    await clock.run(60_000)
    const before = sent().length
    tell('b')
    await clock.run(3_000)
    tell('c')
    await clock.run(3_000)
    // They fill a group of two, which hurries nothing else.
    assert.deepEqual(new Set(sent().slice(before)), new Set(['group 1: b c']))
    await clock.run(6 * 3_600_000)
    const all = sent()
    assert.deepEqual([...new Set(all)].sort(), ['a', 'group 1: b c'])
    for (const one of new Set(all)) assert.ok(all.filter(it => it === one).length > 2, one)
  })

  it('leaves out what was retracted or silenced, and takes retractions together, too', async t => {
    const { tell, clock, sent, silences } = await setUp(t, { wait: { seconds: 10 } })
    for (const id of ['a', 'b', 'c', 'd']) tell(id)
    await clock.run(2_000)
    tell('c', { type: 'retracted' })
    await clock.run(20_000)
    assert.deepEqual(sent(), ['group 1: a b d'])
    tell('a', { type: 'retracted' })
    tell('d', { type: 'retracted' })
    silences.push({
      ...{ id: 1, account: ACCOUNT, matcher: { fields: { x: '1' } }, author: '', reason: '', createdAt: 0 },
      ...{ from: 0, to: 1e13 },
    })
    tell('e', { source: '{"x":1}' })
    tell('f')
    await clock.run(20_000)
    assert.deepEqual(sent().slice(1), ['group 2: -a -d f'])
  })
})

const messages = [
  makeMessage({ id: 'alert_1', source: { to: '0x1', value: 5 } }),
  makeMessage({ id: 'alert_2', source: { to: '<!channel>' }, timestamp: Date.parse('2026-01-02T03:04:09.000Z') }),
  makeMessage({ id: 'alert_3', type: 'alert.retracted' }),
] as const satisfies AlertMessage[]
const group = joinMessages(messages, 'group_1')

describe('a message for a group', () => {
  it('is one webhook with one id and signature', async t => {
    const receiver = await startReceiver(t)
    const action = post(receiver.url)
    const channel = openChannels(t).of(action)
    const context = makeContext({ now: Date.now(), group: 'group_1' })
    assert.equal((await channel.send(action, messages, context)).type, 'delivered')
    const [{ headers, body }, ...others] = receiver.calls as [(typeof receiver.calls)[0]]
    assert.deepEqual(others, [])
    const sent = new Webhook(context.secrets[0]!).verify(body, headers as Record<string, string>) as {
      alerts: Record<string, unknown>[]
    }
    const { alerts, ...rest } = sent
    assert.deepEqual([headers['webhook-id'], headers['webhook-type']], ['group_1', 'alert.group'])
    assert.deepEqual(rest, {
      ...{ id: 'group_1', type: 'alert.group', timestamp: '2026-01-02T03:04:09.000Z' },
      rule: { id: 7, name: 'Whales', version: null },
    })
    // Each is what a message of its own would be.
    await channel.send(action, [messages[0]], makeContext())
    assert.deepEqual(alerts[0], JSON.parse(receiver.calls[1]!.body))
    assert.deepEqual(
      alerts.map(({ id, type }) => [id, type]),
      messages.map(({ id, type }) => [id, type]),
    )
  })

  it('is not made where each alert has a URL or an incident of its own', async t => {
    const { of } = openChannels(t)
    const groups = (action: Action) => of(action).groups(action)
    assert.equal(groups(post('https://a.example/{to}')), false)
    assert.equal(groups({ type: 'Webhook (GET)', parameters: { url: A } }), false)
    assert.equal(groups({ type: 'PagerDuty', parameters: { routingKey: 'x' } }), false)
    assert.equal(groups(post(A)), true)
  })

  it('lists the alerts in a chat, with what the owner says of each or with their fields', () => {
    const action = {
      type: 'Telegram',
      parameters: { token: 't', chat: '1' },
    } as const
    assert.equal(
      telegramBody(action, group, NO_LINKS).text,
      '<b>3 alerts, 1 retracted: Whales</b>\n' +
        'Network: <code>ethereum/ethereum/mainnet</code>\n' +
        'Alert, Event in block 12: <code>to 0x1, value 5</code>\n' +
        'Alert, Event in block 12: <code>to &lt;!channel&gt;</code>\n' +
        'Retracted alert, Event in block 12: <code>event Transfer, amount 5</code>',
    )
    assert.match(
      telegramBody({ ...action, message: 'Paid to {to}' }, group, NO_LINKS).text,
      /: <code>Paid to 0x1<\/code>/,
    )
    const chat = { type: 'Chat', parameters: { url: A, text: 'Hello', channel: '', username: '' } } as const
    const { text } = chatBody(chat, group)
    assert.match(text, /^Hello\n3 alerts, 1 retracted: Whales\n/)
    assert.doesNotMatch(text, /<!channel>/)
    const many = joinMessages(
      Array.from({ length: 100 }, () => messages[0]),
      'group_2',
    )
    const cut = telegramBody({ ...action, message: 'x'.repeat(200) }, many, NO_LINKS).text
    assert.match(cut, /… and \d+ more alerts$/)
  })

  it('has the alerts in full in an email', () => {
    const { subject, text } = renderMail({ type: 'Email', parameters: { recipients: ['a@x.test'] } }, messages)
    assert.equal(subject, '3 alerts, 1 retracted: Whales')
    for (const { id } of messages) assert.match(text, new RegExp(id))
  })
})
