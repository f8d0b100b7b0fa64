import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { AppServices } from '../../src/http/app.ts'
import { type HttpServer, listen } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS, overLimit } from '../../src/limits/index.ts'
import { ALICE, appOf, bothOf, echo, MAINNET, send, TOKEN } from './support.ts'

const servers: HttpServer[] = []
after(() => Promise.all(servers.map(server => server.close(0))))
const start = async (services: Partial<AppServices> = {}) => {
  const { app, direct } = bothOf(services)
  const server = await listen(app, { direct, host: '127.0.0.1', port: 0 })
  servers.push(server)
  return { server, search: `${server.url}/${MAINNET}/es/tx/search/` }
}
const answer = (body: string | null, entities = 'tx') => JSON.stringify({ network: MAINNET, entities, body })

/** A large JSON body that comes in bit by bit, until the other side has had enough. */
const LIMIT = 1_000
const tooLarge = JSON.stringify({
  error: {
    root_cause: [
      {
        type: 'content_too_large_exception',
        reason: overLimit('body', { ...DEFAULT_LIMITS, body: LIMIT }).message,
      },
    ],
    type: 'content_too_large_exception',
    reason: overLimit('body', { ...DEFAULT_LIMITS, body: LIMIT }).message,
  },
  status: 413,
})

test('a GET has a body, since clients send one', async () => {
  const { search } = await start()
  for (const headers of [{ 'content-length': '12' }, { 'transfer-encoding': 'chunked' }]) {
    const reply = await send(search, {
      method: 'GET',
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      body: '{"size": 5 }',
    })
    assert.deepEqual([reply.status, reply.text], [200, answer('{"size": 5 }')])
  }
  assert.equal((await send(search, { method: 'GET' })).text, answer(null))
  assert.equal((await send(search, { method: 'POST' })).text, answer(null))
})

test('what goes over the wire is what clients need, and nothing else', async () => {
  const { search } = await start()
  const { date: _, 'x-request-id': __, ...headers } = (await send(search, { method: 'POST', body: '{}' })).headers
  assert.deepEqual(headers, {
    'content-type': 'application/json; charset=UTF-8',
    'x-elastic-product': 'Elasticsearch',
    'content-length': String(answer('{}').length),
    connection: 'keep-alive',
    'keep-alive': 'timeout=75',
  })
})

test('a double slash is one, and nothing redirects', async () => {
  const { server } = await start()
  for (const path of [`//${MAINNET}/es//block%2Ctx/_search`, `/${MAINNET}/es//block,tx/_search/`]) {
    const reply = await send(server.url + path, { method: 'POST', body: '{}' })
    assert.deepEqual([reply.status, reply.text], [200, answer('{}', 'block,tx')])
  }
})

test('one connection serves many requests', async () => {
  const { search } = await start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  for (let i = 0; i < 5; i++) {
    const body = i % 2 === 0 ? '{}' : 'x'.repeat(LIMIT + 1)
    const reply = await send(search, { method: 'POST', body, agent })
    assert.equal(reply.status, i % 2 === 0 ? 200 : 413)
    ports.add((Object.values(agent.freeSockets)[0] ?? [])[0]?.localPort)
  }
  assert.equal(ports.size, 1)
  agent.destroy()
})

test('a body of 100 MB is refused at once, whether or not it says its size', async () => {
  const { search } = await start()
  const chunk = Buffer.alloc(1_000_000, ' ')
  for (const headers of [{ 'content-length': 100_000_000 }, {}]) {
    let sent = 0
    let answered = false
    const reply = await send(search, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      body: request => {
        request.on('response', () => {
          answered = true
        })
        const more = () => {
          if (answered || sent >= 100) return void request.destroy()
          sent++
          request.write(chunk, () => setImmediate(more))
        }
        more()
      },
    })
    assert.deepEqual([reply.status, reply.text], [413, tooLarge])
    assert.ok(sent < 100, `${sent} MB were sent`)
  }
})

test('a body that is too large for what it is sent to is taken to its end, so that its client reads why it is refused', async () => {
  const { server } = await start({ limits: DEFAULT_LIMITS })
  for (let i = 0; i < 5; i++) {
    const reply = await send(`${server.url}/${MAINNET}/es/_mget`, {
      method: 'POST',
      body: Buffer.alloc(8_000_000, ' '),
    })
    assert.equal(reply.status, 413)
    assert.match(reply.text, /no search has more than 1MB/)
  }
})

