import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { AppServices } from '../../src/http/app.ts'
import { refuse, retry, stop } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { SearchService } from '../../src/search/service.ts'
import { appOf, echo, errorOf, MAINNET, TOKEN } from './support.ts'

type Body = string | Uint8Array<ArrayBuffer>
const JSON_UTF8 = 'application/json; charset=UTF-8'
const bearer = { authorization: `Bearer ${TOKEN}` }
const ES = `/${MAINNET}/es`

const call = async (path: string, init: RequestInit = {}, services: Partial<AppServices> = {}) => {
  const reply = await appOf(services).request(path, { headers: bearer, ...init })
  const text = await reply.text()
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body: text === '' ? '' : JSON.parse(text) }
}
const post = (path: string, body?: Body, services: Partial<AppServices> = {}) =>
  call(path, { method: 'POST', ...(body === undefined ? {} : { body }) }, services)

const error = (status: number, type: string, reason: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': JSON_UTF8, ...headers },
  body: errorOf(status, type, reason),
})
/** As Elasticsearch tells of an index that is not there. */
const noIndex = (index: string, why: string) => {
  const [type, reason] = ['index_not_found_exception', `no such index [${index}]: ${why}`]
  const cause = { type, reason, 'resource.type': 'index_or_alias', 'resource.id': index, index_uuid: '_na_', index }
  return { ...error(404, type, reason), body: { error: { root_cause: [cause], ...cause }, status: 404 } }
}
const found = (body: unknown) => ({
  status: 200,
  headers: { 'content-type': JSON_UTF8, 'x-elastic-product': 'Elasticsearch' },
  body,
})

test('a search is handed to the service as it came', async () => {
  const body = '{"query": {"term": {"value.num": 123456789012345678901234567890}}}'
  assert.deepEqual(await post(`${ES}/event/search/`, body), found({ network: MAINNET, entities: 'event', body }))
  assert.deepEqual(await post(`${ES}/tx/search/`), found({ network: MAINNET, entities: 'tx', body: null }))
})

test('a search is found under every spelling of its path', async () => {
  const spellings = [
    'block,tx/search/',
    'block,tx/search',
    'block,tx/_search',
    'block,tx/_search/',
    'block%2Ctx/_search',
    'block%2ctx/search/',
    '/block,tx/_search',
    'block,tx//search//',
    'block,tx,block/search/',
    'block,%20tx/search/',
  ]
  for (const spelling of spellings)
    assert.deepEqual(
      await post(`${ES}/${spelling}`, '{}'),
      found({ network: MAINNET, entities: 'block,tx', body: '{}' }),
      spelling,
    )
  assert.deepEqual(await post(`//${MAINNET.replaceAll('/', '//')}//es//tx//search`), await post(`${ES}/tx/search`))
})

test('a body is read whatever its content type says', async () => {
  for (const type of [
    '',
    'text/plain',
    'application/x-ndjson',
    'application/vnd.elasticsearch+json; compatible-with=8',
  ]) {
    const reply = await call(`${ES}/tx/search/`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': type },
      body: 'no JSON',
    })
    assert.deepEqual(reply, found({ network: MAINNET, entities: 'tx', body: 'no JSON' }), type)
  }
})

test('a document is found under every spelling of its path', async () => {
  for (const spelling of ['tx/0xAb/', 'tx/0xAb', 'tx/_doc/0xAb', 'tx/_doc/0xAb/', '/tx//0xAb', 'tx/%30xAb'])
    assert.deepEqual(await call(`${ES}/${spelling}`), found({ network: MAINNET, entity: 'tx', id: '0xAb' }), spelling)
  const head = await call(`${ES}/tx/0xAb`, { method: 'HEAD' })
  assert.deepEqual(head, { ...found({}), body: '' })
  assert.deepEqual(await call(`${ES}/tx/a%2Fb`), found({ network: MAINNET, entity: 'tx', id: 'a/b' }))
  assert.deepEqual(await call(`${ES}/tx/absent/`), {
    status: 404,
    headers: { 'content-type': JSON_UTF8 },
    body: { network: MAINNET, entity: 'tx', id: 'absent' },
  })
  assert.deepEqual(
    await call(`${ES}/block,tx/0xAb/`),
    error(
      400,
      'illegal_argument_exception',
      'A document belongs to one entity, not to [block,tx]: to look in several, search for ids.',
    ),
  )
})

