import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { Channel, SendOutcome } from '../../src/delivery/channels/channel.ts'
import { createHttpTransport, type HttpOptions } from '../../src/delivery/http.ts'
import { createGuard } from '../../src/delivery/ssrf-guard.ts'
import { createLog } from '../../src/lib/log.ts'
import { version } from '../../src/lib/runtime.ts'
import { readSource } from '../../src/rules/notify/values.ts'
import type { Action } from '../../src/rules/rule.ts'
import { makeContext, makeMessage, openChannels } from '../support/delivery.ts'
import { CERTIFICATE, KEY } from './certificate.ts'

const SECRETS = ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'c2Vjb25kIHNlY3JldCBvZiB0aGUgcm90YXRpb24='].map(
  it => `whsec_${it}`,
)
const NEVER = new AbortController().signal

const MESSAGE = makeMessage({
  rule: { id: 7, name: 'Größe "x"', version: null },
  source: readSource(
    '{"event":"Transfer","transactionHash":"0xab","blockNumber":{"num":18446744073709551615,"raw":"0xffffffffffffffff"}}',
  ),
})

const BODY =
  `{"id":"${MESSAGE.id}","type":"alert.confirmed","timestamp":"2026-01-02T03:04:05.678Z","rule":{"id":7,"name":"Größe \\"x\\"","version":null},` +
  '"network":"ethereum/ethereum/mainnet","targetType":"Event","confirmations":3,"entity":{"_id":"0xab_e_1","_type":"event"},"payload":'

const listen = async (t: TestContext, server: Server | TcpServer): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const receiver = async (t: TestContext, answer: RequestListener = (_, response) => response.end('ok')) => {
  const requests: { request: IncomingMessage; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request
      .setEncoding('utf8')
      .on('data', chunk => {
        body += chunk
      })
      .on('end', () => {
        requests.push({ request, body })
        answer(request, response)
      })
  })
  return { requests, url: `http://127.0.0.1:${await listen(t, server)}` }
}

const http = (t: TestContext, options: Partial<HttpOptions> = {}) => {
  const made = createHttpTransport({ guard: createGuard(['127.0.0.0/8']), timeoutMs: 5_000, ...options })
  t.after(() => made.close())
  return (url: string, signal = NEVER) =>
    made.attempt({ method: 'GET', url: new URL(url), headers: {} }, { account: 7, signal, now: 0 })
}

const post = (url: string, payload?: Action['payload']): Action => ({
  type: 'Webhook (POST)',
  parameters: { url },
  ...(payload && { payload }),
})
const send = (channel: Channel, action: Action, more: { secrets?: string[]; now?: number } = {}) =>
  channel.send(action, [MESSAGE], makeContext({ secrets: SECRETS.slice(0, 1), now: Date.now(), ...more }))
const headersOf = (request: IncomingMessage) => request.headers as Record<string, string>

test('a POST carries the alert, signed so that the official library takes it', async t => {
  const { requests, url } = await receiver(t)
  const action = post(`${url}/hook`, [
    { fieldType: 'Sub Field', fieldName: 'blockNumber', subPayloads: [{ fieldType: 'Field', fieldName: 'num' }] },
  ])
  const now = Date.now()
  assert.deepEqual(await send(openChannels(t).of(action), action, { now }), {
    type: 'delivered',
    status: 200,
    head: 'ok',
  })
  const { request, body } = requests[0]!
  assert.equal(body, `${BODY}{"blockNumber":{"num":18446744073709551615}}}`)
  assert.deepEqual([request.method, request.url], ['POST', '/hook'])
  const { 'webhook-signature': signature, host, ...headers } = headersOf(request)
  assert.deepEqual(headers, {
    'content-type': 'application/json',
    'user-agent': `Chainsieve/${version}`,
    'accept-encoding': 'identity',
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-type': 'alert.confirmed',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'keep-alive',
  })
  assert.match(signature!, /^v1,[\w+/]{43}=$/)
  assert.equal(host, new URL(url).host)
  new Webhook(SECRETS[0]!).verify(body, headersOf(request))
  assert.throws(() => new Webhook(SECRETS[1]!).verify(body, headersOf(request)), /No matching signature/)
  assert.throws(() => new Webhook(SECRETS[0]!).verify(`${body} `, headersOf(request)), /No matching signature/)
})

