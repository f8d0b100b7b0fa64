import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { listen } from '../../src/http/server.ts'
import { type CertificateFiles, openCertificate } from '../../src/http/tls.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { makeCertificate } from '../support/certificate.ts'
import { bothOf, MAINNET, TOKEN } from './support.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-tls-'))
after(() => rmSync(root, { recursive: true }))
const one = makeCertificate(root, 'one.example')
const two = makeCertificate(root, 'two.example')
const copy = (from: CertificateFiles): CertificateFiles => {
  const folder = mkdtempSync(join(root, 'used-'))
  const files = { cert: join(folder, 'server.crt'), key: join(folder, 'server.key') }
  replace(files, from)
  return files
}
const replace = (files: CertificateFiles, { cert, key }: CertificateFiles) => {
  copyFileSync(cert, files.cert)
  copyFileSync(key, files.key)
}

const start = async (files: CertificateFiles, { limits = {}, lookMs = 60_000 } = {}) => {
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const { app, direct } = bothOf()
  const server = await listen(app, {
    ...{ host: '127.0.0.1', port: 0, direct, log, limits: { ...DEFAULT_LIMITS, ...limits } },
    certificate: openCertificate(files, { log, lookMs }),
  })
  after(() => server.close(0))
  return { server, lines }
}

const open = async (port: number, options: ConnectionOptions = {}): Promise<TLSSocket> => {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  after(() => socket.destroy())
  socket.on('error', () => {})
  socket.setTimeout(5_000, () => socket.destroy())
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close').then(() => Promise.reject(new Error('no')))])
  return socket
}
const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN

const BODY = '{"size": 3}'
const REQUEST = `POST /${MAINNET}/es/tx/search/ HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`
const ask = async (socket: TLSSocket): Promise<string> => {
  socket.write(REQUEST)
  return String((await once(socket, 'data'))[0])
}

test('a server with a certificate speaks HTTPS, and a client that trusts it is answered', async () => {
  const { server } = await start(one)
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  const body = await new Promise<string>((resolve, reject) => {
    const options = {
      ca: readFileSync(one.cert),
      servername: 'one.example',
      headers: { authorization: `Bearer ${TOKEN}` },
    }
    request(`${server.url}/`, options, async reply => {
      const chunks: Buffer[] = []
      for await (const chunk of reply) chunks.push(chunk)
      resolve(Buffer.concat(chunks).toString())
    })
      .on('error', reject)
      .end()
  })
  assert.match(body, /You Know, for Search/)
  assert.match(await ask(await open(server.port)), /^HTTP\/1\.1 200 OK\r\n/)
})

test('versions before TLS 1.2 and plain HTTP are not served, and HTTP/2 is not offered', async () => {
  const { server } = await start(one)
  assert.equal((await open(server.port, { maxVersion: 'TLSv1.2' })).getProtocol(), 'TLSv1.2')
  assert.equal((await open(server.port)).getProtocol(), 'TLSv1.3')
  await assert.rejects(open(server.port, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }))
  assert.equal((await open(server.port, { ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol, 'http/1.1')
  for (const text of ['GET / HTTP/1.1\r\nhost: x\r\n\r\n', '\u0016\u0003\u0001 nonsense', 'x'.repeat(100_000)]) {
    const socket = connectPlain(server.port, '127.0.0.1').on('error', () => {})
    socket.write(text)
    socket.end()
    socket.resume()
    await new Promise(resolve => socket.on('close', resolve))
  }
  assert.match(await ask(await open(server.port)), /^HTTP\/1\.1 200 OK\r\n/)
})

test('a new certificate is shown to new connections, and open ones go on', async () => {
  const files = copy(one)
  const { server, lines } = await start(files, { lookMs: 20 })
  const before = await open(server.port)
  assert.equal(nameOf(before), 'one.example')
  // Half of a request is on its way.
  before.write(REQUEST.slice(0, 40))
  replace(files, two)
  for (let i = 0; i < 200 && lines.length === 0; i++) await new Promise(resolve => setTimeout(resolve, 20))
  assert.match(lines.join('\n'), /^\S+ info +Took the TLS certificate file=\S+ until=\S+Z$/)
  assert.equal(nameOf(await open(server.port)), 'two.example')
  before.write(REQUEST.slice(40))
  assert.match(String((await once(before, 'data'))[0]), /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(await ask(before), /^HTTP\/1\.1 200 OK\r\n/)
})

test('a pair that does not fit is not taken, and is told of once', async () => {
  const files = copy(one)
  const { server, lines } = await start(files, { lookMs: 50 })
  copyFileSync(two.cert, files.cert)
  for (let i = 0; i < 200 && lines.length === 0; i++) await new Promise(resolve => setTimeout(resolve, 20))
  await new Promise(resolve => setTimeout(resolve, 100))
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /error +Kept the old TLS certificate error=".*cannot be used for TLS/)
  assert.equal(nameOf(await open(server.port)), 'one.example')
  // Somebody who asks is told again.
  server.reload!()
  assert.equal(lines.length, 2)
  copyFileSync(two.key, files.key)
  server.reload!()
  assert.equal(nameOf(await open(server.port)), 'two.example')
})

test('files that no server can be run with are refused by name', () => {
  const mixed = { cert: one.cert, key: two.key }
  const empty = join(root, 'empty')
  writeFileSync(empty, '')
  for (const [files, code, message] of [
    [mixed, 'tls_unusable', /one\.example\.crt and .*two\.example\.key cannot be used for TLS \(.*key values mismatch/],
    [{ cert: empty, key: one.key }, 'tls_unusable', /--tls-cert takes a certificate in PEM/],
    [{ cert: one.cert, key: empty }, 'tls_unusable', /not encrypted/],
    [{ cert: join(root, 'none'), key: one.key }, 'tls_unreadable', /certificate of --tls-cert cannot be read: ENOENT/],
    [{ cert: one.cert, key: join(root, 'none') }, 'tls_unreadable', /key of --tls-key cannot be read: ENOENT/],
  ] as const)
    assert.throws(() => openCertificate(files, { log: silent }), { next: 'stop', code, message })
})

test('connections beyond those of an address are closed before a handshake', async () => {
  const { server } = await start(one, { limits: { connections: 4 } })
  await Promise.all([1, 2, 3].map(() => open(server.port)))
  await assert.rejects(open(server.port))
})