test('health is open, status is not', async () => {
  const ok = found({ status: 'ok' })
  assert.deepEqual(await call('/health', { headers: {} }), ok)
  assert.deepEqual(await call('/health/', { headers: {} }), ok)
  assert.deepEqual(await call('/status/'), found({ version: '0', networks: [] }))
  assert.equal((await call('/status', { headers: {} })).status, 401)
})

test('of receivers that fail, an account sees its own', async () => {
  const failing = [1, 2].map(account => ({
    ...{
      account,
      rule: account,
      channel: 'Chat',
      target: `https://r${account}.example`,
      receiver: `https://r${account}.example/~1`,
      error: 'HTTP 500',
      status: 500,
    },
    ...{ since: '2026-03-01T00:00:00Z', at: '2026-03-01T00:00:00Z' },
  }))
  const status = () => ({
    version: '0',
    networks: [],
    deliveries: { state: 'delivering' as const, error: null, failing },
  })
  const answer = await appOf({ status }).request('/status', { headers: { authorization: `Bearer ${TOKEN}` } })
  const { deliveries } = (await answer.json()) as ReturnType<typeof status>
  assert.deepEqual(deliveries, { state: 'delivering', error: null, failing: failing.slice(0, 1) })
})

test('a client learns what it talks to before it asks anything', async () => {
  for (const path of ['/', `${ES}/`, ES, `/${ES}//`]) {
    const { status, headers, body } = await call(path)
    const version = { number: body.version.number, flavor: body.version.build_flavor }
    assert.deepEqual(
      { ...found({}), body: { tagline: body.tagline, ...version } },
      { status, headers, body: { tagline: 'You Know, for Search', number: '7.17.0', flavor: 'default' } },
    )
  }
  assert.deepEqual(await call(`${ES}/`, { method: 'HEAD' }), { ...found({}), body: '' })
  assert.equal((await call('/', { headers: {} })).status, 401)
})

const MAKE = 'The operator of this server creates one with: chainsieve token create --account NAME'
const denied = (why: string) =>
  error(401, 'security_exception', `${why} ${MAKE}`, { 'www-authenticate': 'Bearer realm="chainsieve"' })

test('a token opens, in each way that clients send it', async () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const good = [
    `Bearer ${TOKEN}`,
    `bearer  ${TOKEN}`,
    basic(`alice@example.org:${TOKEN}`),
    basic(`:${TOKEN}`),
    basic(TOKEN),
    `ApiKey ${TOKEN}`,
    `ApiKey ${Buffer.from(`id:${TOKEN}`).toString('base64')}`,
    `apikey ${Buffer.from(TOKEN).toString('base64')}`,
  ]
  for (const authorization of good)
    assert.equal((await call(`${ES}/tx/1`, { headers: { authorization } })).status, 200, authorization)
  assert.equal((await call(`${ES}/tx/1?access_token=${TOKEN}`, { headers: {} })).status, 200)
})

test('without a valid token nothing opens, not even what is not there', async () => {
  const missing = denied('A token is missing: send it as "Authorization: Bearer <token>".')
  for (const path of [`${ES}/tx/1`, `${ES}/tx/search/`, '/nowhere', '/a/b/c/es/tx/1', `${ES}/tx/1?access_token=`])
    assert.deepEqual(await call(path, { headers: {} }), missing, path)
  const invalid = denied('The token is not valid: it is unknown, expired or revoked.')
  for (const authorization of ['Bearer', 'Bearer cs_bad', 'Basic', 'Basic ???', `Bearer ${TOKEN}x`])
    assert.deepEqual(await call(`${ES}/tx/1`, { headers: { authorization } }), invalid, authorization)
  assert.deepEqual(await call(`${ES}/tx/1?access_token=cs_bad`, { headers: {} }), invalid)
  assert.deepEqual(
    await call(`${ES}/tx/1`, { headers: { authorization: `Digest ${TOKEN}` } }),
    denied(
      'The Authorization header is not understood: send "Bearer <token>", "Basic" with the token as password, or "ApiKey" with the token as key.',
    ),
  )
})