test('repeats of an alert have its id, and are told apart by their webhook-id, which is signed', async t => {
  const { requests, url } = await receiver(t)
  const action = post(url)
  const channel = openChannels(t).of(action)
  const when = { ...{ key: {}, conditions: [], matches: 0, entities: [], late: false as const } }
  for (const repeat of [20, 30]) {
    const window = { fromBlock: 11, toBlock: repeat, blocks: 9 }
    const message = { ...MESSAGE, type: 'alert.repeated' as const, repeat, when: { ...when, window } }
    await channel.send(action, [message], makeContext({ secrets: SECRETS.slice(0, 1), now: Date.now() }))
  }
  for (const [i, repeat] of [20, 30].entries()) {
    const { request, body } = requests[i]!
    assert.equal(headersOf(request)['webhook-id'], `${MESSAGE.id}_${repeat}`)
    new Webhook(SECRETS[0]!).verify(body, headersOf(request))
    const { id, type, when } = JSON.parse(body) as typeof MESSAGE
    assert.deepEqual([id, type, when!.window.toBlock], [MESSAGE.id, 'alert.repeated', repeat])
  }
})

test('during a rotation both secrets verify; every attempt has its own time and the same body', async t => {
  const { requests, url } = await receiver(t)
  const action = post(url)
  const channel = openChannels(t).of(action)
  const now = Date.now()
  for (const at of [now - 60_000, now]) await send(channel, action, { secrets: SECRETS, now: at })
  const [first, second] = requests
  assert.equal(first!.body, second!.body)
  assert.equal(first!.body, `${BODY}${JSON.stringify(MESSAGE.source)}}`)
  assert.deepEqual(
    requests.map(it => Number(headersOf(it.request)['webhook-timestamp'])),
    [now - 60_000, now].map(it => Math.floor(it / 1000)),
  )
  for (const { request, body } of requests)
    for (const secret of SECRETS) new Webhook(secret).verify(body, headersOf(request))
  assert.throws(
    () => new Webhook('whsec_d3Jvbmc=').verify(first!.body, headersOf(first!.request)),
    /No matching signature/,
  )
})

test('a GET carries the same headers over an empty body, and its tokens are filled', async t => {
  const { requests, url } = await receiver(t)
  const action: Action = { type: 'Webhook (GET)', parameters: { url: `${url}/tx/{transactionHash}?b={blockNumber}` } }
  assert.equal((await send(openChannels(t).of(action), action)).type, 'delivered')
  const { request, body } = requests[0]!
  assert.deepEqual([request.method, request.url, body], ['GET', '/tx/0xab?b=18446744073709551615', ''])
  assert.equal(request.headers['webhook-type'], 'alert.confirmed')
  new Webhook(SECRETS[0]!).verify('', headersOf(request))
})

test('what a status means', async t => {
  const { url } = await receiver(t, (request, response) => {
    const [, status, retryAfter] = request.url!.split('/')
    response.writeHead(Number(status), {
      location: 'http://127.0.0.1:1/',
      ...(retryAfter && { 'retry-after': retryAfter }),
    })
    response.end(status === '204' ? undefined : 'why')
  })
  const channel = openChannels(t).of(post(url))
  const outcome = (path: string) => send(channel, post(`${url}/${path}`))
  assert.deepEqual(await outcome('204'), { type: 'delivered', status: 204, head: '' })
  assert.deepEqual(await outcome('299'), { type: 'delivered', status: 299, head: 'why' })
  assert.deepEqual(await outcome('410'), {
    type: 'gone',
    why: 'it answered 410: it wants no more messages',
    status: 410,
    head: 'why',
  })
  for (const status of [301, 302, 303, 307, 308]) {
    assert.deepEqual(await outcome(String(status)), {
      type: 'retry',
      why: `it answered ${status}: redirects are not followed, use the final address`,
      status,
      head: 'why',
    })
  }
  for (const status of [400, 401, 404, 408, 500, 502])
    assert.deepEqual(await outcome(String(status)), {
      type: 'retry',
      why: `it answered ${status}`,
      status,
      head: 'why',
    })
  assert.deepEqual(await outcome('429/7'), {
    type: 'retry',
    why: 'it answered 429',
    status: 429,
    head: 'why',
    retryAfterMs: 7_000,
  })
  assert.deepEqual(await outcome('503/soon'), { type: 'retry', why: 'it answered 503', status: 503, head: 'why' })
})

test('of the answer a readable beginning is kept, and no more than 64 kB are read', async t => {
  let written = 0
  const { url } = await receiver(t, (request, response) => {
    if (request.url === '/text') return response.end(`a\u001b[31m\r\n\u202eb${'😀'.repeat(600)}`)
    if (request.url === '/bytes') return response.end(Buffer.from([0xff, 0x00, 0x41]))
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(16 << 10))) written += 16 << 10
    }
    response.on('drain', more)
    more()
  })
  const attempt = http(t)
  assert.deepEqual(await attempt(`${url}/text`), {
    type: 'delivered',
    status: 200,
    head: `a[31m b${'😀'.repeat(496)}…`,
  })
  assert.deepEqual(await attempt(`${url}/bytes`), { type: 'delivered', status: 200, head: '\ufffdA' })
  assert.deepEqual(await attempt(`${url}/endless`), { type: 'delivered', status: 200, head: `${'x'.repeat(999)}…` })
  assert.ok(written < 100 << 20)
})

