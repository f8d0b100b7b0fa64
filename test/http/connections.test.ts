import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { originOf } from '../../src/http/connections.ts'
import { listen } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { appOf, send } from './support.ts'

const closers: (() => unknown)[] = []
after(() => Promise.all(closers.map(close => close())))

const start = async (limits: Partial<typeof DEFAULT_LIMITS>) => {
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const options = { host: '127.0.0.1', port: 0, limits: { ...DEFAULT_LIMITS, ...limits }, log }
  const server = await listen(appOf(), options)
  closers.push(() => server.close(0))
  return { server, lines }
}

const open = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  closers.push(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const readAll = async (socket: Socket): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('an address beyond its share is told why, and gets in again when it has closed one', async () => {
  const { server, lines } = await start({ connections: 8 })
  // This machine itself has three quarters.
  const sockets = await Promise.all(Array.from({ length: 6 }, () => open(server.port)))
  const answer = await readAll(await open(server.port))
  assert.match(answer, /^HTTP\/1.1 429 Too Many Requests\r\nconnection: close\r\n/)
  const { error, status } = JSON.parse(answer.split('\r\n\r\n')[1]!)
  assert.deepEqual([status, error.type], [429, 'es_rejected_execution_exception'])
  assert.match(error.reason, /^An address has more than 6 connections\. .* --limit connectionsByAddress=N\.$/)
  assert.match(
    lines.join('\n'),
    /^\S+ warn +Refused connections refused=1 connectionsByAddress=6 address="this machine"$/,
  )

  sockets[0]!.destroy()
  await once(sockets[0]!, 'close')
  await new Promise(resolve => setTimeout(resolve, 20))
  assert.equal((await send(`${server.url}/health`)).status, 200)
})

test('beyond all that there may be, connections are closed at once', async () => {
  const { server } = await start({ connections: 1 })
  const first = await open(server.port)
  const others = await Promise.all(Array.from({ length: 20 }, () => open(server.port)))
  assert.deepEqual(new Set(await Promise.all(others.map(readAll).map(it => it.catch(() => '')))), new Set(['']))
  assert.equal(first.closed, false)
})

test('an address of IPv6 is its first 64 bits', () => {
  for (const [address, origin] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['127.3.2.1', 'this machine'],
    ['::ffff:127.0.0.1', 'this machine'],
    ['::1', 'this machine'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])
    assert.equal(originOf(address!), origin)
})

test('headers that are too large are refused in the shape of all errors', async () => {
  const { server } = await start({ headers: 1_000 })
  const reply = await send(`${server.url}/health`, { headers: { 'x-long': 'x'.repeat(2_000) } })
  const { error, status } = JSON.parse(reply.text)
  assert.deepEqual([reply.status, status, error.type], [431, 431, 'too_long_http_header_exception'])
  assert.match(error.reason, /^A request has more than 1kB of headers\. /)
})
