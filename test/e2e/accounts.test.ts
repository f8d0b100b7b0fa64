import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { openAccounts } from '../../src/accounts/index.ts'
import { makeCertificate } from '../support/certificate.ts'
import { ruleBody } from '../support/rules.ts'
import { after, chainsieve, type Program, start, succeed, tempFolder, until, untilIs } from './program.ts'

const DEMO = '/ethereum/demo/local/es/event/search/'

interface Reply {
  status: number | undefined
  headers: NodeJS.Dict<string | string[]>
  body: Record<string, unknown>
}

/** A server with TLS that serves the demo chain. */
const serveTls = async (t: Parameters<typeof start>[0], args: readonly string[] = []) => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const one = makeCertificate(folder, 'one.example')
  const two = makeCertificate(folder, 'two.example')
  const files = { cert: join(folder, 'server.crt'), key: join(folder, 'server.key') }
  const use = (pair: typeof one) => {
    copyFileSync(pair.cert, files.cert)
    copyFileSync(pair.key, files.key)
  }
  use(one)
  const tls = ['--tls-cert', files.cert, '--tls-key', files.key]
  const program = start(t, ['serve', '--port', '0', ...tls, ...args], { data })
  const [, url = ''] = await program.says(/Serves +url=(https:\S+)/)
  const ca = [readFileSync(one.cert), readFileSync(two.cert)]
  const ask = (path: string, token: string, options: RequestOptions & { body?: unknown } = {}): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const { body, ...rest } = options
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...options.headers }
      const method = body === undefined ? 'GET' : 'POST'
      const all = { method, ca, servername: 'one.example', checkServerIdentity: () => undefined, ...rest, headers }
      request(url + path, all, async reply => {
        const chunks: Buffer[] = []
        for await (const chunk of reply) chunks.push(chunk)
        const text = Buffer.concat(chunks).toString()
        resolve({ status: reply.statusCode, headers: reply.headers, body: text === '' ? {} : JSON.parse(text) })
      })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
  const run = (...args: string[]) => succeed(t, args, { data })
  return { program, url, data, files, use, one, two, ask, run, port: Number(new URL(url).port) }
}

const nameShown = (port: number) =>
  new Promise<string | undefined>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    }).on('error', reject)
  })