test('a network that is not configured is no index', async () => {
  assert.deepEqual(
    await post('/ethereum/ethereum/mainet/es/tx/search/'),
    noIndex(
      'ethereum-ethereum-mainet-tx',
      'there is no network ethereum/ethereum/mainet. ' +
        'Did you mean "ethereum/ethereum/mainnet"? (known: ethereum/ethereum/mainnet, ethereum/gnosis/mainnet)',
    ),
  )
  assert.deepEqual(
    await call('/a/b/c/es/tx/1', {}, { search: { ...echo, networks: () => [] } }),
    noIndex('a-b-c-tx', 'there is no network a/b/c. (none is configured)'),
  )
})

test('an unknown entity is no index', async () => {
  const none = (entity: string, why: string) => noIndex(`ethereum-ethereum-mainnet-${entity}`, why)
  const known = '(known: block, tx, log, event, trace, call, contract, token)'
  assert.deepEqual(
    await post(`${ES}/block,evnet/search/`),
    none('block,evnet', `there is no entity "evnet". Did you mean "event"? ${known}`),
  )
  assert.deepEqual(await call(`${ES}/unicorn/1/`), none('unicorn', `there is no entity "unicorn". ${known}`))
  assert.deepEqual(await post(`${ES}/tx,/search/`), none('tx,', `there is no entity "". ${known}`))
})

test('an unknown route and a wrong method are told apart', async () => {
  const nothing = (path: string) =>
    error(
      404,
      'resource_not_found_exception',
      `There is nothing at ${path}: searches go to /{technology}/{blockchain}/{network}/es/{entity}/search/, ` +
        'documents are at /{technology}/{blockchain}/{network}/es/{entity}/{id}/.',
    )
  assert.deepEqual(await call('/nowhere/'), nothing('/nowhere'))
  assert.deepEqual(await post(`/${MAINNET}/tx/search/`), nothing(`/${MAINNET}/tx/search`))
  assert.deepEqual(
    await call(`${ES}/tx/search/`, { method: 'PUT', body: '{}' }),
    error(405, 'method_not_allowed_exception', `${ES}/tx/search takes GET and POST, not PUT.`, { allow: 'GET, POST' }),
  )
  assert.deepEqual(
    await post('/health', '{}'),
    error(405, 'method_not_allowed_exception', '/health takes GET, not POST.', { allow: 'GET' }),
  )
  assert.equal((await call(`${ES}/tx/1`, { method: 'DELETE' })).status, 405)
})

test('the URL parameters of a search are handed on as they came', async () => {
  const of = (query: string, parameters: [string, string][]) => async () =>
    assert.deepEqual(
      await post(`${ES}/tx/search/?${query}`, '{}'),
      found({ network: MAINNET, entities: 'tx', body: '{}', parameters }),
    )
  await of('size=5&q=a%20b', [
    ['size', '5'],
    ['q', 'a b'],
  ])()
  await of('pretty', [['pretty', '']])()
})

test('_parent is shown on the native path alone', async () => {
  const parents = async (path: string, body: string) => {
    const shown: unknown[] = []
    const search: SearchService['search'] = async asking => {
      shown.push(asking.dialect?.parents)
      return echo.search(asking)
    }
    await post(`${ES}/${path}`, body, { search: { ...echo, search } })
    return shown
  }
  assert.deepEqual(await parents('tx/search/', '{}'), [true])
  for (const path of [
    'tx/_search',
    'tx/_search/',
    '_search',
    'tx/tx/_search',
    'tx/_search?rest_total_hits_as_int=true',
  ])
    assert.deepEqual(await parents(path, '{}'), [false], path)
  assert.deepEqual(await parents('tx/_msearch', '{}\n{}\n'), [false])
})