test('a client that asks first is told before it sends a large body', async () => {
  const { search } = await start()
  const ask = (length: number) =>
    new Promise<{ continued: boolean; status: number | undefined }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}`, expect: '100-continue', 'content-length': length }
      let continued = false
      const sent = request(search, { method: 'POST', headers }, reply => {
        reply.resume()
        resolve({ continued, status: reply.statusCode })
        sent.destroy()
      })
      sent.on('continue', () => {
        continued = true
        sent.end(' '.repeat(length))
      })
      sent.on('error', reject)
      sent.flushHeaders()
    })
  assert.deepEqual(await ask(10), { continued: true, status: 200 })
  assert.deepEqual(await ask(100_000_000), { continued: false, status: 413 })
})

test('bodies that are held at once are bounded, by account and in all, and given back', async () => {
  const accounts = new Map(
    [TOKEN, 'cs_other', 'cs_third'].map((token, id) => [token, { ...ALICE, id, name: token, token: id }]),
  )
  const held = Promise.withResolvers<void>()
  let begun = 0
  const { search } = await start({
    accounts: { verify: token => accounts.get(token) },
    limits: { ...DEFAULT_LIMITS, queuedBodiesByAccount: 2_500, queuedBodies: 4_000 },
    search: {
      ...echo,
      search: async () => {
        begun++
        await held.promise
        return { status: 200, body: Buffer.from('{}') }
      },
    },
  })
  const post = (token: string, body: string | Uint8Array, headers = {}) =>
    send(search, { method: 'POST', headers: { authorization: `Bearer ${token}`, ...headers }, body })
  const body = JSON.stringify({ size: 1, pad: 'x'.repeat(970) })
  const waiting = [post(TOKEN, body), post(TOKEN, body)]
  while (begun < 2) await nextTurn()
  const own = await post(TOKEN, body)
  assert.deepEqual([own.status, own.headers['retry-after']], [429, '1'])
  assert.match(own.text, /An account has more than 2500B of request bodies under way\. /)
  // Of what says no size, and of what is compressed, it is seen while it comes in.
  assert.equal((await post(TOKEN, body, { 'transfer-encoding': 'chunked' })).status, 429)
  assert.equal((await post(TOKEN, gzipSync(body), { 'content-encoding': 'gzip' })).status, 429)
  assert.equal((await send(`${search}?qq=1`, { headers: { authorization: `Bearer ${TOKEN}` } })).status, 400)

  waiting.push(post('cs_other', body))
  while (begun < 3) await nextTurn()
  const all = await post('cs_third', body.padEnd(1_100))
  assert.equal(all.status, 429)
  assert.match(all.text, /The server has more than 4kB of request bodies under way\. /)

  held.resolve()
  for (const reply of await Promise.all(waiting)) assert.equal(reply.status, 200)
  assert.equal((await post(TOKEN, body)).status, 200)
  assert.equal((await post('cs_third', body.padEnd(1_100))).status, 200)
})

test('who has no token is told before a byte of the body is read', async () => {
  const { search } = await start()
  const sent = request(search, { method: 'POST', headers: { 'content-length': 1_000_000 } })
  sent.on('error', () => {})
  sent.flushHeaders()
  const [reply] = await once(sent, 'response')
  assert.equal(reply.statusCode, 401)
  sent.destroy()
})

test('a client that goes away aborts its search', async () => {
  let aborted: Promise<unknown> | undefined
  const lines: string[] = []
  const searching = new Promise<void>(begun => {
    const hanging: Partial<AppServices> = {
      log: createLog({ write: line => void lines.push(line), json: false }),
      search: {
        ...echo,
        search: ({ signal }) => {
          aborted = once(signal, 'abort')
          begun()
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        },
      },
    }
    void start(hanging).then(({ search }) => {
      const sent = request(search, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } })
      sent.on('error', () => {})
      sent.end('{}')
      void searching.then(() => sent.destroy())
    })
  })
  await searching
  await aborted
  await new Promise(resolve => setTimeout(resolve, 10))
  // That nobody waits any more is no failure.
  assert.deepEqual(lines, [])
})

test('a stream is taken as fast as the client reads it, and ends when the client goes away', async () => {
  let pulled = 0
  let cancelled = (_: unknown) => {}
  const cancel = new Promise(resolve => {
    cancelled = resolve
  })
  const endless: Partial<AppServices> = {
    search: {
      ...echo,
      search: async () => ({
        status: 200,
        body: new ReadableStream<Uint8Array>({
          pull: controller => {
            pulled++
            controller.enqueue(Buffer.alloc(100_000, ' '))
          },
          cancel: cancelled,
        }),
      }),
    },
  }
  const { search } = await start(endless)
  const sent = request(search, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } })
  sent.end('{}')
  const [reply] = await once(sent, 'response')
  assert.equal(reply.statusCode, 200)
  // Nobody has read a byte yet: what is pulled is what fits the buffers on the way.
  for (let before = -1; before !== pulled; await new Promise(resolve => setTimeout(resolve, 100))) {
    before = pulled
    assert.ok(before < 200, `${before} chunks were pulled`)
  }
  sent.destroy()
  await cancel
})

test('an answer that fails half-way is seen to be incomplete', async () => {
  const lines: string[] = []
  const failing: Partial<AppServices> = {
    log: createLog({ write: line => void lines.push(line), json: false }),
    search: {
      ...echo,
      search: async () => {
        const chunks = ['{"hits":[']
        const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
          const chunk = chunks.shift()
          if (chunk === undefined) controller.error(new Error('disk'))
          else controller.enqueue(Buffer.from(chunk))
        }
        return { status: 200, body: new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }) }
      },
    },
  }
  const { search } = await start(failing)
  await assert.rejects(send(search, { method: 'POST', body: '{}' }), { code: 'ECONNRESET' })
  assert.match(lines.join('\n'), /^\S+ error Failed in the middle of an answer .*"Error: disk/)
})

test('closing lets a request finish and takes no further one', async () => {
  let finish = () => {}
  const begun = Promise.withResolvers<void>()
  const slow: Partial<AppServices> = {
    search: {
      ...echo,
      search: async call => {
        begun.resolve()
        await new Promise<void>(resolve => {
          finish = resolve
        })
        return echo.search(call)
      },
    },
  }
  const { server, search } = await start(slow)
  const agent = new Agent({ keepAlive: true })
  // An idle connection must not keep the server open.
  await send(`${server.url}/health`, { agent })
  const reply = send(search, { method: 'POST', body: '{}', agent })
  await begun.promise
  const closed = server.close()
  await assert.rejects(send(`${server.url}/health`), { code: 'ECONNREFUSED' })
  finish()
  assert.equal((await reply).text, answer('{}'))
  await closed
  agent.destroy()
})

test('closing breaks off what takes too long', async () => {
  const begun = Promise.withResolvers<void>()
  const hanging: Partial<AppServices> = {
    search: {
      ...echo,
      search: () => {
        begun.resolve()
        return new Promise(() => {})
      },
    },
  }
  const { server, search } = await start(hanging)
  const reply = assert.rejects(send(search, { method: 'POST', body: '{}' }), { code: 'ECONNRESET' })
  await begun.promise
  await server.close(20)
  await reply
})

test('an address that cannot be had is refused with the remedy', async () => {
  const { server } = await start()
  await assert.rejects(listen(appOf(), { host: '127.0.0.1', port: server.port }), {
    next: 'stop',
    code: 'cannot_listen',
    message: `127.0.0.1:${server.port} is in use by another process: stop that process, or choose another port with --port.`,
  })
  await assert.rejects(listen(appOf(), { host: '192.0.2.1', port: 0 }), {
    message: '192.0.2.1 is not an address of this machine: choose another with --host.',
  })
})

test('what is no HTTP is answered and does no harm', async () => {
  const { server } = await start()
  const raw = async (text: string) => {
    const socket = connect(server.port, '127.0.0.1')
    socket.end(text)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    return Buffer.concat(chunks).toString().split('\r\n')[0]
  }
  assert.equal(await raw('nonsense\r\n\r\n'), 'HTTP/1.1 400 Bad Request')
  assert.equal(await raw('GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'), 'HTTP/1.1 400 Bad Request')
  assert.equal(await raw('GET /%ff%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), 'HTTP/1.1 401 Unauthorized')
  assert.equal((await send(`${server.url}/health`)).text, '{"status":"ok"}')
})
