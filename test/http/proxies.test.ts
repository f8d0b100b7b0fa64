import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { createProxies, NO_PROXIES, type ProxyHeader } from '../../src/http/connections.ts'
import { watchRequests } from '../../src/http/metrics.ts'
import { listen } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { createMetrics } from '../../src/metrics/index.ts'
import { appOf, send } from './support.ts'

const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage

const addressBy = (header: ProxyHeader) => {
  const { originOf } = createProxies(['10.0.0.0/8', 'fd00::/8', '127.0.0.1/32'], header)
  return (remote: string, text?: string) => originOf(from(remote, text === undefined ? {} : { [header]: text })).address
}

test('the last address that no trusted proxy has is where a request comes from', () => {
  const address = addressBy('x-forwarded-for')
  for (const [remote, text, expected] of [
    ['203.0.113.7', undefined, '203.0.113.7'],
    // Whoever is no trusted proxy says what they like.
    ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['fd00::1', '2001:db8::1', '2001:db8::1'],
    ['10.1.2.3', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1, 10.9.9.9 ,127.0.0.1', '198.51.100.1'],
    ['10.1.2.3', '10.9.9.9', '10.9.9.9'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', 'unknown', '10.1.2.3'],
    ['10.1.2.3', '6.6.6.6, unknown, 10.0.0.9', '10.0.0.9'],
    ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['10.1.2.3', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', "' OR 1=1, <script>", '10.1.2.3'],
    ['', '198.51.100.1', ''],
  ] as const)
    assert.equal(address(remote, text), expected, `${remote} ${text}`)
})

test('Forwarded is read as proxies write it', () => {
  const address = addressBy('forwarded')
  for (const [text, expected] of [
    ['for=198.51.100.1', '198.51.100.1'],
    ['for=6.6.6.6, for=198.51.100.1;proto=https;by=10.0.0.1', '198.51.100.1'],
    ['proto=http; For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['for="198.51.100.1:80"', '198.51.100.1'],
    ['for=_hidden', '10.0.0.1'],
    ['proto=https', '10.0.0.1'],
    // A quote that somebody left open does not swallow what the proxy adds.
    ['for="6.6.6.6, for=198.51.100.1', '198.51.100.1'],
    ['', '10.0.0.1'],
  ])
    assert.equal(address('10.0.0.1', text), expected, text)
})

test('the header that proxies do not set is not believed', () => {
  const { originOf } = createProxies(['10.0.0.0/8'], 'x-forwarded-for')
  const unnamed = { address: '10.0.0.1', proxies: [], isNamed: false }
  assert.deepEqual(originOf(from('10.0.0.1', { forwarded: 'for=6.6.6.6' })), unnamed)
  const direct = { address: '127.0.0.1', proxies: [], isNamed: true }
  assert.deepEqual(NO_PROXIES.originOf(from('127.0.0.1', { 'x-forwarded-for': '6.6.6.6' })), direct)
})

test('a server logs and counts by the address behind a trusted proxy', async () => {
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const refused: (string | undefined)[] = []
  const app = appOf({
    accounts: {
      verify: () => undefined,
      refusals: { add: ({ address }) => void refused.push(address), close() {} },
    },
  })
  const server = await listen(app, {
    ...{ host: '127.0.0.1', port: 0, onRequest: watchRequests(createMetrics(), log) },
    proxies: createProxies(['127.0.0.1/32'], 'x-forwarded-for'),
  })
  after(() => server.close(0))
  const headers = { authorization: 'Bearer cs_bad', 'x-forwarded-for': '6.6.6.6, 198.51.100.1' }
  assert.equal((await send(`${server.url}/status`, { headers })).status, 401)
  assert.deepEqual(refused, ['198.51.100.1'])
  await new Promise(resolve => setTimeout(resolve, 20))
  assert.match(lines.join('\n'), / path=\/status address=198\.51\.100\.1 status=401 /)
})
