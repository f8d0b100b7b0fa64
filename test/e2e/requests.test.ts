import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DEFAULT_LIMITS, overLimit } from '../../src/limits/index.ts'
import { KEYS } from '../../src/query/body-keys.ts'
import { CLAUSES } from '../../src/query/dsl/index.ts'
import { makeChain } from '../support/pack.ts'
import { serve, start, succeed, tempFolder, writePack } from './program.ts'

const NETWORK = 'ethereum/test/net'

const setUp = async (t: TestContext) => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), makeChain({ blocks: 12 }))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const server = await serve(t, data)
  return { data, server }
}

const nested = (depth: number, inner: unknown): unknown =>
  JSON.parse(`${'{"bool":{"filter":'.repeat(depth)}${JSON.stringify(inner)}${'}}'.repeat(depth)}`)

/** What Elasticsearch tells of an index that is not there, beside the reason. */
const missing = (reason: string) => {
  const index = /^no such index \[(.*?)\]/.exec(reason)?.[1]
  if (index === undefined) return {}
  return { 'resource.type': 'index_or_alias', 'resource.id': index, index_uuid: '_na_', index }
}

test('requests that are refused, each with where and why', async t => {
  const { server, data } = await setUp(t)
  const path = `/${NETWORK}/es/event/search/`
  const tooDeepAt = (place: string) => overLimit('nesting', DEFAULT_LIMITS, `The query up to ${place}`).message
  const CASES: [what: string, path: string, body: unknown, status: number, type: string, reason: string][] = [
    [
      'an unknown network',
      '/ethereum/test/nett/es/block/search/',
      {},
      404,
      'index_not_found_exception',
      'no such index [ethereum-test-nett-block]: there is no network ethereum/test/nett. Did you mean "ethereum/test/net"? (known: ethereum/test/net)',
    ],
    [
      'an unknown entity',
      `/${NETWORK}/es/blok/search/`,
      {},
      404,
      'index_not_found_exception',
      'no such index [ethereum-test-net-blok]: there is no entity "blok". Did you mean "block"? (known: block, tx, log, event, trace, call, contract, token)',
    ],
    [
      'no JSON',
      path,
      '{"query": {',
      400,
      'json_e_o_f_exception',
      'line 1, column 12: the body is cut off: expected a name in double quotes, found the end. Send one whole JSON object.',
    ],
    [
      'no object',
      path,
      '[]',
      400,
      'parsing_exception',
      'the body: expected an object such as {"query": {"match_all": {}}}, received an empty list.',
    ],
    [
      'no query',
      path,
      { query: 'Transfer' },
      400,
      'parsing_exception',
      'query: expected a query clause, such as {"term": {…}}, received "Transfer".',
    ],
    [
      'an unknown parameter',
      path,
      { quary: {} },
      400,
      'parsing_exception',
      `quary: unknown key [quary]. Did you mean "query"? Known are ${KEYS.join(', ')}.`,
    ],
    [
      'an unknown clause',
      path,
      { query: { tern: { event: 'x' } } },
      400,
      'parsing_exception',
      `query.tern: unknown query [tern]. Did you mean "term"? Supported are ${Object.keys(CLAUSES).join(', ')}.`,
    ],
    [
      'an unknown field',
      path,
      { query: { term: { adress: 'x' } } },
      400,
      'query_shard_exception',
      'query.term.adress: no field [adress] in event. Did you mean "address"?',
    ],
    [
      'a wrong value',
      path,
      { query: { term: { 'blockNumber.num': 'ten' } } },
      400,
      'number_format_exception',
      'query.term.blockNumber.num: expected an integer, as a number, as decimal text or as 0x-hex text, received "ten".',
    ],
    [
      'a number out of range',
      path,
      { query: { term: { 'blockNumber.num': 1e30 } } },
      400,
      'illegal_argument_exception',
      'query.term.blockNumber.num: 1e+30 is out of range for a long: [blockNumber.num] holds the numbers from -9223372036854775808 to 9223372036854775807. Larger ones are found by blockNumber.raw (0xc9f2c9cd04674edea40000000).',
    ],
    [
      'a size out of range',
      path,
      { size: -2 },
      400,
      'illegal_argument_exception',
      'size: [size] parameter cannot be negative but was [-2]. Only -1 has a meaning: all hits.',
    ],
    [
      'nesting a thousand deep',
      path,
      { query: nested(1000, { match_all: {} }) },
      400,
      'parsing_exception',
      tooDeepAt('line 1, column 900'),
    ],
    [
      'brackets a hundred thousand deep',
      path,
      `{"query":${'['.repeat(100_000)}`,
      400,
      'parsing_exception',
      tooDeepAt('line 1, column 109'),
    ],
    [
      'an unknown parameter in the URL',
      `${path}?sise=3`,
      {},
      400,
      'illegal_argument_exception',
      `request [/${NETWORK}/es/event/search] contains unrecognized parameter: [sise] -> did you mean [size]?`,
    ],
    [
      'a path that is none',
      '/nothing/here/',
      {},
      404,
      'resource_not_found_exception',
      'There is nothing at /nothing/here: searches go to /{technology}/{blockchain}/{network}/es/{entity}/search/, documents are at /{technology}/{blockchain}/{network}/es/{entity}/{id}/.',
    ],
  ]
  for (const [what, path, body, status, type, reason] of CASES) {
    const error = { type, reason, ...missing(reason) }
    assert.deepEqual(
      await server.ask(path, body),
      { status, body: { error: { root_cause: [error], ...error }, status } },
      what,
    )
  }
  // The shell says the same.
  const shell = start(t, ['search', NETWORK, 'event', '{"query":{"term":{"adress":"x"}}}'], { data })
  const { code, out, err } = await shell.ended
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /adress.*address/)
  // Nothing of this is a fault of the server, and it goes on.
  assert.doesNotMatch(server.err(), /error/)
  assert.equal(await server.total(NETWORK, 'block'), 12)
})

