import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AppServices } from '../../src/http/app.ts'
import { createProxies } from '../../src/http/connections.ts'
import { watchRequests } from '../../src/http/metrics.ts'
import { type HttpServer, listen } from '../../src/http/server.ts'
import type { Reason } from '../../src/ingest/status/readiness.ts'
import { createLog } from '../../src/lib/log.ts'
import { createMetrics, EXPOSITION_TYPE } from '../../src/metrics/index.ts'
import { bothOf, echo, MAINNET, send, TOKEN } from './support.ts'

const servers: HttpServer[] = []
after(() => Promise.all(servers.map(server => server.close(0))))

const start = async (services: Partial<AppServices> = {}) => {
  const { app, direct } = bothOf(services)
  const metrics = createMetrics()
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: true })
  const onRequest = watchRequests(metrics, log)
  const server = await listen(app, { host: '127.0.0.1', port: 0, direct, onRequest })
  servers.push(server)
  const logged = async (count: number) => {
    while (lines.length < count) await new Promise(resolve => setTimeout(resolve, 5))
    return lines.map(line => JSON.parse(line) as Record<string, unknown>)
  }
  return { url: server.url, metrics, logged }
}
const text = async () => '# nothing\n'
const none = { authorization: '' }

test('metrics are open to whom the operator says', async () => {
  const status = async (access: 'open' | 'local' | 'token', headers: Record<string, string>) => {
    const { url } = await start({ metrics: { text, access } })
    return (await send(`${url}/metrics`, { headers })).status
  }
  const bearer = { authorization: `Bearer ${TOKEN}` }
  assert.equal(await status('open', { 'x-forwarded-for': '1.2.3.4' }), 200)
  assert.equal(await status('local', {}), 200)
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])
    assert.equal(await status('local', { [header]: 'x' }), 401)
  assert.equal(await status('local', { 'x-forwarded-for': '1.2.3.4', ...bearer }), 200)
  assert.equal(await status('token', {}), 401)
  assert.equal(await status('token', { authorization: 'Bearer cs_bad' }), 401)
  assert.equal(await status('token', bearer), 200)
  const { url } = await start({ metrics: { text, access: 'open' } })
  const { headers, text: body } = await send(`${url}/metrics/`, { headers: none })
  assert.deepEqual([headers['content-type'], body], [EXPOSITION_TYPE, '# nothing\n'])
  assert.equal((await send(`${url}/metrics`, { method: 'POST' })).status, 405)
})

test('without a token, metrics are asked by a name of this machine: a page may reach it by its own (DNS rebinding)', async () => {
  const { url } = await start({ metrics: { text, access: 'local' } })
  const { port } = new URL(url)
  const ask = (host: string, more: Record<string, string> = {}) =>
    send(`${url}/metrics`, { headers: { host, ...more } })
  for (const host of [
    'localhost',
    `localhost:${port}`,
    'LOCALHOST:1',
    `127.0.0.1:${port}`,
    '127.1.2.3',
    '[::1]:8640',
    '[::1]',
  ])
    assert.equal((await ask(host)).status, 200, host)
  const others = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ]
  for (const host of [...others, '127.0.0.1@evil.example', 'x127.0.0.1', '[::2]'])
    assert.notEqual((await ask(host)).status, 200, host)
  const { reason } = JSON.parse((await ask('evil.example')).text).error
  assert.match(
    reason,
    /the header Host is \[evil\.example\]: ask one of these, or send a token with the scope \[admin\]/,
  )
  assert.equal((await ask('evil.example', { authorization: `Bearer ${TOKEN}` })).status, 200)
  const open = await start({ metrics: { text, access: 'open' } })
  assert.equal((await send(`${open.url}/metrics`, { headers: { host: 'evil.example' } })).status, 200)
})

