import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Caller, TokenScope } from '../../src/accounts/index.ts'
import { createRequestQuotas } from '../../src/http/rate-limits.ts'
import { type HttpServer, listen } from '../../src/http/server.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { ALICE, bothOf, echo, MAINNET, send } from './support.ts'

const servers: HttpServer[] = []
after(() => Promise.all(servers.map(server => server.close(0))))

const TOKENS: ReadonlyMap<string, Caller> = new Map(
  (['search', 'rules', 'admin'] as TokenScope[]).map((scope, i) => [
    `cs_${scope}`,
    { ...ALICE, token: i + 1, scopes: new Set([scope]) },
  ]),
)

const start = async (limits = {}) => {
  const refused: unknown[] = []
  const all = { ...DEFAULT_LIMITS, ...limits }
  const time = { now: 0 }
  const { app, direct } = bothOf({
    accounts: {
      verify: token => TOKENS.get(token),
      refusals: { add: (...added) => void refused.push(added), close() {} },
    },
    metrics: { text: async () => 'metrics', access: 'token' },
    limits: all,
    rates: createRequestQuotas(all, () => time.now),
  })
  const taken: boolean[] = []
  const server = await listen(app, {
    ...{ host: '127.0.0.1', port: 0 },
    direct(incoming, outgoing) {
      taken.push(direct(incoming, outgoing))
      return taken.at(-1)!
    },
  })
  servers.push(server)
  const ask = (token: string, path: string, body?: string) =>
    send(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
    })
  return { ask, refused, taken, time, server }
}

const SEARCH = `/${MAINNET}/es/tx/search/`

test('a token does what its scopes say, and for all else is told what it lacks', async () => {
  const { ask, refused, taken } = await start()
  const paths: [scope: TokenScope | undefined, path: string, body?: string][] = [
    ['search', SEARCH, '{}'],
    ['search', SEARCH],
    ['search', `${SEARCH}?pretty`, '{}'],
    ['search', `/${MAINNET}/es/tx/0x1/`],
    ['search', '/no/such/network/gasprice'],
    ['search', `/${MAINNET}/es/_count`, '{}'],
    ['search', `/${MAINNET}/es/no/such/endpoint/at/all`],
    ['admin', '/metrics'],
    [undefined, '/'],
    [undefined, '/status'],
    [undefined, '/health'],
  ]
  for (const [needed, path, body] of paths)
    for (const [token, { token: id }] of TOKENS) {
      const { status, text } = await ask(token, path, body)
      if (needed === undefined || token === `cs_${needed}`) {
        assert.notEqual(status, 403, `${token} ${path}`)
        assert.notEqual(status, 401, `${token} ${path}`)
        continue
      }
      assert.equal(status, 403, `${token} ${path}`)
      const { error } = JSON.parse(text)
      const reason =
        `This needs a token with the scope [${needed}], and token ${id} has [${token.slice(3)}]. ` +
        `The operator of this server creates one with: chainsieve token create --account NAME --scope ${needed}`
      assert.deepEqual(JSON.parse(text), {
        error: { root_cause: [{ type: 'security_exception', reason }], type: 'security_exception', reason },
        status: 403,
      })
      assert.equal(error.type, 'security_exception')
      const [by, action] = refused.at(-1) as [Record<string, unknown>, string]
      assert.deepEqual(by, { account: 1, token: id, address: '127.0.0.1' })
      assert.equal(action, 'refused scope')
    }
  assert.equal(taken.filter(Boolean).length, 1)
})

test('a token has so many requests in a minute, however it asks', async () => {
  const { ask, time, taken } = await start({ requestsByToken: 3 })
  const left = async (token: string, path: string, body?: string) => {
    const { status, headers } = await ask(token, path, body)
    assert.equal(headers['ratelimit-policy'], '"requests";q=3;w=60')
    return [status, headers.ratelimit, headers['retry-after']]
  }
  assert.deepEqual(await left('cs_search', SEARCH, '{}'), [200, '"requests";r=2;t=60', undefined])
  time.now = 20_500
  assert.deepEqual(await left('cs_search', '/status'), [200, '"requests";r=1;t=40', undefined])
  // What is refused for another reason counts, too.
  assert.deepEqual(await left('cs_search', '/metrics'), [403, '"requests";r=0;t=40', undefined])
  assert.deepEqual(await left('cs_search', SEARCH, '{}'), [429, '"requests";r=0;t=40', '40'])
  assert.deepEqual(await left('cs_search', SEARCH), [429, '"requests";r=0;t=40', '40'])
  assert.deepEqual(await left('cs_rules', '/'), [200, '"requests";r=2;t=60', undefined])
  const { text } = await ask('cs_search', SEARCH, '{}')
  const reason =
    'A token has more than 3 requests in a minute. Wait until the minute is over, as Retry-After says. ' +
    'The header RateLimit shows what is left. The operator can raise this with --limit requestsByToken=N.'
  const type = 'es_rejected_execution_exception'
  assert.deepEqual(JSON.parse(text), { error: { root_cause: [{ type, reason }], type, reason }, status: 429 })
  time.now = 60_000
  assert.deepEqual(await left('cs_search', SEARCH, '{}'), [200, '"requests";r=2;t=60', undefined])
  assert.equal(taken.filter(Boolean).length, 2)
})

