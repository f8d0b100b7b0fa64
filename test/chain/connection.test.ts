import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TOO_LARGE } from '../../src/chain/rpc/answer-body.ts'
import { type Connection, openConnection, type Reading } from '../../src/chain/rpc/connection.ts'
import type { ChainEvent } from '../../src/chain/source.ts'
import { createLog } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { never, rangeOf, sourceOf } from '../support/chain-source.ts'
import { type FakeNode, frame, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const chain = makeChain({ from: 0, blocks: 40 })

const reading = (more: Partial<Reading> = {}): Reading => ({
  ...{ most: 1 << 20, hold: { take: async () => {} }, signal: never },
  ...more,
})

/** A server of either kind that lets the test write bytes. */
const serve = async (t: TestContext, kind: 'ipc' | 'ws') => {
  const sockets: Socket[] = []
  const told: Buffer[] = []
  const take = (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', data => told.push(data))
    socket.on('end', () => socket.end())
  }
  let server: Server
  let url: URL
  if (kind === 'ipc') {
    const path = join(tmpdir(), `chainsieve ${randomUUID()}.ipc`)
    server = createServer(take)
    await new Promise<void>(resolve => server.listen(path, resolve))
    url = new URL(`ipc://${encodeURI(path)}`)
  } else {
    server = createHttpServer().on('upgrade', (request, socket: Socket) => {
      const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
      const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      take(socket)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const open = async (): Promise<{ connection: Connection; socket: Socket }> => {
    const before = sockets.length
    const connection = await openConnection(url, never)
    t.after(() => connection.close())
    while (sockets.length === before) await sleep(2)
    return { connection, socket: sockets.at(-1)! }
  }
  return { url, open, told }
}

const HARD = ['{}', '[{"a":"]}\\"\\\\"},["{"]]', '{"é":"\\u0022","b":{"c":[1,2]}}', `["${'x'.repeat(200)}"]`]

test('messages come whole, however their bytes arrive', async t => {
  for (const kind of ['ipc', 'ws'] as const) {
    const { open } = await serve(t, kind)
    const { connection, socket } = await open()
    socket.setNoDelay()
    const wrap = (text: string) => (kind === 'ws' ? frame(text) : Buffer.from(`${text}\n`))
    const all = Buffer.concat(HARD.map(wrap))
    // As the client reads them: bytes of one write may still come together.
    const writing = (async () => {
      for (let at = 0; at < all.length; at += 7) {
        socket.write(all.subarray(at, at + 7))
        await sleep(1)
      }
    })()
    for (const text of HARD) assert.equal((await connection.next(reading())).toString(), text, kind)
    await writing
    socket.write(all)
    for (const text of HARD) assert.equal((await connection.next(reading())).toString(), text, kind)
  }
})

test('what is sent arrives, short and long', async t => {
  for (const kind of ['ipc', 'ws'] as const) {
    const node = await startNode(t, chain)
    const connection = await openConnection(new URL(kind === 'ws' ? node.wsUrl : node.ipcUrl), never)
    t.after(() => connection.close())
    for (const length of [1, 125, 126, 50_000]) {
      connection.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: ['x'.repeat(length)] }))
      assert.match((await connection.next(reading())).toString(), /"0x7a69"/)
      assert.equal((node.calls.at(-1)!.params[0] as string).length, length, kind)
    }
  }
  const { open, told } = await serve(t, 'ws')
  const { connection } = await open()
  connection.send('x'.repeat(70_000))
  while (Buffer.concat(told).length < 70_014) await sleep(2)
  const sent = Buffer.concat(told)
  assert.deepEqual([sent[0], sent[1], sent.readBigUInt64BE(2), sent.length], [0x81, 0xff, 70_000n, 70_014])
})

test('pings are answered, and a goodbye is told', async t => {
  const { open, told } = await serve(t, 'ws')
  const { connection, socket } = await open()
  socket.write(Buffer.concat([Buffer.from([0x89, 2, 104, 105]), frame('{}')]))
  await connection.next(reading())
  while (told.length === 0) await sleep(2)
  const [pong] = told
  assert.deepEqual([pong![0], pong![1]! & 0x7f], [0x8a, 2])
  assert.equal(String.fromCharCode(pong![6]! ^ pong![2]!, pong![7]! ^ pong![3]!), 'hi')
  socket.write(Buffer.from([0x88, 5, 0x03, 0xf1, 98, 121, 101]))
  await assert.rejects(connection.next(reading()), /the connection was closed \(1009: bye\)/)
})

test('what breaks the protocol ends the connection', async t => {
  const bad: [kind: 'ipc' | 'ws', bytes: number[], what: RegExp][] = [
    ['ws', [0x81, 0x82, 0, 0, 0, 0, 123, 125], /no frame/],
    ['ws', [0xc1, 2, 123, 125], /no frame/],
    ['ws', [0x80, 2, 123, 125], /no frame/],
    ['ws', [0x83, 2, 123, 125], /no frame/],
    ['ws', [0x01, 1, 123, 0x81, 1, 125], /no frame/],
    ['ws', [0x89, 126, 0, 126], /no frame/],
    ['ws', [0x09, 0], /no frame/],
    ['ipc', [...Buffer.from('hello')], /not JSON/],
    ['ipc', [...Buffer.from('\n }')], /not JSON/],
  ]
  for (const [kind, bytes, what] of bad) {
    const { open } = await serve(t, kind)
    const { connection, socket } = await open()
    const ended = new Promise(resolve => socket.once('close', resolve))
    socket.write(Buffer.from(bytes))
    await assert.rejects(connection.next(reading()), what, `${bytes}`)
    await ended
  }
})

test('a message is no larger than it may be, and one that announces more is not read', async t => {
  for (const kind of ['ipc', 'ws'] as const) {
    const { open } = await serve(t, kind)
    const text = `["${'x'.repeat(1_000)}"]`
    for (const most of [text.length, text.length - 1]) {
      const { connection, socket } = await open()
      socket.write(kind === 'ws' ? frame(text) : text)
      const read = connection.next(reading({ most }))
      if (most === text.length) assert.equal((await read).length, most)
      else await assert.rejects(read, { code: TOO_LARGE })
    }
  }
  const { open } = await serve(t, 'ws')
  const { connection, socket } = await open()
  socket.write(Buffer.from([0x81, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255]))
  await assert.rejects(connection.next(reading()), { code: TOO_LARGE })
})

test('the other side has to wait while what it sent is not paid for', async t => {
  for (const kind of ['ipc', 'ws'] as const) {
    const { open } = await serve(t, kind)
    const { connection, socket } = await open()
    const text = `["${'x'.repeat(30 << 20)}"]`
    let taken = 0
    let pay = () => {}
    const paid = new Promise<void>(resolve => {
      pay = resolve
    })
    const take = async (bytes: number) => {
      taken += bytes
      if (taken > 1 << 20) await paid
    }
    socket.write(kind === 'ws' ? frame(text) : text)
    const read = connection.next(reading({ most: 64 << 20, hold: { take } }))
    await sleep(200)
    assert.ok(socket.writableLength > 20 << 20, `${kind}: ${socket.writableLength} bytes wait`)
    assert.ok(taken < 2 << 20, `${kind}: ${taken} bytes were read`)
    pay()
    assert.equal((await read).length, text.length)
  }
})

const KINDS: [kind: string, url: (node: FakeNode) => string][] = [
  ['ws', node => node.wsUrl],
  ['ipc', node => node.ipcUrl],
]

test('blocks come over a WebSocket and a Unix socket as over HTTP, in batches', async t => {
  for (const [kind, urlOf] of KINDS) {
    const node = await startNode(t, chain)
    node.batchLimit = 10
    const source = sourceOf(t, [{ url: urlOf(node) }])
    assert.deepEqual(await rangeOf(source, 0, 39), chain, kind)
    assert.ok(node.batches.some(size => size > 5))
    const [status, ...more] = source.endpoints()
    assert.deepEqual([status!.url, more], [urlOf(node), []])
  }
})

test('troubles of sockets are survived: silence, lost connections, garbage, a restart, what is too large', async t => {
  for (const [kind, urlOf] of KINDS) {
    const node = await startNode(t, chain)
    let left = 0
    const source = sourceOf(t, [{ url: urlOf(node) }], { timeoutMs: 1_000 })
    for (const trouble of ['hang', 'reset', { garbage: '{"what":[1]}' }, { garbage: '[]' }] as const) {
      left = 2
      node.trouble = () => (left-- > 0 ? trouble : undefined)
      assert.deepEqual(await rangeOf(source, 0, 9), chain.slice(0, 10), `${kind} ${JSON.stringify(trouble)}`)
    }
    node.trouble = () => undefined
    await node.stop()
    const reading = rangeOf(source, 10, 19)
    while (!/ECONNREFUSED|ENOENT|ECONNRESET|closed/.test(source.endpoints()[0]!.lastError ?? '')) await sleep(2)
    await node.start()
    assert.deepEqual(await reading, chain.slice(10, 20))
    const small = sourceOf(t, [{ url: urlOf(node) }], { limits: { ...DEFAULT_LIMITS, nodeAnswer: 30_000 } })
    assert.deepEqual(await rangeOf(small, 0, 39), chain, kind)
  }
})

test('a connection that the node closed while it was idle is opened again, and that is no error', async t => {
  for (const [kind, urlOf] of KINDS) {
    const node = await startNode(t, chain)
    const source = sourceOf(t, [{ url: urlOf(node) }])
    await rangeOf(source, 0, 9)
    await node.stop()
    await node.start()
    await rangeOf(source, 10, 19)
    assert.equal(source.endpoints()[0]!.errors, 0, `${kind}: ${source.endpoints()[0]!.lastError}`)
  }
})

test('a socket that takes calls also announces heads, unless another address is named for that', async t => {
  for (const [kind, urlOf] of KINDS) {
    const node = await startNode(t, chain.slice(0, 20))
    const stopping = new AbortController()
    // A poll would come too late.
    const source = sourceOf(t, [{ url: urlOf(node) }], { pollMs: 1_000_000 })
    const events: ChainEvent[] = []
    const following = (async () => {
      const follow = { from: 18, stored: () => undefined, tip: undefined, finality: 8, signal: stopping.signal }
      for await (const event of source.follow(follow)) events.push(event)
    })().catch(() => {})
    const until = async (count: number) => {
      const end = Date.now() + 60_000
      while (events.length < count) {
        assert.ok(Date.now() < end, `${kind}: ${events.length} blocks`)
        await sleep(2)
      }
    }
    await until(2)
    while (node.subscribers === 0) await sleep(2)
    node.extend([chain[20]!])
    node.announce()
    await until(3)
    node.dropSubscribers()
    node.extend([chain[21]!])
    await until(4)
    stopping.abort()
    await following
    assert.equal(source.endpoints().length, 1)
  }
})

test('a node that announces nothing is polled, and that is told once', async t => {
  const node = await startNode(t, chain.slice(0, 20))
  node.missing.set('eth_subscribe', new NodeError(-32601, 'notifications not supported'))
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const stopping = new AbortController()
  const source = sourceOf(t, [{ url: node.ipcUrl }], { log })
  const follow = { from: 19, stored: () => undefined, tip: undefined, finality: 8, signal: stopping.signal }
  let blocks = 0
  for await (const _ of source.follow(follow)) {
    await sleep(100)
    if (++blocks === 10) break
    node.extend([chain[19 + blocks]!])
  }
  stopping.abort()
  assert.equal(lines.filter(line => /Lost the subscription/.test(line)).length, 1, lines.join(''))
})

test('keys and passwords of a WebSocket are shown nowhere', async t => {
  const node = await startNode(t, chain)
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const url = `${node.wsUrl.replace('://', '://user:pass%20word@')}/v3/0123456789abcdef`
  const source = sourceOf(t, [{ url: url }], { log })
  await rangeOf(source, 0, 9)
  assert.equal(node.headers.authorization, `Basic ${btoa('user:pass word')}`)
  await node.stop()
  const stopping = new AbortController()
  const failing = source.head(stopping.signal)
  failing.catch(() => {})
  while (source.endpoints()[0]!.lastError === null) await sleep(2)
  stopping.abort()
  assert.doesNotMatch(JSON.stringify(source.endpoints()) + lines.join(''), /0123456789abcdef|pass/)
  await node.start()
})

test('what is no WebSocket says what it is', async t => {
  const server = createHttpServer((_, response) => response.writeHead(401).end('who?'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  await assert.rejects(openConnection(new URL(`ws://127.0.0.1:${port}`), never), {
    code: 'node_refused',
    message: /HTTP 401/,
  })
  await assert.rejects(openConnection(new URL('ipc:///nowhere/geth.ipc'), never), /ENOENT/)
  await assert.rejects(openConnection(new URL(`ws://127.0.0.1:${port}`), AbortSignal.abort(new Error('late'))), /late/)
})