test('totals are objects where Elasticsearch 7 is spoken, and numbers on the native path and for older clients', async () => {
  const totals = async (path: string, headers: Record<string, string>) =>
    ((await call(`${ES}/${path}`, { method: 'POST', headers: { ...bearer, ...headers } })).body.dialect
      ?.totals as string) ?? 'integer'
  const modern = { 'user-agent': 'elasticsearch-js/7.17.14 (linux)' }
  assert.equal(await totals('tx/_search', modern), 'object')
  assert.equal(await totals('tx/_search/', { 'user-agent': 'curl/8.1' }), 'object')
  assert.equal(await totals('tx/search', modern), 'integer')
  assert.equal(await totals('tx/_search?rest_total_hits_as_int=true', modern), 'integer')
  assert.equal(await totals('tx/_search', { 'user-agent': 'elasticsearch-py/6.8.2 (Python 3.11.7)' }), 'integer')
  assert.equal(await totals('tx/_search', {}), 'integer')
})

test('a URL parameter that would change the answer is not left out without a word', async () => {
  assert.deepEqual(
    await post(`${ES}/tx/search/?pretyt`, '{}'),
    error(
      400,
      'illegal_argument_exception',
      `request [${ES}/tx/search] contains unrecognized parameter: [pretyt] -> did you mean [pretty]?`,
    ),
  )
})

test('a large body is refused, one of just the limit is not', async () => {
  const large = error(
    413,
    'content_too_large_exception',
    'A request has more than 1kB of data in its body. Send less in one request. The operator can raise this with --limit body=N.',
  )
  assert.equal((await post(`${ES}/tx/search/`, 'x'.repeat(1_000))).status, 200)
  assert.deepEqual(await post(`${ES}/tx/search/`, 'x'.repeat(1_001)), large)
  // A small body that would grow large is one too.
  const headers = { ...bearer, 'content-encoding': 'gzip' }
  const bomb = gzipSync('x'.repeat(100_000))
  assert.deepEqual(await call(`${ES}/tx/search/`, { method: 'POST', headers, body: bomb }), large)
})

test('a large body is given on in memory that no thread has to copy, plain or compressed', async () => {
  const seen: unknown[] = []
  const search: SearchService = {
    ...echo,
    async search({ body }) {
      seen.push([body?.buffer instanceof SharedArrayBuffer, Buffer.from(body!).toString() === text])
      return { status: 200, body: Buffer.from('{}') }
    },
  }
  const app = appOf({ search, limits: DEFAULT_LIMITS })
  const text = JSON.stringify({ x: 'y'.repeat(200_000) })
  const ask = (body: Body, headers: object) =>
    app.request(`${ES}/tx/search/`, { method: 'POST', headers: { ...bearer, ...headers }, body })
  for (const reply of [await ask(text, {}), await ask(gzipSync(text), { 'content-encoding': 'gzip' })])
    assert.equal(reply.status, 200)
  assert.deepEqual(seen, [
    [true, true],
    [true, true],
  ])
})

test('a compressed body is read, one that is not what it says is refused', async () => {
  const of = (encoding: string, body: Body) =>
    call(`${ES}/tx/search/`, { method: 'POST', headers: { ...bearer, 'content-encoding': encoding }, body })
  assert.deepEqual(await of('gzip', gzipSync('{}')), found({ network: MAINNET, entities: 'tx', body: '{}' }))
  assert.deepEqual(
    await of('gzip', '{}'),
    error(400, 'parsing_exception', 'The body is not gzip, as its Content-Encoding says: incorrect header check'),
  )
  assert.deepEqual(
    await of('lzma', '{}'),
    error(
      415,
      'unsupported_media_type_exception',
      'A body in the encoding "lzma" cannot be read: send one of gzip, x-gzip, deflate, br, zstd, or none.',
    ),
  )
})

