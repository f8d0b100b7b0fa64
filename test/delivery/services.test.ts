import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { MessageType } from '../../src/delivery/channels/channel.ts'
import { preview } from '../../src/delivery/channels/index.ts'
import { createLinks } from '../../src/delivery/links.ts'
import { actionKeys } from '../../src/rules/hidden-keys.ts'
import type { Action } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { makeContext, makeMessage, makeRule, openChannels } from '../support/delivery.ts'
import { startReceiver } from '../support/receiver.ts'
import { SERVICES, telegramText } from '../support/services.ts'

const LINKS = createLinks({
  publicUrl: 'https://sieve.x.test',
  explorers: { 'ethereum/ethereum/mainnet': 'https://scan.x.test' },
})
const HASH = `0x${'ab'.repeat(32)}`
const TYPES: MessageType[] = ['alert.confirmed', 'alert.pending', 'alert.repeated', 'alert.retracted', 'alert.test']

const HOSTILE =
  '@everyone <!channel> <@U1> @[x](tg://user?id=1) [a](https://evil.org) <b>&amp;</b> {{DATE(1)}} `*_~|\u202e\n• fake'

for (const [type, service] of Object.entries(SERVICES))
  describe(type, () => {
    const URL = 'http://127.0.0.1:1'
    const send = async (t: Parameters<typeof openChannels>[0], action: Action, message = makeMessage()) =>
      openChannels(t, { links: LINKS }).of(action).send(action, [message], makeContext())

    test('its parameters make a rule', () => {
      const { input } = makeRule(1, [service.action('https://service.x.test')])
      assert.deepEqual(checkRule(input).faults, [])
    })

    test('accepts what it gets: messages of every type, hostile text, any length', async t => {
      const receiver = await startReceiver(t, service.accepts)
      const action = {
        ...service.action(receiver.url),
        message: `{name} by {to|short}\nof {$network}: ${'é😀'.repeat(50)}`,
      }
      const sources = [
        { transactionHash: HASH, name: HOSTILE, to: HOSTILE, [HOSTILE]: HOSTILE },
        { name: '😀'.repeat(3_000), to: '\ud83d' },
        Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, '"\\<&😀'.repeat(100)])),
        {},
      ]
      for (const kind of TYPES)
        for (const source of sources) {
          const rule = { id: 7, name: `${HOSTILE} ${'n'.repeat(900)}`, version: null }
          const outcome = await send(t, action, makeMessage({ type: kind, source, rule }))
          assert.equal(outcome.type, 'delivered', `${kind} ${JSON.stringify(outcome).slice(0, 300)}`)
        }
    })

    test('accepts a group of any size and text', async t => {
      const receiver = await startReceiver(t, service.accepts)
      const { of } = openChannels(t, { links: LINKS })
      const rule = { id: 7, name: HOSTILE.repeat(9), version: null }
      for (const message of [undefined, `{name} ${'é😀<&"'.repeat(99)}`])
        for (const size of [1, 2, 100]) {
          const action = { ...service.action(receiver.url), ...(message && { message }) }
          if (!of(action).groups(action)) continue
          const source = { transactionHash: HASH, name: HOSTILE, [HOSTILE]: '"\\<&😀'.repeat(100) }
          const messages = Array.from({ length: size }, (_, i) =>
            makeMessage({ id: `alert_${i}`, source, rule, type: TYPES[i % 4]! }),
          )
          const outcome = await of(action).send(action, messages, makeContext({ group: 'group_1' }))
          assert.equal(outcome.type, 'delivered', `${size} ${JSON.stringify(outcome).slice(0, 300)}`)
        }
    })

    test('accepts whatever text there is', async t => {
      const receiver = await startReceiver(t, service.accepts)
      const channels = openChannels(t, { links: LINKS })
      const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 600 }), fc.constantFrom(HOSTILE, '', '{name}'))
      await fc.assert(
        fc.asyncProperty(fc.dictionary(text, text, { maxKeys: 12 }), text, text, async (source, message, name) => {
          const action = { ...service.action(receiver.url), message }
          const rule = { id: 7, name, version: null }
          const outcome = await channels.of(action).send(action, [makeMessage({ source, rule })], makeContext())
          assert.equal(outcome.type, 'delivered', JSON.stringify(outcome))
        }),
        { seed: 32, numRuns: 60 },
      )
    })

    test('is asked again when it wants, and not after a refusal', async t => {
      const receiver = await startReceiver(t)
      const action = service.action(receiver.url)
      for (const [answer, waitMs] of service.busy) {
        receiver.behave = () => answer
        const outcome = await send(t, action)
        assert.equal(outcome.type, 'retry')
        assert.equal(('retryAfterMs' in outcome && outcome.retryAfterMs) || 0, waitMs)
      }
      receiver.behave = () => ({ status: 502, body: '<html>Bad gateway</html>' })
      assert.equal((await send(t, action)).type, 'retry')
      for (const [answer, why] of service.refusals) {
        receiver.behave = () => answer
        const outcome = await send(t, action)
        assert.ok(outcome.type === 'refused', JSON.stringify(outcome))
        assert.match(outcome.why, why)
        assert.equal(outcome.status, answer.status)
      }
    })

    test('its keys are neither shown, previewed, nor kept with an answer that repeats them', async t => {
      const action = service.action(URL)
      const keys = actionKeys(action).map(([, key]) => key)
      const receiver = await startReceiver(t, ({ path, body, headers }) => ({
        status: 500,
        body: `${path} ${headers.authorization} ${body}`.slice(0, 600),
      }))
      const outcome = await send(t, service.action(receiver.url))
      const channel = openChannels(t).of(action)
      const told = JSON.stringify([
        outcome,
        preview(action, makeMessage(), LINKS),
        channel.shown(action),
        channel.destination(action),
      ])
      for (const key of keys) assert.ok(!told.includes(key), told)
    })
  })

