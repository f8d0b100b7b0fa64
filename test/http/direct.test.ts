import assert from 'node:assert/strict'
import type { RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { AppServices } from '../../src/http/app.ts'
import { type HttpServer, listen } from '../../src/http/server.ts'
import { ChainsieveError, refuse, retry } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { bothOf, echo, MAINNET, send, TOKEN } from './support.ts'

const servers: HttpServer[] = []
after(() => Promise.all(servers.map(server => server.close(0))))

/** Two servers: one answers by the app alone, the other directly where it can; `taken` tells of each request whether it did. */
const start = async (services: Partial<AppServices> = {}) => {
  const { app, direct } = bothOf({
    limits: { ...DEFAULT_LIMITS, body: 1_000, requestsByToken: 5_000_000 },
    ...services,
  })
  const taken: boolean[] = []
  const plain = await listen(app, { host: '127.0.0.1', port: 0 })
  const quick = await listen(app, {
    ...{ host: '127.0.0.1', port: 0 },
    direct(incoming, outgoing) {
      const took = direct(incoming, outgoing)
      taken.push(took)
      return took
    },
  })
  servers.push(plain, quick)
  return { plain, quick, taken }
}

interface Asked extends Pick<RequestOptions, 'method' | 'headers'> {
  path?: string
  body?: string | Buffer
}

const PATH = `/${MAINNET}/es/tx/search/`
const BEARER = { authorization: `Bearer ${TOKEN}` }

const DIRECT: Asked[] = [
  { body: '{}' },
  { body: '{"size": 3}', headers: { ...BEARER, 'content-type': 'text/plain', 'x-else': '1' } },
  { body: ' '.repeat(1_000) },
  { body: 'é'.repeat(400) },
  { body: '{}', path: `/${MAINNET}/es/tx/_search` },
  { body: '{}', path: `/${MAINNET}/es/tx,block,tx/search` },
]
const BY_THE_APP: Asked[] = [
  {},
  { method: 'GET' },
  { method: 'GET', body: '{"size": 3}' },
  { method: 'PUT', body: '{}' },
  { body: '{}', headers: {} },
  { body: '{}', headers: { authorization: 'Bearer cs_bad' } },
  { body: '{}', headers: { authorization: `bearer  ${TOKEN}` } },
  { body: '{}', headers: { authorization: `Basic ${Buffer.from(`a:${TOKEN}`).toString('base64')}` } },
  { body: '{}', headers: {}, path: `${PATH}?access_token=${TOKEN}` },
  { body: '{}', path: `${PATH}?q=1` },
  { body: '{}', path: `${PATH}?pretty` },
  { body: '{}', path: `//${MAINNET}//es/tx/search` },
  { body: '{}', path: `/${MAINNET}/es/block%2Ctx/search/` },
  { body: '{}', path: `/${MAINNET}/es/tx, block/search/`.replace(' ', '%20') },
  { body: '{}', path: `/${MAINNET}/es/txs/search/` },
  { body: '{}', path: '/ethereum/ethereum/mainnot/es/tx/search/' },
  { body: '{}', path: `/${MAINNET}/es/__proto__/search/` },
  { body: '{}', path: '/' },
  { body: ' '.repeat(1_001) },
  { body: '{}', headers: { ...BEARER, 'transfer-encoding': 'chunked' } },
  { body: gzipSync('{"size": 4}'), headers: { ...BEARER, 'content-encoding': 'gzip' } },
  { body: '{}', headers: { ...BEARER, 'content-encoding': 'no' } },
]

const ask = async ({ url }: HttpServer, { path = PATH, ...rest }: Asked) => {
  const reply = await send(url + path, { method: 'POST', headers: BEARER, ...rest })
  delete reply.headers.date
  // That of each request is another one.
  const id = reply.headers['x-request-id']
  // Each request leaves one less.
  const left = reply.headers.ratelimit
  if (left !== undefined) reply.headers.ratelimit = String(left).replace(/r=\d+;t=\d+/, 'counted')
  if (id !== undefined) reply.headers['x-request-id'] = String(id).replace(/^[\da-f]{8}-[\da-f-]{27}$/, 'made up')
  // Each fault of the server is logged by a number of its own.
  return { ...reply, text: reply.text.replace(/[\da-f]{8}-[\da-f-]{27}/g, '') }
}

test('a search is answered directly as it is by the app, to the byte and the header', async () => {
  for (const [direct, requests, services] of [
    [true, DIRECT, {}],
    [true, DIRECT, { defaultParameters: () => [['eth', 'true'] as const] }],
    [false, BY_THE_APP, {}],
  ] as const) {
    const { plain, quick, taken } = await start(services)
    for (const request of requests) {
      assert.deepEqual(await ask(quick, request), await ask(plain, request), JSON.stringify(request))
      assert.deepEqual(taken.splice(0), [direct], JSON.stringify(request))
    }
  }
})

test('a path is looked up again once there are other networks', async () => {
  let networks = [MAINNET]
  const { plain, quick, taken } = await start({ search: { ...echo, networks: () => networks } })
  for (const [names, direct] of [
    [networks, true],
    [['ethereum/gnosis/mainnet'], false],
    [[MAINNET, 'ethereum/gnosis/mainnet'], true],
  ] as const) {
    networks = [...names]
    for (const _ of [1, 2]) {
      assert.deepEqual(await ask(quick, { body: '{}' }), await ask(plain, { body: '{}' }), names.join())
      assert.deepEqual(taken.splice(0), [direct], names.join())
    }
  }
})

test('whatever a search comes to is told directly as it is by the app', async () => {
  const stream = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < 200; i++) controller.enqueue(Buffer.from(`${i} `.repeat(3_000)))
        controller.close()
      },
    })
  const outcomes = [
    async () => ({ status: 200, body: stream() }),
    async () => ({ status: 404, body: Buffer.from('{}') }),
    () => Promise.reject(refuse('parsing_exception', 'Not like this.')),
    () => Promise.reject(refuse('security_exception', 'Not you.')),
    () => Promise.reject(retry('search_timeout_exception', 'Later.', { retryAfterMs: 3_000 })),
    () => Promise.reject(new Error('a fault')),
    () => Promise.reject(Object.assign(new Error('full'), { code: 'SQLITE_FULL' })),
    () => Promise.reject(new ChainsieveError('stop', 'store_damaged', 'It is damaged.')),
  ]
  for (const search of outcomes) {
    const { plain, quick, taken } = await start({ search: { ...echo, search } })
    assert.deepEqual(await ask(quick, { body: '{}' }), await ask(plain, { body: '{}' }))
    assert.deepEqual(taken, [true])
  }
})

test('a body that comes byte by byte is whole, and what comes behind it is another request', async () => {
  const { quick, taken } = await start()
  const body = '{"size": 12345}'
  const request = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const socket = connect(quick.port, '127.0.0.1')
  let text = ''
  const answered = new Promise<void>(resolve => {
    socket.on('data', chunk => {
      text += chunk
      if (text.split('HTTP/1.1 200').length === 4) resolve()
    })
  })
  for (const byte of request) {
    socket.write(byte)
    await new Promise(resolve => setImmediate(resolve))
  }
  socket.write(request + request)
  await answered
  socket.destroy()
  assert.deepEqual(taken, [true, true, true])
  assert.equal(text.split(JSON.stringify(body)).length, 4)
})
