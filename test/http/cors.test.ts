import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createCors } from '../../src/http/connections.ts'
import { type HttpServer, listen } from '../../src/http/server.ts'
import { bothOf, MAINNET, send, TOKEN } from './support.ts'

const servers: HttpServer[] = []
after(() => Promise.all(servers.map(server => server.close(0))))

const start = async (origins: string[]) => {
  const { app, direct } = bothOf()
  const server = await listen(app, { direct, host: '127.0.0.1', port: 0, cors: createCors(origins) })
  servers.push(server)
  return `${server.url}/${MAINNET}/es/tx/search/`
}

const ORIGIN = 'https://app.example'
const preflight = (url: string, origin = ORIGIN) =>
  send(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  })
const ask = (url: string, headers: Record<string, string>, body = '{}') =>
  send(url, { method: 'POST', body, headers: { authorization: `Bearer ${TOKEN}`, ...headers } })

test('a preflight is answered without a token, for origins that may ask', async () => {
  const url = await start([ORIGIN, 'http://localhost:3000'])
  const { status, headers, text } = await preflight(url)
  assert.deepEqual([status, text], [204, ''])
  assert.equal(headers['access-control-allow-origin'], ORIGIN)
  assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, PUT, DELETE')
  assert.match(String(headers['access-control-allow-headers']), /^authorization, content-type, /)
  assert.equal(headers.vary, 'origin')
  assert.equal(headers['access-control-allow-credentials'], undefined)
  for (const origin of ['https://evil.example', 'https://app.example.evil', 'null', 'https://app.example:444']) {
    const reply = await preflight(url, origin)
    assert.equal(reply.status, 403, origin)
    assert.equal(reply.headers['access-control-allow-origin'], undefined)
    assert.match(JSON.parse(reply.text).error.reason, /--cors-origin/)
  }
})

test('an answer says that a page may read it: a direct one, one by the app, and an error', async () => {
  const url = await start([ORIGIN])
  for (const [path, headers, status] of [
    [url, {}, 200],
    [`${url}?pretty`, {}, 200],
    [url, { authorization: 'Bearer cs_bad' }, 401],
    [url, { 'content-type': 'x', expect: '100-continue' }, 200],
  ] as const) {
    const reply = await ask(path, { origin: ORIGIN, ...headers })
    assert.equal(reply.status, status)
    assert.equal(reply.headers['access-control-allow-origin'], ORIGIN)
    assert.match(String(reply.headers['access-control-expose-headers']), /ratelimit/)
    assert.equal(reply.headers.vary, 'origin')
    assert.ok(reply.headers['x-request-id'])
    const other = await ask(path, { origin: 'https://evil.example', ...headers })
    assert.deepEqual([other.status, other.headers['access-control-allow-origin']], [status, undefined])
    assert.equal((await ask(path, headers)).headers['access-control-allow-origin'], undefined)
  }
})

test('all origins may be allowed', async () => {
  const url = await start(['*'])
  assert.equal((await preflight(url, 'null')).headers['access-control-allow-origin'], '*')
  const { status, headers } = await ask(url, { origin: 'https://any.example' })
  assert.deepEqual([status, headers['access-control-allow-origin'], headers.vary], [200, '*', undefined])
})

test('without origins nothing is said, and OPTIONS is a method as others are', async () => {
  assert.equal(createCors([]), undefined)
  const url = await start([])
  const { headers } = await ask(url, { origin: ORIGIN })
  assert.equal(headers['access-control-allow-origin'], undefined)
  assert.equal((await preflight(url)).status, 401)
  // One that is no preflight goes to the app also where there are origins.
  const allowed = await start([ORIGIN])
  assert.equal((await send(allowed, { method: 'OPTIONS', headers: { origin: ORIGIN } })).status, 401)
})