/** The text of a notice by the service that limits it, and the limit. */
const LIMITED: [Action['type'], most: number, (body: never) => string, size: (text: string) => number][] = [
  ['Telegram', 4_096, ({ text }: { text: string }) => text, text => telegramText(text)!.length],
  ['Discord', 4_096, (body: { embeds: { description: string }[] }) => body.embeds[0]!.description, text => text.length],
  ['ntfy', 4_096, ({ message }: { message: string }) => message, text => Buffer.byteLength(text)],
]
for (const [type, most, textOf, size] of LIMITED)
  test(`${type}: a message of exactly the limit is whole, one more character is told`, () => {
    const sent = (message: string) => {
      const action = { ...SERVICES[type]!.action('https://service.x.test'), message, payload: [] }
      const made = preview(action, makeMessage(), LINKS)
      assert.ok('body' in made)
      return textOf(made.body as never)
    }
    const around = size(sent('x')) - 1
    const whole = sent('x'.repeat(most - around))
    assert.equal(size(whole), most)
    assert.doesNotMatch(whole, /…/)
    const cut = sent('x'.repeat(most - around + 1))
    assert.equal(size(cut) <= most && size(cut) > most - 4, true)
    assert.match(cut, /x…\n/)
    // A pair of surrogates is not split, whatever is before it.
    for (const before of ['', 'x']) {
      const emoji = sent(before + '😀'.repeat(most))
      assert.ok(emoji.isWellFormed() && size(emoji) <= most)
    }
  })

test('an incident is opened, updated and resolved under the id of the alert', () => {
  const action = SERVICES.PagerDuty!.action('https://events.x.test')
  const of = (type: MessageType) =>
    (preview(action, makeMessage({ type }), LINKS) as { body: Record<string, unknown> }).body
  assert.deepEqual(
    TYPES.map(type => [type, of(type).event_action, of(type).dedup_key === makeMessage().id]),
    [
      ['alert.confirmed', 'trigger', true],
      ['alert.pending', 'trigger', true],
      ['alert.repeated', 'trigger', true],
      ['alert.retracted', 'resolve', true],
      ['alert.test', 'trigger', true],
    ],
  )
  const severityOf = (type: MessageType) => (of(type).payload as { severity: string }).severity
  assert.deepEqual([severityOf('alert.confirmed'), severityOf('alert.test')], ['critical', 'info'])
  assert.deepEqual(of('alert.retracted'), {
    routing_key: '[secret]',
    dedup_key: makeMessage().id,
    event_action: 'resolve',
  })
})

test('a try of a message has the transaction of the one before, another message another', () => {
  const url = (over: Parameters<typeof makeMessage>[0]) =>
    (preview(SERVICES.Matrix!.action('https://matrix.x.test'), makeMessage(over), LINKS) as { url: string }).url
  assert.equal(url({}), url({}))
  assert.notEqual(url({}), url({ type: 'alert.retracted' }))
})