test('receivers that hang, drip, break off or talk nonsense are tried again', async t => {
  const { url } = await receiver(t, (request, response) => {
    if (request.url === '/hang') return
    if (request.url === '/reset') return response.destroy()
    if (request.url === '/headers') return response.writeHead(200, { 'x-long': 'x'.repeat(20 << 10) }).end()
    response.writeHead(Number(request.url!.slice(1)))
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  })
  const host = '127.0.0.1'
  const retry = (why: string): SendOutcome => ({ type: 'retry', why, status: null, head: '' })
  const attempt = http(t, { timeoutMs: 300 })
  assert.deepEqual(await attempt(`${url}/hang`), retry('it did not answer within 0.3 s'))
  assert.deepEqual(await attempt(`${url}/reset`), retry(`${host} closed the connection before it answered`))
  assert.deepEqual(await attempt(`${url}/headers`), retry(`the headers of the answer of ${host} are too large`))
  // The status is known, whatever becomes of the rest.
  const dripping = await attempt(`${url}/200`)
  assert.deepEqual({ ...dripping, head: '' }, { type: 'delivered', status: 200, head: '' })
  const failing = await attempt(`${url}/500`)
  assert.deepEqual({ ...failing, head: '' }, { type: 'retry', why: 'it answered 500', status: 500, head: '' })

  const port = await listen(
    t,
    createTcpServer(socket => socket.on('error', () => {}).end('SSH-2.0-hello\r\n')),
  )
  assert.deepEqual(await attempt(`http://${host}:${port}/`), retry(`the answer of ${host} is not HTTP`))
  assert.deepEqual(await attempt(`https://${host}:${port}/`), retry(`${host} failed in the TLS handshake`))
  const closed = createTcpServer()
  const free = await listen(t, closed)
  await new Promise(resolve => closed.close(resolve))
  assert.deepEqual(await attempt(`http://${host}:${free}/?key=hidden`), retry(`${host} refused the connection`))
  const gone = http(t, { lookup: async () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) })
  assert.deepEqual(await gone('http://receiver.test/'), retry('receiver.test cannot be resolved'))
  const none = http(t, { lookup: async () => [] })
  assert.deepEqual(await none('http://receiver.test/'), retry('receiver.test cannot be resolved'))
})

test('inward addresses are refused before a connection, in every spelling', async t => {
  let connections = 0
  const port = await listen(
    t,
    createTcpServer(socket => {
      connections++
      socket.destroy()
    }),
  )
  const attempt = http(t, { guard: createGuard([]) })
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'a.localhost',
  ]) {
    const outcome = await attempt(`http://${host}:${port}/`)
    assert.equal(outcome.type, host === 'a.localhost' && outcome.type === 'retry' ? 'retry' : 'refused', host)
  }
  assert.deepEqual(await attempt('http://169.254.169.254/latest/meta-data/'), {
    type: 'refused',
    why: '169.254.169.254 is a link-local address: the operator has to allow this range (--allow-target)',
  })
  assert.equal(connections, 0)
})

