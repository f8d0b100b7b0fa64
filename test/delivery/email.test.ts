import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import type { AlertMessage } from '../../src/delivery/channels/channel.ts'
import { createEmail } from '../../src/delivery/channels/email.ts'
import { renderMail } from '../../src/delivery/channels/mail.ts'
import { NO_LINKS } from '../../src/delivery/links.ts'
import { secret } from '../../src/lib/secret.ts'
import type { Action } from '../../src/rules/rule.ts'
import { makeContext, makeMessage } from '../support/delivery.ts'
import { startMailServer } from '../support/mail.ts'
import { CERTIFICATE, KEY } from './certificate.ts'

type Email = Extract<Action, { type: 'Email' }>

const FROM = 'Chainsieve <alerts@sieve.test>'
const CONTEXT = makeContext()
const email = (...recipients: string[]): Email => ({ type: 'Email', parameters: { recipients } })
const message = (n: number, more: Partial<AlertMessage> = {}) =>
  makeMessage({
    id: String(n).padStart(64, '0'),
    entity: { _id: `0xab_e_${n}`, _type: 'event', blockNumber: 12 },
    ...more,
  })

/** `answer` of an address: what the server says to it as a recipient, nothing where it takes it. */
const server = async (
  t: TestContext,
  options: SMTPServerOptions = {},
  answer: (address: string) => [number, string] | undefined = () => undefined,
) => {
  let connections = 0
  const started = await startMailServer(t, {
    cert: CERTIFICATE,
    key: KEY,
    onConnect: (_, callback) => {
      connections++
      callback()
    },
    onRcptTo: ({ address }, _, callback) => {
      const said = answer(address)
      callback(said && Object.assign(new Error(said[1]), { responseCode: said[0] }))
    },
    ...options,
  })
  return { ...started, connections: () => connections }
}

const channel = (
  t: TestContext,
  url: string | undefined,
  { mailFrom, timeoutMs }: { mailFrom: string | undefined; timeoutMs: number } = { mailFrom: FROM, timeoutMs: 5_000 },
) => {
  const made = createEmail({ smtp: url === undefined ? undefined : secret(url), mailFrom, timeoutMs, links: NO_LINKS })
  t.after(() => made.close())
  return made
}

test('a mail arrives as text and HTML, over one connection for several', async t => {
  const { mails, port, connections } = await server(t)
  const mail = channel(t, `smtp://127.0.0.1:${port}`)
  const action = email('a@x.test', 'b@x.test', 'a@x.test')
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await mail.send(action, [message(1)], CONTEXT), {
      type: 'delivered',
      status: 250,
      head: '250 queued',
    })
  assert.equal(connections(), 1)
  const [first, second] = mails
  assert.deepEqual(
    [first!.from, first!.to, first!.secure, first!.user],
    ['alerts@sieve.test', ['a@x.test', 'b@x.test'], false, undefined],
  )
  const { 'message-id': id, references, date, 'content-type': type, ...headers } = first!.headers
  assert.deepEqual(headers, {
    from: FROM,
    to: 'a@x.test, b@x.test',
    subject: 'Alert: Whales',
    'auto-submitted': 'auto-generated',
    'x-chainsieve-alert': message(1).id,
    'mime-version': '1.0',
  })
  assert.match(id!, /^<[\da-f]{40}@sieve\.test>$/)
  assert.match(type!, /^multipart\/alternative/)
  assert.ok(date && references)
  assert.match(first!.text, /event: Transfer/)
  assert.match(first!.text, /<td[^>]*>Transfer<\/td>/)
  // The same alert in every attempt; another mail for its retraction and for another action, in the same conversation.
  assert.equal(second!.headers['message-id'], id)
  await mail.send(action, [message(1, { type: 'alert.retracted' })], CONTEXT)
  await mail.send(email('a@x.test'), [message(1)], CONTEXT)
  const others = mails.slice(3).map(it => it.headers)
  assert.deepEqual(
    others.map(it => [it.subject, it.references]),
    [
      ['Retracted alert: Whales', references],
      ['Alert: Whales', references],
    ],
  )
  assert.equal(new Set([id, ...others.map(it => it['message-id'])]).size, 3)
})