test("an error of the service is told by its kind, and logged where it is not the caller's", async () => {
  const lines: { time?: string; error?: unknown; request?: string }[] = []
  const log = createLog({ write: line => void lines.push(JSON.parse(line)), json: true })
  const failing = (thrown: Error) => ({ log, search: { ...echo, search: () => Promise.reject(thrown) } })
  const path = `${ES}/tx/search`

  assert.deepEqual(
    await post(path, '{}', failing(refuse('parsing_exception', 'unknown query [trem]'))),
    error(400, 'parsing_exception', 'unknown query [trem]'),
  )
  assert.deepEqual(
    await post(path, '{}', failing(refuse('search_timeout_exception', 'gave up after 10 s'))),
    error(408, 'search_timeout_exception', 'gave up after 10 s'),
  )
  assert.deepEqual(
    await post(path, '{}', failing(retry('too_many_requests', 'come later', { retryAfterMs: 1_500 }))),
    error(429, 'too_many_requests', 'come later', { 'retry-after': '2' }),
  )
  assert.equal(lines.length, 0)

  assert.deepEqual(
    await post(path, '{}', failing(stop('store_broken', 'the store is damaged'))),
    error(500, 'store_broken', 'the store is damaged'),
  )
  const bug = await post(path, '{}', failing(new TypeError('x is undefined')))
  const request = /request ([0-9a-f-]{36})\.$/.exec(bug.body.error.reason)?.[1]
  assert.deepEqual(
    bug,
    error(500, 'internal_server_error', `This is a fault of the server, which it has logged as request ${request}.`),
  )
  const common = { level: 'error', message: 'Failed to answer a request', method: 'POST', path }
  assert.deepEqual(
    lines.map(({ time: _, error, ...line }) => ({ ...line, error: String(error).split('\n')[0] })),
    [
      { ...common, request: lines[0]?.request, error: 'the store is damaged' },
      { ...common, request, error: 'TypeError: x is undefined' },
    ],
  )
})