test('who has no token, or a wrong one, learns nothing but that', async t => {
  const { server } = await setUp(t)
  const url = `${server.url}/${NETWORK}/es/block/search/`
  const status = async (path: string, authorization?: string) =>
    (await fetch(path, authorization === undefined ? {} : { headers: { authorization } })).status
  const basic = (password: string) => `Basic ${Buffer.from(`elastic:${password}`).toString('base64')}`
  assert.deepEqual(
    await Promise.all([
      status(url),
      status(url, 'Bearer cs_wrong'),
      status(url, `Bearer ${server.token}x`),
      status(url, basic('wrong')),
      status(`${server.url}/status`),
      status(`${server.url}/nothing/there`),
      status(`${server.url}/health`),
      status(url, `Bearer ${server.token}`),
      status(url, basic(server.token)),
    ]),
    [401, 401, 401, 401, 401, 401, 200, 200, 200],
  )
  const denied = await fetch(url)
  assert.equal(denied.headers.get('www-authenticate'), 'Bearer realm="chainsieve"')
  const { error } = (await denied.json()) as { error: { type: string; reason: string } }
  assert.equal(error.type, 'security_exception')
  assert.match(error.reason, /A token is missing.*chainsieve token create --account NAME/)
})

test('a body of a hundred megabytes is refused without being held', async t => {
  const { server } = await setUp(t)
  const before = memoryOf(server.pid)
  const size = 100_000_000
  const send = (headers: Record<string, string | number>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(`${server.url}/${NETWORK}/es/block/search/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, ...headers },
      })
      let answered = false
      sent.on('response', reply => {
        answered = true
        let text = ''
        reply.setEncoding('utf8').on('data', chunk => {
          text += chunk
        })
        reply.on('end', () => {
          resolve({ status: reply.statusCode!, text })
          sent.destroy()
        })
      })
      // The server need not read on what it does not want.
      sent.on('error', error => (answered ? undefined : reject(error)))
      const chunk = Buffer.alloc(1 << 20, ' ')
      let written = 0
      const write = () => {
        while (!answered && written < size) {
          written += chunk.length
          if (!sent.write(chunk)) return void sent.once('drain', write)
        }
        if (!answered) sent.end()
      }
      write()
    })
  for (const headers of [{ 'content-length': 96 << 20 }, { 'transfer-encoding': 'chunked' }]) {
    const { status, text } = await send(headers as unknown as Record<string, string>)
    assert.equal(status, 413)
    assert.deepEqual(JSON.parse(text).error.type, 'content_too_large_exception')
    assert.match(JSON.parse(text).error.reason, /more than 16MB of data in its body.*--limit body=/)
  }
  assert.ok(memoryOf(server.pid) - before < 90e6, `${memoryOf(server.pid) - before} bytes more`)
  assert.equal(await server.total(NETWORK, 'block'), 12)
})

/** Bytes that a process holds in memory; 0 where that cannot be told. */
const memoryOf = (pid: number): number => {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
  } catch {
    return 0
  }
}