test('several alerts are one mail; a hundred are told in full', async t => {
  const { mails, port } = await server(t)
  const mail = channel(t, `smtp://127.0.0.1:${port}`)
  const messages = Array.from({ length: 103 }, (_, n) => message(n, n === 5 ? { type: 'alert.retracted' } : {}))
  assert.equal((await mail.send(email('a@x.test'), messages, CONTEXT)).type, 'delivered')
  assert.equal(mails.length, 1)
  const headers = mails[0]!.headers
  assert.equal(headers.subject, '103 alerts, 1 retracted: Whales')
  assert.equal(
    headers['x-chainsieve-alert'],
    messages
      .slice(0, 100)
      .map(it => it.id)
      .join(' '),
  )
  const { text, html } = renderMail(email(), messages)
  for (const body of [text, html]) {
    assert.equal(body.split(': Event in block 12').length - 1, 100)
    assert.match(body, /… and 3 more alerts\./)
    assert.match(body, /0xab_e_99\b/)
    assert.doesNotMatch(body, /0xab_e_100\b/)
  }
  assert.equal(renderMail(email(), messages.slice(0, 2)).subject, '2 alerts: Whales')
})

test('neither a rule nor the chain can add a header, a recipient or markup', async t => {
  const { mails, port } = await server(t)
  const mail = channel(t, `smtp://127.0.0.1:${port}`)
  const evil = 'x\r\nBcc: evil@x.test\r\n\r\n<script>alert(1)</script>\u2028\u0000'
  const hostile = message(1, {
    rule: { id: 1, name: evil, version: null },
    id: `1\r\nX-Evil: 1`,
    network: evil,
    source: { [evil]: evil },
    entity: { _id: evil, _type: evil, blockNumber: 1 },
  })
  assert.equal((await mail.send(email('a@x.test'), [hostile], CONTEXT)).type, 'delivered')
  assert.deepEqual(mails[0]!.to, ['a@x.test'])
  assert.deepEqual(Object.keys(mails[0]!.headers).sort(), [
    'auto-submitted',
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'references',
    'subject',
    'to',
    'x-chainsieve-alert',
  ])
  assert.equal(mails[0]!.headers.subject, 'Alert: x Bcc: evil@x.test <script>alert(1)</script>')
  const { text, html } = renderMail(email(), [hostile])
  assert.doesNotMatch(html, /<script/)
  assert.match(html, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
  assert.doesNotMatch(text, /^Bcc/m)
  const bad = ['a@x.test\r\nRCPT TO:<evil@x.test>', 'b@x.test, evil@x.test', '<evil@x.test>', 'nobody', '']
  assert.deepEqual(await mail.send(email(...bad, 'c@x.test'), [message(2)], CONTEXT), {
    type: 'delivered',
    status: 250,
    head: '250 queued',
    error:
      'the SMTP server refused a@x.test RCPT TO:<evil@x.test>: no email address; b@x.test, evil@x.test: no email address; <evil@x.test>: no email address; nobody: no email address; : no email address',
  })
  assert.deepEqual(mails[1]!.to, ['c@x.test'])
  assert.equal((await mail.send(email('nobody'), [message(2)], CONTEXT)).type, 'refused')
})

test('without a server or a sender mails are refused, and it is said what is missing', async t => {
  const refused = {
    type: 'refused',
    why: 'SMTP is not configured: the operator has to set a server and a sender (settings smtp and mail-from); then redeliver',
  }
  for (const mail of [
    channel(t, undefined),
    channel(t, 'smtp://127.0.0.1:1', { mailFrom: undefined, timeoutMs: 5_000 }),
  ]) {
    assert.deepEqual(await mail.send(email('a@x.test'), [message(1)], CONTEXT), refused)
  }
})

test('STARTTLS is used where the server has it, and its certificate is checked', async t => {
  const { mails, port } = await server(t, { disabledCommands: [] })
  const trusting = channel(t, `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`)
  assert.equal((await trusting.send(email('a@x.test'), [message(1)], CONTEXT)).type, 'delivered')
  assert.equal(mails[0]!.secure, true)
  const outcome = await channel(t, `smtp://127.0.0.1:${port}`).send(email('a@x.test'), [message(1)], CONTEXT)
  assert.deepEqual(outcome, {
    type: 'retry',
    why: 'the TLS certificate of the SMTP server is self-signed',
    status: null,
    head: '',
  })
  assert.equal(mails.length, 1)
})

test('TLS from the first byte, with user and password', async t => {
  const { mails, port } = await server(t, {
    secure: true,
    authOptional: false,
    onAuth: ({ username, password }, _, callback) =>
      username === 'us@er' && password === 'p/w'
        ? callback(null, { user: username })
        : callback(new Error('no such user')),
  })
  const url = (pair: string) => `smtps://${pair}@127.0.0.1:${port}?tls.rejectUnauthorized=false`
  const right = channel(t, url('us%40er:p%2Fw'))
  assert.equal((await right.send(email('a@x.test'), [message(1)], CONTEXT)).type, 'delivered')
  assert.deepEqual(
    mails.map(it => [it.secure, it.user]),
    [[true, 'us@er']],
  )
  const wrong = channel(t, url('us%40er:wrong'))
  assert.deepEqual(await wrong.send(email('a@x.test'), [message(1)], CONTEXT), {
    type: 'retry',
    why: 'the SMTP server refused the user name or the password',
    status: 535,
    head: '',
  })
  const none = channel(t, `smtps://127.0.0.1:${port}?tls.rejectUnauthorized=false`)
  assert.deepEqual(await none.send(email('a@x.test'), [message(1)], CONTEXT), {
    type: 'retry',
    why: 'the SMTP server answered 530',
    status: 530,
    head: '530 Error: authentication Required',
  })
  assert.equal(right.destination(email('a@x.test')), `smtps://127.0.0.1:${port}`)
  assert.equal(right.shown(email('a@x.test', 'b\r@x.test')), 'a@x.test, b @x.test')
})

test('recipients that the server puts off are tried again alone, those that it refused are named', async t => {
  let greylist = true
  const { mails, port } = await server(t, {}, address => {
    if (address.startsWith('late') && greylist) return [451, 'greylisted']
    if (address.startsWith('no')) return [550, 'no such user']
    return address.startsWith('policy') ? [554, 'policy'] : undefined
  })
  const mail = channel(t, `smtp://127.0.0.1:${port}`)
  const send = (...recipients: string[]) => mail.send(email(...recipients), [message(1)], CONTEXT)
  assert.deepEqual(await send('a@x.test', 'late@x.test', 'no@x.test'), {
    type: 'retry',
    why: 'the SMTP server deferred late@x.test; 1 of 3 recipients have it',
    status: 451,
    head: '451 greylisted',
  })
  greylist = false
  assert.deepEqual(await send('a@x.test', 'late@x.test', 'no@x.test'), {
    type: 'delivered',
    status: 250,
    head: '250 queued',
    error: 'the SMTP server refused no@x.test: 550 no such user',
  })
  assert.deepEqual(
    mails.map(it => it.to),
    [['a@x.test'], ['late@x.test']],
  )
  assert.deepEqual(
    mails.map(it => it.headers.to),
    Array(2).fill('a@x.test, late@x.test, no@x.test'),
  )
  assert.equal(mails[0]!.headers['message-id'], mails[1]!.headers['message-id'])
  assert.deepEqual(await send('no@x.test'), {
    type: 'refused',
    why: 'the SMTP server refused no@x.test: 550 no such user',
  })
  assert.deepEqual(await send('policy@x.test'), {
    type: 'retry',
    why: 'the SMTP server deferred policy@x.test; 0 of 1 recipients have it',
    status: 554,
    head: '554 policy',
  })
  greylist = true
  assert.deepEqual(await send('late@x.test', 'later@x.test'), {
    type: 'retry',
    why: 'the SMTP server deferred late@x.test and 1 more; 0 of 2 recipients have it',
    status: 451,
    head: '451 greylisted',
  })
})

test('what the server says to the message as a whole', async t => {
  for (const code of [421, 452, 550, 554]) {
    const { port } = await server(t, {
      onData(stream, _, callback) {
        stream.resume().on('end', () => callback(Object.assign(new Error('sorry'), { responseCode: code })))
      },
    })
    const mail = channel(t, `smtp://127.0.0.1:${port}`)
    assert.deepEqual(await mail.send(email('a@x.test'), [message(1)], CONTEXT), {
      type: 'retry',
      why: `the SMTP server answered ${code}`,
      status: code,
      head: `${code} sorry`,
    })
  }
})

test('a server that hangs, is not there or hangs up costs one attempt', async t => {
  const quiet = createServer(() => {})
  const rude = createServer(socket => socket.destroy())
  for (const it of [quiet, rude]) {
    await new Promise<void>(resolve => it.listen(0, '127.0.0.1', resolve))
    t.after(() => void it.close())
  }
  const portOf = (it: typeof quiet) => (it.address() as AddressInfo).port
  const outcome = (port: number) =>
    channel(t, `smtp://us:hidden@127.0.0.1:${port}`, { mailFrom: FROM, timeoutMs: 400 }).send(
      email('a@x.test'),
      [message(1)],
      CONTEXT,
    )
  const hanging = await outcome(portOf(quiet))
  assert.ok(
    hanging.type === 'retry' && /took longer than 0.4 s|did not answer in time/.test(hanging.why),
    JSON.stringify(hanging),
  )
  for (const port of [portOf(rude), 1]) {
    const failed = await outcome(port)
    assert.equal(failed.type, 'retry')
    assert.doesNotMatch(JSON.stringify(failed), /hidden/)
  }
})