test('a name is resolved once, all its addresses are checked, and the connection goes to those', async t => {
  const { requests, url } = await receiver(t)
  const port = new URL(url).port
  const rebinding = (...answers: string[][]) => {
    let asked = 0
    const lookup = async () =>
      answers[Math.min(asked++, answers.length - 1)]!.map(address => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }))
    return { lookup, asked: () => asked }
  }
  // 127.0.0.2 stands for a public address, 127.0.0.1, where the receiver listens, for an inward one.
  const guard = createGuard(['127.0.0.2'])
  const first = rebinding(['127.0.0.2'], ['127.0.0.1'])
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const attempt = http(t, { guard, lookup: first.lookup, log })
  const outcome = await attempt(`http://receiver.test:${port}/`)
  assert.deepEqual(outcome, { type: 'retry', why: 'receiver.test refused the connection', status: null, head: '' })
  assert.equal(first.asked(), 1)
  // The next attempt asks again, and now it is told.
  const why =
    'receiver.test resolves to an address that is not allowed: the operator has to allow this range (--allow-target)'
  assert.deepEqual(await attempt(`http://receiver.test:${port}/`), { type: 'refused', why })
  // Where a name leads is for the operator alone, who hears it once.
  await attempt(`http://receiver.test:${port}/`)
  assert.deepEqual(
    lines.map(line => line.slice(25)),
    ['warn  Refused a target of a rule host=receiver.test address=127.0.0.1 why="a loopback address"'],
  )
  for (const answer of [
    ['127.0.0.2', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.2'],
  ])
    assert.deepEqual(await http(t, { guard, lookup: rebinding(answer).lookup })(`http://receiver.test:${port}/`), {
      type: 'refused',
      why,
    })
  assert.equal(
    (await http(t, { guard, lookup: rebinding(['::ffff:127.0.0.1']).lookup })(`http://receiver.test:${port}/`)).type,
    'refused',
  )
  assert.equal(requests.length, 0)

  const pinned = rebinding(['127.0.0.1'])
  const allowed = http(t, { lookup: pinned.lookup })
  for (let i = 0; i < 10; i++) assert.equal((await allowed(`http://receiver.test:${port}/`)).type, 'delivered')
  assert.equal(requests[9]!.request.headers.host, `receiver.test:${port}`)
  // Connections are kept for what follows.
  assert.ok(pinned.asked() <= 2)
})

test('TLS is verified, for the name in the URL', async t => {
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (_, response) => response.end('ok'))
  const port = await listen(t, server)
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const trusting = http(t, { lookup, ca: CERTIFICATE })
  assert.deepEqual(await trusting(`https://receiver.test:${port}/`), { type: 'delivered', status: 200, head: 'ok' })
  const distrusted = (host: string, why: string) => ({
    type: 'retry',
    why: `the TLS certificate of ${host} is ${why}`,
    status: null,
    head: '',
  })
  assert.deepEqual(await trusting(`https://other.test:${port}/`), distrusted('other.test', 'for another name'))
  assert.deepEqual(
    await http(t, { lookup })(`https://receiver.test:${port}/`),
    distrusted('receiver.test', 'self-signed'),
  )
})

test('credentials of the URL are sent to its receiver, and shown to nobody', async t => {
  const { requests, url } = await receiver(t)
  const action = post(`${url.replace('//', '//us%40er:p%2fw@')}/a?key=hidden`)
  const channel = openChannels(t).of(action)
  await send(channel, action)
  assert.equal(requests[0]!.request.headers.authorization, `Basic ${Buffer.from('us@er:p/w').toString('base64')}`)
  assert.equal(channel.shown(action), `${url}/a?key=[secret]`)
})

test('targets as they are shown, and what is isolated from what', t => {
  const all = openChannels(t)
  const shown = (url: string) => all.of(post(url)).shown(post(url))
  assert.equal(
    shown('https://x.org/tx/{transactionHash}?a={args.value}&b=c#d'),
    'https://x.org/tx/{transactionHash}?a={args.value}&b=[secret]',
  )
  assert.equal(shown('https://u:p@x.org:8443/hooks/0123456789abcdef'), 'https://x.org:8443/hooks/[secret]')
  assert.equal(shown('https://x.org'), 'https://x.org/')
  assert.equal(shown('no url: secret'), '[secret]')
  const chat: Action = {
    type: 'Chat',
    parameters: { url: 'https://hooks.slack.com/services/T0/B0/x', text: '', channel: '', username: '' },
  }
  assert.equal(all.of(chat).shown(chat), 'https://hooks.slack.com/[secret]')
  const destination = (url: string) => all.of(post(url)).destination(post(url))
  assert.equal(new URL(destination('https://x.org/a')).origin, 'https://x.org')
  assert.equal(
    destination('https://x.org/a'),
    all.of(chat).destination({ ...chat, parameters: { ...chat.parameters, url: 'https://x.org/a' } }),
  )
  assert.notEqual(destination('https://x.org/a'), destination('https://x.org/b'))
  assert.match(destination('none'), /^invalid:/)
})

test('a URL that cannot be called is refused', async t => {
  const refused = async (action: Action) => send(openChannels(t).of(action), action)
  assert.deepEqual(await refused(post('https://{event}.org/')), {
    type: 'refused',
    why: 'its URL has a token before the path: only path and query may have tokens',
  })
  assert.deepEqual(await refused(post('file:///etc/passwd')), {
    type: 'refused',
    why: 'its URL is neither http nor https',
  })
  const chat: Action = { type: 'Chat', parameters: { url: 'x', text: '', channel: '', username: '' } }
  assert.deepEqual(await refused(chat), { type: 'refused', why: 'its URL is neither http nor https' })
})
