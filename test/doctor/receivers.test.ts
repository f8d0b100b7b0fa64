import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { checkMail, checkWebhooks } from '../../src/doctor/receivers.ts'
import { startReceiver } from '../support/receiver.ts'
import { addRules, configOf, linesOf, type Test, tempFolder } from './support.ts'

const never = new AbortController().signal

const mailServer = async (t: Test, options: SMTPServerOptions): Promise<number> => {
  let mails = 0
  const server = new SMTPServer({ closeTimeout: 50, onData: (_, __, done) => done(void mails++ as never), ...options })
  server.on('error', () => {})
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    await new Promise<void>(resolve => void server.close(resolve))
    assert.equal(mails, 0, 'no mail is sent')
  })
  return (server.server.address() as AddressInfo).port
}

const login: SMTPServerOptions = {
  onAuth: ({ username, password }, _, done) =>
    username === 'alice' && password === 'planted-password' ? done(null, { user: 'alice' }) : done(new Error('no')),
}

const mail = (t: Test, smtp: string) =>
  linesOf(checkMail(configOf({ data: tempFolder(t), smtp, deliveryTimeout: '2s' })))

test('a mail server is asked for TLS and for the credentials', async t => {
  const port = await mailServer(t, login)
  const secure = `127.0.0.1:${port}?tls.rejectUnauthorized=false`
  assert.deepEqual(await mail(t, `smtp://alice:planted-password@${secure}`), [
    'ok mail: takes a connection, encrypts it, and accepts the credentials, if any',
  ])
  const wrong = await mail(t, `smtp://alice:planted-other@${secure}`)
  assert.deepEqual(wrong, ['fail mail: the SMTP server refused the user name or the password'])
  const [untrusted] = await mail(t, `smtp://alice:planted-password@127.0.0.1:${port}`)
  assert.match(untrusted!, /^fail mail: the TLS certificate of the SMTP server has expired/)
})

test('a mail server without TLS is warned of, and one that is not there fails', async t => {
  const port = await mailServer(t, {
    ...login,
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
  })
  assert.match((await mail(t, `smtp://127.0.0.1:${port}`))[0]!, /^warn mail: .* does not encrypt it$/)
  assert.match((await mail(t, 'smtp://127.0.0.1:9'))[0]!, /^fail mail: the SMTP server refused the connection/)
  const silentPort = await new Promise<number>(resolve => {
    const server = createServer(socket => t.after(() => socket.destroy()))
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    t.after(() => server.close())
  })
  assert.match((await mail(t, `smtp://127.0.0.1:${silentPort}`))[0]!, /^fail mail: /)
})

test('without a mail server, rules that send email are told', async t => {
  const data = tempFolder(t)
  const config = configOf({ data })
  assert.deepEqual(await linesOf(checkMail(config)), ['ok mail: none is configured, and no rule sends email'])
  addRules(data, [{ type: 'Email', parameters: { recipients: ['a@example.org'] } }])
  assert.deepEqual(await linesOf(checkMail(config)), ['fail mail: none is configured, and rule 1 would send email'])
})

test('receivers are resolved, guarded and connected to, and nothing is sent to them', async t => {
  const data = tempFolder(t)
  const receiver = await startReceiver(t)
  const closed = createServer()
  closed.listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const post = (url: string) => ({ type: 'Webhook (POST)', parameters: { url } })
  addRules(data, [
    post(`${receiver.url}/planted-secret?token=planted`),
    { type: 'Chat', parameters: { url: `${receiver.url}/planted-chat`, text: '', channel: '', username: '' } },
    post(`http://127.0.0.1:${port}/`),
    post('https://no-such-name.invalid/planted'),
    post(`https://127.0.0.1:${new URL(receiver.url).port}/`),
  ])

  const guarded = await linesOf(checkWebhooks(configOf({ data }), never))
  assert.match(guarded[0]!, /^fail webhook: 127.0.0.1 is a loopback address: alerts are not sent there$/)

  const findings = []
  for await (const it of checkWebhooks(configOf({ data, allowTarget: ['127.0.0.0/8'], deliveryTimeout: '3s' }), never))
    findings.push(it)
  assert.deepEqual(
    findings.map(({ subject, state, found }) => `${state} ${subject}: ${found}`),
    [
      `ok ${receiver.url} (rules 1, 2): takes a connection`,
      `fail http://127.0.0.1:${port} (rule 3): 127.0.0.1 refused the connection`,
      'fail https://no-such-name.invalid (rule 4): no-such-name.invalid cannot be resolved',
      `fail https://127.0.0.1:${new URL(receiver.url).port} (rule 5): 127.0.0.1 failed in the TLS handshake`,
    ],
  )
  assert.doesNotMatch(JSON.stringify(findings), /planted/)
  assert.deepEqual(receiver.calls, [])
})

test('a folder without rules has no receivers', async t => {
  assert.deepEqual(await linesOf(checkWebhooks(configOf({ data: tempFolder(t) }), never)), [
    'ok webhook: no rule has one',
  ])
})
