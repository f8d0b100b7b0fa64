import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { readSources } from '../../scripts/layers.ts'
import { secret } from '../../src/lib/secret.ts'
import { CHANNEL_TYPES } from '../../src/rules/channels.ts'
import type { Action } from '../../src/rules/rule.ts'
import { makeContext, makeMessage, openChannels } from '../support/delivery.ts'
import { startMailServer } from '../support/mail.ts'
import { startReceiver } from '../support/receiver.ts'
import { SERVICES } from '../support/services.ts'

const MESSAGE = makeMessage()

/** An action of each type, to the receiver at `url`; emails go to the SMTP server that the channel was made with. */
const ACTIONS: Record<string, (url: string) => Action> = {
  ...Object.fromEntries(Object.entries(SERVICES).map(([type, { action }]) => [type, action])),
  'Webhook (GET)': url => ({ type: 'Webhook (GET)', parameters: { url } }),
  'Webhook (POST)': url => ({ type: 'Webhook (POST)', parameters: { url } }),
  Chat: url => ({ type: 'Chat', parameters: { url, text: 'A whale', channel: '', username: '' } }),
  Email: () => ({ type: 'Email', parameters: { recipients: ['ann@x.test'] } }),
}

/** A server that takes connections, says nothing, and ends them when the test does. */
const startSilent = async (t: TestContext): Promise<number> => {
  const server = createServer()
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', socket => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

for (const type of CHANNEL_TYPES)
  describe(`${type}, as every channel`, () => {
    const open = (t: TestContext, { smtp = 'smtp://127.0.0.1:1', allowed = ['127.0.0.0/8'], timeoutMs = 5_000 } = {}) =>
      openChannels(t, { allowed, smtp: secret(smtp), mailFrom: 'sieve@x.test', timeoutMs }).of({ type })
    const isMail = type === 'Email'

    test('delivers a message of every type', async t => {
      const [receiver, mail] = [await startReceiver(t), await startMailServer(t)]
      const channel = open(t, { smtp: mail.url })
      const types = ['alert.confirmed', 'alert.pending', 'alert.retracted', 'alert.test'] as const
      for (const it of types) {
        const outcome = await channel.send(ACTIONS[type]!(receiver.url), [{ ...MESSAGE, type: it }], makeContext())
        assert.equal(outcome.type, 'delivered', it)
      }
      assert.equal(isMail ? mail.mails.length : receiver.calls.length, types.length)
    })

    test('asks for another try where the receiver is away', async t => {
      const outcome = await open(t).send(ACTIONS[type]!('http://127.0.0.1:1/'), [MESSAGE], makeContext())
      assert.equal(outcome.type, 'retry')
    })

    test('gives up one attempt at a receiver that hangs', async t => {
      const port = await startSilent(t)
      const channel = open(t, { smtp: `smtp://127.0.0.1:${port}`, timeoutMs: 300 })
      const outcome = await channel.send(ACTIONS[type]!(`http://127.0.0.1:${port}/`), [MESSAGE], makeContext())
      assert.equal(outcome.type, 'retry')
    })

    test('rejects with the reason of an aborted signal', async t => {
      const port = await startSilent(t)
      const channel = open(t, { smtp: `smtp://127.0.0.1:${port}` })
      const [stop, reason] = [new AbortController(), new Error('closing')]
      const sending = channel.send(
        ACTIONS[type]!(`http://127.0.0.1:${port}/`),
        [MESSAGE],
        makeContext({ signal: stop.signal }),
      )
      setTimeout(() => stop.abort(reason), 50)
      await assert.rejects(sending, error => error === reason)
    })

    test('shows no secret of its target', t => {
      const action = ACTIONS[type]!('https://user:hidden@hooks.x.test/alerts?key=hidden')
      const channel = open(t, { smtp: 'smtp://user:hidden@mail.x.test' })
      assert.doesNotMatch(channel.shown(action) + channel.destination(action), /hidden/)
    })

    test('refuses an inward target that is not allowed', {
      skip: isMail && 'the operator names the SMTP server: it may be inward',
    }, async t => {
      const receiver = await startReceiver(t)
      const outcome = await open(t, { allowed: [] }).send(ACTIONS[type]!(receiver.url), [MESSAGE], makeContext())
      assert.equal(outcome.type, 'refused')
      assert.equal(receiver.calls.length, 0)
    })

    test('refuses a target that is no URL', { skip: isMail && 'its targets are addresses' }, async t => {
      assert.equal((await open(t).send(ACTIONS[type]!('ftp://x.test/'), [MESSAGE], makeContext())).type, 'refused')
    })
  })

/** Where a channel may be named: its own file and line, what rules ask for it, and what tells of its settings. */
const NAMES_CHANNELS = [
  /^src\/delivery\/channels\//,
  /^src\/rules\/(rule|channels|check-alerts)\.ts$/,
  // What was stored before.
  /^src\/delivery\/ledger\/migrations\.ts$/,
  // What the operator has to set for emails.
  /^src\/(doctor\/receivers|app\/advice)\.ts$/,
  // An example of a rule.
  /^src\/mcp\/tools\/rules\.ts$/,
  /^src\/http\/(openapi\/|alerting\/(route|service)\.ts)/,
  // What the triggers of another service are here.
  /^src\/app\/openzeppelin\/receivers\.ts$/,
  // Asks as clients do.
  /^src\/console\//,
]

test('a channel is a file and a line: nothing else names one', () => {
  const named = [...readSources()].flatMap(([path, text]) =>
    /'(Chat|Email|Webhook \((GET|POST)\))'|\bChat: |\bEmail: /.test(text) ? [path] : [],
  )
  assert.deepEqual(
    named.filter(path => !NAMES_CHANNELS.some(place => place.test(path))),
    [],
  )
})