test('a token may have a limit of its own, and all tokens of an account one together', async () => {
  const all = { ...DEFAULT_LIMITS, requestsByToken: 5, requestsByAccount: 7 }
  const time = { now: 0 }
  const rates = createRequestQuotas(all, () => time.now)
  const [slow, fast, usual] = [
    { id: 1, token: 1, rate: 2 },
    { id: 1, token: 2, rate: 100 },
    { id: 1, token: 3 },
  ]
  const policy = (most: number) => `"requests";q=${most};w=60, "account";q=7;w=60`
  const left = (most: number, token: number, account: number, seconds: number) => [
    ...['ratelimit-policy', policy(most), 'ratelimit'],
    `"requests";r=${token};t=${seconds}, "account";r=${account};t=60`,
  ]
  assert.deepEqual(rates.take(slow), left(2, 1, 6, 60))
  assert.deepEqual(rates.take(slow), left(2, 0, 5, 60))
  assert.equal(rates.take(slow), undefined)
  assert.equal(
    rates.exceeded(slow).error.message,
    'Token 1 has more than its 2 requests in a minute. Wait until the minute is over, as Retry-After says. The header ' +
      'RateLimit shows what is left. The operator can raise this with: chainsieve token limit 1 --rate N',
  )
  assert.deepEqual(rates.exceeded(slow).headers, left(2, 0, 5, 60))
  // What was refused takes nothing from the account.
  assert.deepEqual(rates.take(usual), left(5, 4, 4, 60))
  // A new limit holds at once.
  assert.deepEqual(rates.take({ ...slow, rate: 3 }), left(3, 0, 3, 60))
  assert.equal(rates.take(slow), undefined)
  for (const account of [2, 1, 0]) assert.deepEqual(rates.take(fast), left(100, 97 + account, account, 60))
  assert.equal(rates.take(fast), undefined)
  assert.match(
    rates.exceeded(fast).error.message,
    /^An account has more than 7 requests in a minute with all of its tokens\. /,
  )
  // Another account has its own.
  assert.deepEqual(rates.take({ id: 2, token: 4 }), left(5, 4, 6, 60))
  time.now = 60_000
  assert.deepEqual(rates.take(fast), left(100, 99, 6, 60))

  const alone = createRequestQuotas(DEFAULT_LIMITS, () => 0)
  assert.deepEqual(alone.take({ id: 1, token: 1 }), [])
  const own = ['ratelimit-policy', '"requests";q=9;w=60', 'ratelimit', '"requests";r=8;t=60']
  assert.deepEqual(alone.take({ id: 1, token: 1, rate: 9 }), own)
})

test('a token with a limit of its own is held to it on every way to an answer', async () => {
  const { app, direct } = bothOf({ accounts: { verify: () => ({ ...ALICE, rate: 2 }) } })
  const server = await listen(app, { direct, host: '127.0.0.1', port: 0 })
  servers.push(server)
  const asked = [
    await send(server.url + SEARCH, { method: 'POST', body: '{}' }),
    await send(`${server.url}/status`),
    await send(server.url + SEARCH, { method: 'POST', body: '{}' }),
  ]
  assert.deepEqual(
    asked.map(({ status, headers }) => [status, headers.ratelimit]),
    [
      [200, '"requests";r=1;t=60'],
      [200, '"requests";r=0;t=60'],
      [429, '"requests";r=0;t=60'],
    ],
  )
})

test('an answer that is no whole one tells what is left, too', async () => {
  const { app, direct } = bothOf({
    search: { ...echo, search: () => Promise.reject(new Error('a fault')) },
    limits: { ...DEFAULT_LIMITS, requestsByToken: 10 },
  })
  const server = await listen(app, { direct, host: '127.0.0.1', port: 0 })
  servers.push(server)
  const { status, headers } = await send(server.url + SEARCH, { method: 'POST', body: '{}' })
  assert.deepEqual([status, headers.ratelimit], [500, '"requests";r=9;t=60'])
})

test('an address that shows bad tokens again and again is told to wait, and good ones are answered meanwhile', async () => {
  const { ask, time, refused, server } = await start({ refusalsByAddress: 2 })
  const statuses = async (...tokens: string[]) => {
    const found: number[] = []
    for (const token of tokens) found.push((await ask(token, SEARCH, '{}')).status)
    return found
  }
  assert.deepEqual(await statuses('cs_a', 'cs_b', 'cs_c', 'cs_search', 'cs_d'), [401, 401, 429, 200, 429])
  const { headers, text } = await ask('cs_e', SEARCH)
  assert.equal(headers['retry-after'], '60')
  assert.match(JSON.parse(text).error.reason, /^An address has more than 2 refused tokens in a minute\. /)
  // Who shows none may have asked without knowing.
  assert.equal((await send(server.url + SEARCH, { headers: {} })).status, 401)
  assert.equal(refused.length, 5)
  time.now = 60_000
  assert.deepEqual(await statuses('cs_a'), [401])
})

test('windows of very many addresses are forgotten, the oldest first', () => {
  const rates = createRequestQuotas({ ...DEFAULT_LIMITS, refusalsByAddress: 1 }, () => 0)
  assert.equal(rates.refused('first'), undefined)
  for (let i = 0; i < 9_999; i++) assert.equal(rates.refused(String(i)), undefined)
  assert.ok(rates.refused('first'))
  for (let i = 0; i < 10_000; i++) rates.refused(`more ${i}`)
  assert.equal(rates.refused('first'), undefined)
})
