import assert from 'node:assert/strict'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FIRST_BLOCK, main as generate, generateBlocks } from '../../scripts/bench/generate.ts'
import { startNode } from '../support/node.ts'
import { after, pause, type Server, serve, succeed, tempFolder, untilIs } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const SEED = 7
const STORED = 681

/** Scans all events, and builds the text of each again and again: takes minutes. */
const RANGES = Array.from({ length: 1_000 }, (_, i) => ({ range: { str: { gte: `zzz${i}` } } }))
const EXPENSIVE = { size: 0, query: { bool: { must_not: RANGES } } }

/** Reads a search's answer chunk by chunk; `take` may end it by returning false. */
const stream = (server: Server, entities: string, body: unknown, take: (text: string) => boolean | undefined) =>
  new Promise<{ status: number; whole: boolean }>((resolve, reject) => {
    const sent = request(
      `${server.url}/${NETWORK}/es/${entities}/search/`,
      { method: 'POST', headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' } },
      reply => {
        reply.setEncoding('latin1')
        reply.on('data', text => {
          if (take(text) === false) sent.destroy()
        })
        reply.on('close', () => resolve({ status: reply.statusCode!, whole: reply.complete }))
        reply.on('error', () => {})
      },
    )
    sent.on('error', error => (sent.destroyed ? undefined : reject(error)))
    sent.end(JSON.stringify(body))
  })

const timed = async <T>(work: Promise<T>): Promise<{ ms: number; value: T }> => {
  const start = performance.now()
  const value = await work
  return { ms: performance.now() - start, value }
}

test('two hundred thousand logs: answers without end, clients that leave, queries that take too long', {
  timeout: 1_800_000,
}, async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = join(folder, 'pack.ndjson')
  await generate(['--blocks', String(STORED), '--seed', String(SEED), '--out', pack])
  await succeed(t, ['import', '--network', NETWORK, pack], { data })

  await t.test('all hits are streamed while blocks come in', t => streamsWhileFilling(t, data))
  await t.test('a client that leaves frees the thread that worked for it', t => freesReaders(t, data))
  await t.test('a query past its deadline is given up and holds up no other', t => keepsDeadlines(t, data))
})

const streamsWhileFilling = async (t: TestContext, data: string) => {
  const more = [...generateBlocks({ seed: SEED, from: FIRST_BLOCK + STORED - 1, count: 60 })]
  const logs = more.map(({ receipts }) => receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0))
  const node = await startNode({ after: fn => after(t, fn) }, more.slice(0, 2))
  node.methods.set('eth_call', () => '0x')
  const args = [
    '--network',
    NETWORK,
    '--rpc',
    node.url,
    '--ws',
    node.wsUrl,
    '--from',
    String(FIRST_BLOCK),
    '--readers',
    '2',
    '--query-deadline',
    '200s',
  ]
  const server = await serve(t, data, args)
  const upToStored = { range: { 'blockNumber.num': { lt: FIRST_BLOCK + STORED } } }
  const stored = await server.total(NETWORK, 'log', upToStored)
  assert.ok(stored >= 200_000, String(stored))

  let given = 2
  const coming = (async () => {
    for (; given < more.length; given++) {
      node.extend([more[given]!])
      node.announce()
      await pause(50)
    }
  })()
  const ids = new Set<string>()
  let count = 0
  let rest = ''
  const got = await stream(server, 'log', { size: -1 }, text => {
    rest += text
    for (const [, id] of rest.matchAll(/"_id":"([^"]+)"/g)) {
      ids.add(id!)
      count++
    }
    // An id may be cut in two by the end of a chunk.
    rest = rest.slice(Math.max(0, rest.lastIndexOf('"_id":"')))
    if (/^"_id":"[^"]+"/.test(rest)) rest = rest.slice(7)
  })
  await coming
  assert.deepEqual(got, { status: 200, whole: true })
  assert.match(rest, /\]\}\}$/)
  assert.equal(ids.size, count, 'no hit twice')
  assert.ok(count >= stored, `${count} of ${stored}`)
  const all = stored + logs.slice(1).reduce((sum, n) => sum + n)
  await untilIs(
    () => server.total(NETWORK, 'log'),
    all,
    () => `of ${all}; ${server.err()}`,
  )
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
}

const freesReaders = async (t: TestContext, data: string) => {
  const server = await serve(t, data, ['--readers', '1', '--query-deadline', '200s'])

  // In the middle of an answer: many times, so that what is not freed would add up.
  for (let i = 0; i < 20; i++) {
    let bytes = 0
    const { whole } = await stream(server, 'log', { size: -1 }, text => {
      bytes += text.length
      return bytes < 100_000
    })
    assert.equal(whole, false)
  }
  assert.ok((await server.total(NETWORK, 'log')) >= 200_000)

  // In the middle of the search itself.
  const leaving = request(`${server.url}/${NETWORK}/es/event/search/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}` },
  })
  leaving.on('error', () => {})
  leaving.end(JSON.stringify(EXPENSIVE))
  await pause(100)
  leaving.destroy()
  // Long answers are a thread's, and there is one: it would come after the deadline.
  const next = await timed(stream(server, 'block', { size: -1 }, () => undefined))
  assert.deepEqual(next.value, { status: 200, whole: true })
  assert.ok(next.ms < 190_000, `${next.ms} ms`)
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
  assert.doesNotMatch(server.err(), /error/)
}

const keepsDeadlines = async (t: TestContext, data: string) => {
  const server = await serve(t, data, ['--readers', '2', '--query-deadline', '3s'])
  const path = `/${NETWORK}/es/event/search/`
  const expensive = server.ask(path, EXPENSIVE)
  // Many cheap ones beside it, each of which is answered although one of the two threads is taken.
  for (let i = 0; i < 20; i++)
    assert.equal((await server.search(NETWORK, 'block', { size: 1 })).hits.total >= STORED, true)
  const reason = 'the search passed its deadline: narrow it, or raise query-deadline'
  const error = { type: 'search_timeout_exception', reason }
  assert.deepEqual(await expensive, { status: 408, body: { error: { root_cause: [error], ...error }, status: 408 } })

  // As many as there are threads, and more: all are given up, and then there is room again.
  const many = await Promise.all(Array.from({ length: 4 }, () => server.ask(path, EXPENSIVE)))
  assert.deepEqual(
    many.map(({ status }) => status),
    [408, 408, 408, 408],
  )
  assert.equal((await server.ask(`/${NETWORK}/es/block/search/`, { size: 1 })).status, 200)
}