test('tokens of a team: scopes, quota, rotation, and a trail of all of it', async t => {
  const { ask, run, data } = await serveTls(t, [
    ...['--limit', 'requestsByToken=20', '--trust-proxy', '127.0.0.1', '--cors-origin', 'https://app.example'],
  ])
  const reader = (await run('token', 'create', '--account', 'team', '--scope', 'search')).trim()
  const writer = (await run('token', 'create', '--account', 'team', '--scope', 'rules')).trim()
  const found = await ask(DEMO, reader, { body: { size: 1 }, headers: { origin: 'https://app.example' } })
  assert.deepEqual([found.status, found.headers['ratelimit-policy']], [200, '"requests";q=20;w=60'])
  assert.equal(found.headers['access-control-allow-origin'], 'https://app.example')

  const forwarded = { 'x-forwarded-for': '6.6.6.6, 198.51.100.1' }
  const denied = await ask('/alerting/rules/', reader, { body: ruleBody(), headers: forwarded })
  assert.equal(denied.status, 403)
  const made = await ask('/alerting/rules/', writer, {
    body: ruleBody({ network: 'local', blockchain: 'demo' }),
    headers: forwarded,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal((await ask(DEMO, `cs_${'x'.repeat(43)}`, { body: {}, headers: forwarded })).status, 401)

  const next = (await run('token', 'rotate', '2', '--overlap', '1h')).trim()
  assert.deepEqual(
    [(await ask(DEMO, reader, { body: {} })).status, (await ask(DEMO, next, { body: {} })).status],
    [200, 200],
  )
  const statuses = await Promise.all(Array.from({ length: 30 }, () => ask(DEMO, next, { body: {} })))
  assert.equal(statuses.filter(({ status }) => status === 200).length, 19)
  assert.match(String(statuses.find(({ status }) => status === 429)?.headers['retry-after']), /^\d+$/)

  await run('token', 'revoke', '2')
  await untilIs(async () => (await ask(DEMO, reader, { body: {} })).status, 401)

  const entries = await until(
    async () => JSON.parse(await run('audit', '--json')) as Record<string, unknown>[],
    entries => entries.some(({ action }) => action === 'refused token'),
  )
  const told = entries.map(({ action, target, account, token, address }) => [action, target, account, token, address])
  for (const expected of [
    ['serve', null, null, null, null],
    ['token create', '2', null, null, null],
    ['token rotate', '2', null, null, null],
    ['token revoke', '2', null, null, null],
    ['rule create', '1', 'team', 3, '198.51.100.1'],
    ['refused scope', null, 'team', 2, '198.51.100.1'],
    ['refused token', null, null, null, '198.51.100.1'],
  ])
    assert.ok(
      told.some(it => JSON.stringify(it) === JSON.stringify(expected)),
      `${JSON.stringify(expected)} is not in ${JSON.stringify(told)}`,
    )
  const trail = JSON.stringify(entries)
  for (const token of [reader, writer, next]) assert.equal(trail.includes(token.slice(8)), false)
  const accounts = openAccounts(data)
  after(t, accounts.close)
  assert.deepEqual(
    accounts.list().map(({ scopes }) => scopes.join()),
    ['search,rules,admin', 'search', 'rules', 'search'],
  )
})

test('a new certificate is taken on SIGHUP, and a server that has none ends by it', async t => {
  const { program, port, use, two, url } = await serveTls(t, ['--es-listen', '127.0.0.1:0=ethereum/demo/local'])
  const [, root = ''] = await program.says(/Serves a network at the root +url=https:\S+:(\d+)/)
  assert.equal(await nameShown(Number(root)), 'one.example')
  assert.equal(await nameShown(port), 'one.example')
  const kept = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  after(t, () => kept.destroy())
  await new Promise(resolve => kept.once('secureConnect', resolve))
  use(two)
  program.signal('SIGHUP')
  await program.says(/Took the TLS certificate/)
  assert.equal(await nameShown(port), 'two.example')
  await untilIs(() => nameShown(Number(root)), 'two.example')
  const answered = new Promise<string>(resolve => kept.once('data', chunk => resolve(String(chunk))))
  kept.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.match(await answered, /^HTTP\/1\.1 200 OK/)

  const health = await chainsieve(t, ['health', '--port', String(port), '--tls-cert', 'any'])
  assert.deepEqual([health.code, health.out], [0, '{"status":"ok"}\n'], health.err)
  assert.match(url, /^https:/)

  program.signal('SIGTERM')
  assert.equal((await program.ended).code, 0)
  const plain: Program = start(t, ['serve', '--port', '0'], { data: join(tempFolder(t), 'plain') })
  await plain.says(/Serves +url=http:/)
  plain.signal('SIGHUP')
  assert.equal((await plain.ended).signal, 'SIGHUP')
})

test('a server without its whole certificate does not start', async t => {
  const data = tempFolder(t)
  for (const [args, why] of [
    [['--tls-cert', 'x'], /TLS needs a certificate and its key: give both --tls-cert and --tls-key/],
    [['--tls-cert', 'x', '--tls-key', 'y'], /The TLS certificate of --tls-cert cannot be read: ENOENT/],
    [['--cors-origin', 'https://app.example/'], /--cors-origin takes an origin without a slash at its end/],
    [['--trust-proxy', 'proxy.example'], /--trust-proxy takes an address range such as/],
  ] as const) {
    const { code, err } = await chainsieve(t, ['serve', '--port', '0', ...args], { data })
    assert.notEqual(code, 0)
    assert.match(err, why)
  }
})