test('behind a trusted proxy, metrics are open to clients on this machine that it names', async () => {
  const ask = async (trusted: readonly string[], headers: Record<string, string>) => {
    const { app, direct } = bothOf({ metrics: { text, access: 'local' } })
    const proxies = createProxies(trusted, 'x-forwarded-for')
    const server = await listen(app, { host: '127.0.0.1', port: 0, direct, proxies })
    servers.push(server)
    return send(`${server.url}/metrics`, { headers })
  }
  const status = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status
  const loopback = ['127.0.0.0/8']
  assert.equal(await status(loopback, { 'x-forwarded-for': '203.0.113.7' }), 401)
  assert.equal(await status(loopback, { 'x-forwarded-for': '127.0.0.1, 203.0.113.7' }), 401)
  assert.equal(await status(loopback, { 'x-forwarded-for': '127.0.0.1', via: '1.1 proxy' }), 200)
  assert.equal(await status(loopback, { 'x-forwarded-for': '::1' }), 200)
  // Whoever sits in a range that is trusted too generously writes what they like.
  assert.equal(await status([...loopback, '10.0.0.0/8'], { 'x-forwarded-for': '127.0.0.1, 10.5.5.5' }), 401)
  for (const headers of [
    {},
    { 'x-forwarded-for': '' },
    { 'x-forwarded-for': 'unknown' },
    { forwarded: 'for=127.0.0.1' },
  ])
    assert.equal(await status(loopback, headers as Record<string, string>), 401, JSON.stringify(headers))
  const reason =
    '127.0.0.1 is the address of a trusted proxy (--trust-proxy), and the request names no client in the header of ' +
    '--proxy-header: let the proxy set it, or send a token with the scope [admin], which the operator of this server ' +
    'creates with: chainsieve token create --account NAME --scope admin'
  assert.equal(JSON.parse((await ask(loopback, {})).text).error.reason, reason)
  assert.equal(await status(loopback, { authorization: `Bearer ${TOKEN}` }), 200)
  assert.match((await ask(loopback, { authorization: 'Bearer cs_bad' })).text, /The token is not valid/)
  // A proxy elsewhere is not this one, whatever it says.
  assert.equal(await status(['10.0.0.0/8'], {}), 200)
  assert.equal(await status(['10.0.0.0/8'], { 'x-forwarded-for': '127.0.0.1' }), 401)
})

test('a server is ready where there is no reason against it', async () => {
  let reasons: Reason[] = []
  const { url } = await start({ status: () => ({ version: '0', networks: [], reasons }) })
  const ready = await send(`${url}/ready`, { headers: {} })
  assert.deepEqual([ready.status, JSON.parse(ready.text)], [200, { status: 'ready', reasons: [], warnings: [] }])
  reasons = [{ type: 'no_new_block', network: MAINNET, since: '2026-03-01T00:00:00Z', reason: 'why' }]
  const not = await send(`${url}/ready/`, { headers: {} })
  assert.deepEqual([not.status, JSON.parse(not.text)], [503, { status: 'not ready', reasons, warnings: [] }])
  assert.equal((await send(`${url}/health`, { headers: {} })).status, 200)
})

test('a request has an id, the client’s own where it is a clean one, on every way to an answer', async () => {
  const search: typeof echo.search = async asking =>
    asking.entities === 'tx' ? Promise.reject(new Error('a bug')) : echo.search(asking)
  const { url } = await start({ search: { ...echo, search } })
  const ways = [
    { path: `/${MAINNET}/es/block/search/`, method: 'POST', body: '{}' },
    { path: `/${MAINNET}/es/block/search/`, method: 'POST', body: ' '.repeat(2_000) },
    { path: `/${MAINNET}/es/tx/search/`, method: 'POST', body: '{}' },
    { path: '/status', method: 'GET' },
    { path: '/nothing', method: 'GET' },
    { path: '/health', method: 'GET' },
  ]
  for (const { path, ...request } of ways) {
    const authorization = `Bearer ${TOKEN}`
    const idOf = async (given: Record<string, string>) =>
      (await send(url + path, { ...request, headers: { authorization, ...given } })).headers['x-request-id'] as string
    assert.equal(await idOf({ 'x-request-id': 'trace/1:2.3' }), 'trace/1:2.3', path)
    const made = await idOf({})
    assert.match(made, /^[\da-f]{8}-[\da-f-]{27}$/, path)
    assert.notEqual(await idOf({}), made)
    for (const bad of ['two words', 'x'.repeat(129), '{"a":1}', 'ä'])
      assert.match(await idOf({ 'x-request-id': bad }), /^[\da-f]{8}-[\da-f-]{27}$/, path)
  }
})

test('requests are counted, and logged without what a URL may hide', async () => {
  const { url, metrics, logged } = await start()
  const body = '{}'
  await send(`${url}/${MAINNET}/es/tx/search/`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${TOKEN}`, 'x-request-id': 'r1' },
  })
  await send(`${url}/${MAINNET}/es/tx/0xab?access_token=${TOKEN}`, { headers: { 'x-request-id': 'r2' } })
  await send(`${url}/status?access_token=cs_secret-secret`, { headers: { 'x-request-id': 'r3' } })
  const lines = await logged(3)
  assert.deepEqual(
    lines.map(({ time: _, ms, ...line }) => ({ ...line, ms: typeof ms })),
    [
      { account: 'alice', method: 'POST', path: `/${MAINNET}/es/tx/search/`, request: 'r1', status: 200 },
      { account: 'alice', method: 'GET', path: `/${MAINNET}/es/tx/0xab`, request: 'r2', status: 200 },
      { method: 'GET', path: '/status', request: 'r3', status: 401 },
    ].map(line => ({ ...line, level: 'info', message: 'Answered a request', address: '127.0.0.1', ms: 'number' })),
  )
  const [requests] = metrics.snapshot()
  assert.deepEqual(
    requests?.series.map(one => [one.labels.code, 'value' in one && one.value]),
    [
      ['200', 2],
      ['401', 1],
    ],
  )
})