test('a stream is passed on, and one that fails is logged and broken off', async () => {
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const streaming = (chunks: (string | Error)[]) => ({
    log,
    search: {
      ...echo,
      search: async () => ({
        status: 200,
        body: new ReadableStream<Uint8Array>({
          pull: controller => {
            const chunk = chunks.shift()
            if (chunk === undefined) controller.close()
            else if (chunk instanceof Error) controller.error(chunk)
            else controller.enqueue(Buffer.from(chunk))
          },
        }),
      }),
    },
  })
  assert.deepEqual(await post(`${ES}/tx/search`, '{}', streaming(['{"a"', ':1}'])), found({ a: 1 }))
  await assert.rejects(post(`${ES}/tx/search`, '{}', streaming(['{"a"', new Error('disk')])), { message: 'disk' })
  assert.match(lines.join('\n'), /^\S+ error Failed in the middle of an answer path=\S+ error="Error: disk/)
})

test('suggestions are asked for by what was typed', async () => {
  const asked = (q: string, size: number) => found({ network: MAINNET, q, size })
  assert.deepEqual(await call(`${ES}/suggest/?q=tran%20sfer&size=3`), asked('tran sfer', 3))
  assert.deepEqual(await call(`${ES}/suggest?size=100`), asked('', 100))
  assert.deepEqual(await call(`${ES}/suggest/?q=&pretty`), asked('', 10))
})

test('contracts like another one are asked for by its address', async () => {
  const address = `0x${'aB'.repeat(20)}`
  const asked = (size: number) => found({ network: MAINNET, kind: 'contract', id: address, size })
  assert.deepEqual(await call(`${ES}/contract/${address}/similar/`), asked(10))
  assert.deepEqual(await call(`${ES}/contract/${address}/similar?size=3`), asked(3))
  assert.deepEqual(
    await call(`${ES}/contract/0x12/similar/`),
    error(400, 'illegal_argument_exception', 'Name a contract by its address, 0x and 40 hex digits, not by [0x12].'),
  )
  assert.deepEqual(
    await call(`${ES}/contract/${address}/similar/?size=101`),
    error(400, 'illegal_argument_exception', 'The URL parameter [size] is a number from 1 to 100, and not [101].'),
  )
  for (const [kind, id] of [
    ['event', `0x${'cd'.repeat(32)}_e_7`],
    ['call', `0x${'cd'.repeat(32)}_c_0_1`],
  ] as const) {
    const answer = await call(`${ES}/${kind}/${id}/similar/`)
    assert.deepEqual(answer, found({ network: MAINNET, kind, id, size: 10 }))
    const wrong = await call(`${ES}/${kind}/${address}/similar/`)
    assert.equal(wrong.status, 400)
    assert.match(JSON.stringify(wrong), /by its _id/)
  }
  assert.equal((await call(`${ES}/token/${address}/similar/`)).status, 404)
  assert.equal((await post(`${ES}/contract/${address}/similar/`)).status, 405)
  assert.equal((await call(`${ES}/contract/${address}/similar/`, { headers: {} })).status, 401)
})

test('suggestions of what is not there, and of what is asked for wrongly', async () => {
  for (const size of ['0', '101', '-1', '1.5', 'x', '', '1e2'])
    assert.deepEqual(
      await call(`${ES}/suggest/?size=${size}`),
      error(
        400,
        'illegal_argument_exception',
        `The URL parameter [size] is a number from 1 to 100, and not [${size}].`,
      ),
    )
  assert.deepEqual(
    await call(`${ES}/suggest/?q=${'x'.repeat(201)}`),
    error(400, 'illegal_argument_exception', 'The URL parameter [q] has 201 characters, and may have 200.'),
  )
  assert.deepEqual(
    await call(`${ES}/suggest/?qq=x`),
    error(
      400,
      'illegal_argument_exception',
      `request [${ES}/suggest] contains unrecognized parameter: [qq] -> did you mean [q]?`,
    ),
  )
  assert.deepEqual(
    await call('/ethereum/ethereum/maynet/es/suggest/'),
    noIndex(
      'ethereum-ethereum-maynet',
      `there is no network ethereum/ethereum/maynet. Did you mean "${MAINNET}"? (known: ${MAINNET}, ethereum/gnosis/mainnet)`,
    ),
  )
  assert.equal((await call(`${ES}/suggest/`, { headers: {} })).status, 401)
  assert.equal((await post(`${ES}/suggest/`)).status, 405)
})

test('scrolls are opened, gone on with and closed by every form of their requests', async () => {
  assert.deepEqual((await post(`${ES}/tx/_search?scroll=1m`, '{}')).body, {
    network: MAINNET,
    entities: 'tx',
    scroll: '1m',
    body: '{}',
    parameters: [['scroll', '1m']],
  })
  const page = (scroll?: string) => ({ network: MAINNET, id: 'abc', ...(scroll !== undefined && { scroll }) })
  const body = '{"scroll_id":"abc","scroll":"1m"}'
  for (const path of [`${ES}/_search/scroll`, `${ES}//_search/scroll/`])
    assert.deepEqual((await post(path, body)).body, page('1m'))
  assert.deepEqual((await post(`${ES}/_search/scroll?scroll=2m`, '{"scroll_id":"abc"}')).body, page('2m'))
  assert.deepEqual((await call(`${ES}/_search/scroll?scroll_id=abc&scroll=1m`)).body, page('1m'))
  assert.deepEqual((await call(`${ES}/_search/scroll/abc`)).body, page())
  const missing = error(400, 'action_request_validation_exception', 'Validation Failed: 1: scrollId is missing;')
  assert.deepEqual(await post(`${ES}/_search/scroll`), missing)
  assert.deepEqual(await post(`${ES}/_search/scroll`, '{}'), missing)
  assert.equal((await post(`${ES}/_search/scroll`, '{"foo":1}')).status, 400)
  assert.equal((await post(`${ES}/_search/scroll`, 'abc')).status, 400)
  assert.equal((await post(`${ES}/_search/scroll`, '[1]')).status, 400)

  const clear = async (path: string, body?: string) => {
    const { status, body: told } = await call(`${ES}/_search/scroll${path}`, {
      method: 'DELETE',
      ...(body && { body }),
    })
    return [status, told.num_freed]
  }
  assert.deepEqual(await clear('', '{"scroll_id":"abc"}'), [200, 1])
  assert.deepEqual(await clear('', '{"scroll_id":["abc","closed"]}'), [200, 1])
  assert.deepEqual(await clear('', '{"scroll_id":"closed"}'), [404, 0])
  assert.deepEqual(await clear('/abc,def'), [200, 2])
  assert.deepEqual(await clear('/_all'), [200, 2])
  assert.deepEqual(await clear('', '{"scroll_id":["_all"]}'), [200, 2])
  assert.equal((await clear('', '{}'))[0], 400)
  assert.equal((await clear(''))[0], 400)
})

test('points in time are opened and closed in both dialects', async () => {
  assert.deepEqual((await post(`${ES}/tx%2Clog/_pit?keep_alive=1m`)).body, { id: 'elasticsearch tx,log 1m' })
  assert.deepEqual((await post(`${ES}/tx/_pit?keep_alive=1m`, '{}')).body, { id: 'elasticsearch tx 1m' })
  assert.equal((await post(`${ES}/tx/_pit`)).status, 400)
  assert.equal((await post(`${ES}/none/_pit?keep_alive=1m`)).status, 404)
  const body = '{"pit":{"id":"abc"}}'
  assert.deepEqual((await post(`${ES}/_search`, body)).body, {
    ...{ network: MAINNET, entities: 'block,tx,log,event,trace,call,contract,token', isNamed: false, body },
  })
  const close = (path: string, body?: string) => call(`${ES}/${path}`, { method: 'DELETE', ...(body && { body }) })
  assert.deepEqual((await close('_pit', '{"id":"abc"}')).body, { succeeded: true, num_freed: 1 })
  assert.deepEqual(await close('_pit', '{"id":"closed"}').then(({ status, body }) => [status, body]), [
    404,
    { succeeded: false, num_freed: 0 },
  ])
  assert.equal((await close('_pit')).status, 400)
  assert.deepEqual((await post(`${ES}/tx/_search/point_in_time?keep_alive=1m`)).body, {
    pit_id: 'opensearch tx 1m',
    _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    creation_time: 5,
  })
  assert.deepEqual((await close('_search/point_in_time', '{"pit_id":["abc","closed"]}')).body, {
    pits: [
      { successful: true, pit_id: 'abc' },
      { successful: true, pit_id: 'closed' },
    ],
  })
  assert.equal((await close('_search/point_in_time', '{}')).status, 400)
  assert.deepEqual((await close('_search/point_in_time/_all')).body.pits.length, 2)
  assert.deepEqual((await call(`${ES}/_search/point_in_time/_all`)).body, {
    pits: [{ pit_id: 'one', creation_time: 5, keep_alive: 60_000 }],
  })
})

test('a search is answered in the form that is rather wanted', async () => {
  const formatOf = async (accept: string, path = 'tx/_search') =>
    (await call(`${ES}/${path}`, { method: 'POST', headers: { ...bearer, accept }, body: '{}' })).body.format
  assert.equal(await formatOf('application/x-ndjson'), 'ndjson')
  assert.equal(await formatOf('text/csv; charset=utf-8'), 'csv')
  assert.equal(await formatOf('text/csv; Formulas=RAW ;q=0.9'), 'raw-csv')
  assert.equal(await formatOf('text/csv; args=columns'), 'csv+text')
  assert.equal(await formatOf('application/x-ndjson; Args=columns; integers=decimal'), 'ndjson+decimal')
  assert.equal(await formatOf('application/vnd.apache.parquet'), 'parquet+text')
  assert.equal(await formatOf('application/json; args=columns'), undefined)
  assert.equal(await formatOf('application/x-ndjson; formulas=raw'), 'ndjson')
  assert.equal(await formatOf('text/csv;q=0.5, application/json'), undefined)
  assert.equal(await formatOf('text/csv, application/json;q=0.5'), 'csv')
  assert.equal(await formatOf('application/json, text/csv'), undefined)
  for (const accept of [
    '*/*',
    'application/vnd.elasticsearch+json; compatible-with=8',
    'text/html',
    'text/csv;q=x,*/*',
  ])
    assert.equal(await formatOf(accept, 'tx/search'), undefined, accept)
  const { status } = await call(`${ES}/tx/_search?scroll=1m`, {
    method: 'POST',
    headers: { ...bearer, accept: 'text/csv' },
  })
  assert.equal(status, 400)
})

test('a reason does not repeat all of a long path', async () => {
  const { status, body } = await call(`/nothing/${'a'.repeat(30_000)}`)
  assert.equal(status, 404)
  assert.match(body.error.reason, /^There is nothing at \/nothing\/a+…$/)
  assert.equal(body.error.reason.length, 10_000)
  assert.equal(body.error.root_cause[0].reason, body.error.reason)
})
