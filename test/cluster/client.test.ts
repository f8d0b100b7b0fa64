import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type ClusterOptions, connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { whyUnreached } from '../../src/cluster/connection/opensearch-client.ts'
import { makeCertificate } from '../support/certificate.ts'

const listen = async (t: TestContext, server: ReturnType<typeof createServer>, protocol = 'http'): Promise<string> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const start = (t: TestContext, answer: RequestListener) => listen(t, createServer(answer))
const open = (t: TestContext, options: Partial<ClusterOptions>) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [], ...options })
  t.after(() => cluster.close())
  return cluster
}
const json = { 'content-type': 'application/json; charset=UTF-8' }

test('answers are as they were sent, with all digits, and any status is one', async t => {
  const url = await start(t, (request, response) => {
    if (request.url === '/big') response.writeHead(200, json).end('{"n":123456789012345678901234567890.10}')
    else if (request.url === '/text') response.writeHead(413, { 'content-type': 'text/html' }).end('<html>')
    else response.writeHead(404, json).end('{"found":false}')
  })
  const cluster = open(t, { urls: [url] })
  const get = (path: string) => cluster.ask({ method: 'GET', path })
  assert.deepEqual(await get('/big'), { status: 200, text: '{"n":123456789012345678901234567890.10}' })
  assert.deepEqual(await get('/text'), { status: 413, text: '<html>' })
  assert.deepEqual(await get('/none'), { status: 404, text: '{"found":false}' })
  assert.deepEqual(await cluster.ask({ method: 'HEAD', path: '/none' }), { status: 404, text: '' })
})

test('a user logs in, over TLS by a certificate that only the given authority vouches for', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-cluster-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = makeCertificate(folder, 'localhost')
  const [key, cert] = [readFileSync(files.key, 'utf8'), readFileSync(files.cert, 'utf8')]
  const asked: (string | undefined)[] = []
  const server = createSecureServer({ key, cert }, (request, response) => {
    asked.push(request.headers.authorization)
    response.writeHead(200, json).end('{}')
  })
  const url = await listen(t, server, 'https')
  const named = { urls: [url], username: 'me', password: 'ü:SESAME' }
  assert.equal((await open(t, { ...named, ca: cert }).ask({ method: 'GET', path: '/' })).status, 200)
  assert.deepEqual(asked, [`Basic ${Buffer.from('me:ü:SESAME').toString('base64')}`])
  await assert.rejects(open(t, named).ask({ method: 'GET', path: '/', retries: 0 }), (error: Error) => {
    assert.doesNotMatch(`${JSON.stringify(error)}${error.message}`, /SESAME/)
    return true
  })
})

test('why TLS fails is told with what to do', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-cluster-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [good, other] = [makeCertificate(folder, 'localhost'), makeCertificate(folder, 'other')]
  const secure = createSecureServer({ key: readFileSync(good.key), cert: readFileSync(good.cert) })
  const [ours, plain] = [await listen(t, secure, 'https'), await start(t, () => {})]
  const why = async (url: string, ca?: string): Promise<string> => {
    const cluster = open(t, { urls: [url], ...(ca !== undefined && { ca: readFileSync(ca, 'utf8') }) })
    const failed = await cluster.ask({ method: 'GET', path: '/', retries: 0 }).then(
      () => assert.fail('it answered'),
      (error: Error) => error,
    )
    assert.equal((failed as Error & { code: string }).code, 'cluster_unreachable')
    const [, told] = failed.message.split(`the cluster ${url} does not answer: `)
    return told!
  }
  const unknown =
    'no authority that is known signed its certificate: name the certificate of the one that did as opensearch-ca'
  assert.equal(await why(ours), unknown)
  assert.equal(await why(ours, other.cert), unknown)
  assert.equal(
    await why(plain.replace('http', 'https'), good.cert),
    'it does not speak TLS: write opensearch-url with http, or turn on TLS there',
  )
  assert.match(await why(ours.replace('https', 'http')), /\. If it speaks TLS, write opensearch-url with https$/)
  const whyOf = (code: string) => whyUnreached(Object.assign(new Error('x'), { code }), [ours])
  assert.equal(whyOf('CERT_HAS_EXPIRED'), 'its certificate, or that of its authority, has expired: renew it')
  assert.match(whyOf('ERR_TLS_CERT_ALTNAME_INVALID'), /^its certificate has other names: write opensearch-url with one/)
  assert.equal(whyOf('ECONNREFUSED'), 'x')
})

test('a node that is lost is left out, and asked again once it is back', async t => {
  const asked = [0, 0]
  const answer =
    (at: number): RequestListener =>
    (_, response) => {
      asked[at]!++
      response.writeHead(200, json).end('{}')
    }
  const first = createServer(answer(0))
  const urls = [await listen(t, first), await start(t, answer(1))]
  const cluster = open(t, { urls })
  const ask = () => cluster.ask({ method: 'GET', path: '/' })
  for (let i = 0; i < 4; i++) await ask()
  assert.deepEqual(asked, [2, 2])
  first.close()
  first.closeAllConnections()
  for (let i = 0; i < 6; i++) assert.equal((await ask()).status, 200)
  assert.deepEqual(asked, [2, 8])
})

test('what does not end is given up: by its signal at once, and by time', async t => {
  const url = await start(t, (request, response) => {
    if (request.url === '/half') response.writeHead(200, { ...json, 'content-length': 100 }).write('{')
  })
  const cluster = open(t, { urls: [url] })
  const signal = AbortSignal.timeout(20)
  await assert.rejects(cluster.ask({ method: 'GET', path: '/', signal }), { name: 'TimeoutError' })
  await assert.rejects(cluster.ask({ method: 'GET', path: '/', signal }), { name: 'TimeoutError' })
  const asked = { method: 'GET', timeoutMs: 20, retries: 0 } as const
  const away = { next: 'retry', code: 'cluster_unreachable' }
  await assert.rejects(cluster.ask({ ...asked, path: '/' }), { ...away, message: /does not answer: Request timed out/ })
  const patient = { ...asked, timeoutMs: 250 }
  await assert.rejects(cluster.ask({ ...patient, path: '/half' }), { ...away, message: /its answer stalls/ })
})

test('a node that stands still in the middle of an answer is left out, and another one is asked', async t => {
  const half = await start(t, (_, response) => {
    response.writeHead(200, { ...json, 'content-length': 100 }).write('{')
  })
  const cluster = open(t, { urls: [half, await start(t, (_, response) => response.writeHead(200, json).end('{}'))] })
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await cluster.ask({ method: 'GET', path: '/', timeoutMs: 250 }), { status: 200, text: '{}' })
})

test('a proxy that tells that a node is away is asked again, as often as is wanted', async t => {
  let asked = 0
  const url = await start(t, (_, response) => response.writeHead(++asked % 3 === 0 ? 200 : 503, json).end(`${asked}`))
  const cluster = open(t, { urls: [url] })
  assert.deepEqual(await cluster.ask({ method: 'GET', path: '/' }), { status: 200, text: '3' })
  assert.deepEqual(await cluster.ask({ method: 'GET', path: '/', retries: 1 }), { status: 503, text: '5' })
})

test('requests that follow one another share connections, and go with their parameters, packed where that is asked for', async t => {
  const seen: unknown[] = []
  const sockets = new Set()
  const url = await start(t, async (request, response) => {
    sockets.add(request.socket)
    const body = Buffer.concat(await request.toArray())
    const isPacked = request.headers['content-encoding'] === 'gzip'
    const text = `${isPacked ? gunzipSync(body) : body}`
    seen.push([request.method, request.url, request.headers['content-type'], isPacked, text])
    response.writeHead(200, json).end('"é"')
  })
  const cluster = open(t, { urls: [`${url}/behind/`] })
  const query = { a: 'x y&z', n: 2, is: true }
  await cluster.ask({ method: 'POST', path: '/_search', query, body: { é: 1 } })
  await cluster.ask({ method: 'POST', path: '/_bulk', lines: Buffer.from('{}\n{"é":1}\n'), gzip: true })
  const raw = await cluster.ask({ method: 'DELETE', path: '/x', raw: true })
  assert.deepEqual(raw, { status: 200, text: '', bytes: Buffer.from('"é"') })
  assert.deepEqual(seen, [
    ['POST', '/behind/_search?a=x%20y%26z&n=2&is=true', 'application/json', false, '{"é":1}'],
    ['POST', '/behind/_bulk', 'application/x-ndjson', true, '{}\n{"é":1}\n'],
    ['DELETE', '/behind/x', undefined, false, ''],
  ])
  // The one before is free a moment after its answer.
  assert.ok(sockets.size <= 2, `${sockets.size} connections`)
})
