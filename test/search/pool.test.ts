import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { createPool, type PoolOptions } from '../../src/search/pool.ts'
import type { SearchAnswer } from '../../src/search/service.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const blocks = generatedBlocks(24)
const logs = blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs)).length
const store = createTestStore(blocks)
after(() => store.close())
const never = new AbortController().signal

const setUp = (t: TestContext, options: Partial<PoolOptions> = {}) => {
  const pool = createPool({
    stores: () => new Map([[NETWORK, store.path]]),
    threads: 1,
    deadlineMs: 10_000,
    inlineMs: 0,
    limits: DEFAULT_LIMITS,
    ...options,
  })
  t.after(() => pool.close())
  const search = (entities: string, body: unknown, signal = never) =>
    pool.search({ network: NETWORK, entities, body: Buffer.from(JSON.stringify(body)), account: 1, signal })
  return { pool, search }
}

interface Hits {
  hits: { total: number; hits: { _id: string }[] }
}

const whole = async ({ status, body }: SearchAnswer): Promise<Hits> => {
  assert.equal(status, 200)
  if (body instanceof Uint8Array) return JSON.parse(Buffer.from(body).toString())
  return (await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).json()) as Hits
}

const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

test('a deadline is that of the work, not of whoever reads its answer slowly', async t => {
  const { pool, search } = setUp(t, { deadlineMs: 2000 })
  // Has the thread open the store, which may take longer than that.
  await pool.ranges(NETWORK)
  const { body } = await search('log', { size: -1 })
  const parts: Uint8Array[] = []
  for await (const part of body as ReadableStream<Uint8Array>) {
    parts.push(part)
    await pause(200)
  }
  assert.ok(parts.length * 200 > 2 * 2000)
  const { hits } = JSON.parse(Buffer.concat(parts).toString()) as Hits
  assert.deepEqual([hits.total, new Set(hits.hits.map(({ _id }) => _id)).size], [logs, logs])
})

test('whoever reads slowly, but reads, is not cut off', async t => {
  const { search } = setUp(t, { limits: { ...DEFAULT_LIMITS, unreadStream: 2_000 } })
  const { body } = await search('event', { size: -1 })
  let read = 0
  for await (const { length } of body as ReadableStream<Uint8Array>) {
    // So much a second.
    await pause((length / 500_000) * 1_000)
    read += length
    if (read > 2_000_000) break
  }
  assert.ok(read > 2_000_000)
})

test('a thread that is stuck is given up also where its client has gone', {
  skip: process.platform === 'win32',
}, async t => {
  const stuck = join(mkdtempSync(join(tmpdir(), 'chainsieve-test-')), 'stuck.fifo')
  execFileSync('mkfifo', [stuck])
  const stores = new Map([
    [NETWORK, store.path],
    ['ethereum/test/stuck', stuck],
  ])
  const { pool, search } = setUp(t, { stores: () => stores })
  // To open it waits until somebody writes to it.
  t.after(() => {
    closeSync(openSync(stuck, 'r+'))
    rmSync(dirname(stuck), { recursive: true })
  })
  await search('block', {})
  const controller = new AbortController()
  const asked = pool.search({
    network: 'ethereum/test/stuck',
    entities: 'block',
    body: Buffer.from('{}'),
    account: 1,
    signal: controller.signal,
  })
  setTimeout(() => controller.abort(), 300)
  await assert.rejects(asked, { name: 'AbortError' })
  assert.equal((await whole(await search('block', { size: 3 }))).hits.hits.length, 3)
})

test('one thread gives many answers at the same time, long ones part by part', async t => {
  const { search } = setUp(t)
  const long = search('log', { size: -1 }).then(whole)
  const others = await Promise.all(Array.from({ length: 20 }, (_, i) => search('block', { size: i }).then(whole)))
  assert.deepEqual(
    others.map(({ hits }) => hits.hits.length),
    Array.from({ length: 20 }, (_, i) => i),
  )
  const [second, third] = await Promise.all([
    search('event', { size: -1 }).then(whole),
    search('tx', { size: -1 }).then(whole),
  ])
  assert.equal((await long).hits.hits.length, logs)
  assert.equal(second.hits.hits.length, second.hits.total)
  assert.equal(third.hits.hits.length, third.hits.total)
})

test('what nobody waits for any more is given up, whether it waits or runs', async t => {
  const { pool, search } = setUp(t, { deadlineMs: 240_000 })
  await search('block', {})
  // Takes minutes.
  const ranges = Array.from({ length: 3_000 }, (_, i) => ({ range: { str: { gte: `zzz${i}` } } }))
  const expensive = { query: { bool: { must_not: ranges } } }
  const controller = new AbortController()
  const given = Array.from({ length: 50 }, () => search('event', expensive, controller.signal))
  setTimeout(() => controller.abort(), 20)
  for (const one of given) await assert.rejects(one, { name: 'AbortError' })
  assert.equal(pool.threads().waiting, 0)
  assert.equal((await whole(await search('block', { size: 3 }))).hits.hits.length, 3)
  assert.deepEqual([pool.threads().busy, pool.threads().lost], [0, 0])
  await assert.rejects(search('block', {}, AbortSignal.abort()), { name: 'AbortError' })
})

test('an answer that is not wanted to its end ends there', async t => {
  const { search } = setUp(t)
  for (let i = 0; i < 5; i++) {
    const reader = ((await search('log', { size: -1 })).body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await reader.cancel()
  }
  assert.equal((await whole(await search('log', { size: -1 }))).hits.hits.length, logs)
})

test('a search past its deadline, and those behind it', async t => {
  const { pool, search } = setUp(t, { deadlineMs: 500 })
  // Takes seconds: each of many ranges of a rendered text looks at all documents.
  const ranges = Array.from({ length: 3_000 }, (_, i) => ({ range: { str: { gte: `zzz${i}` } } }))
  const expensive = { query: { bool: { must_not: ranges } } }
  // Has the thread open the store, which may take longer than that.
  await pool.ranges(NETWORK)
  const results = await Promise.allSettled([
    search('event', { ...expensive, size: -1, sort: 'str' }),
    search('event', { ...expensive, size: -1, sort: 'str' }),
    search('block', { size: 2 }),
  ])
  for (const result of results.slice(0, 2))
    assert.deepEqual(
      result.status === 'rejected' ? { code: result.reason.code, next: result.reason.next } : 'answered',
      { code: 'search_timeout_exception', next: 'retry' },
    )
  assert.equal(results[2]!.status, 'fulfilled')
})

test('bad queries and absent stores are told, and the thread goes on', async t => {
  const stores = new Map([
    [NETWORK, store.path],
    ['a/b/c', '/nowhere/at/all.sqlite'],
  ])
  const { pool, search } = setUp(t, { stores: () => stores })
  await assert.rejects(search('block', { quary: 1 }), { code: 'parsing_exception', next: 'refuse' })
  await assert.rejects(pool.search({ network: 'a/b/c', entities: 'block', body: undefined, account: 1, signal: never }))
  await assert.rejects(pool.ranges('a/b/c'))
  assert.deepEqual(await pool.ranges('x/y/z'), [])
  assert.deepEqual(await pool.ranges(NETWORK), [
    { from: Number(blocks[0]!.block.number), to: Number(blocks.at(-1)!.block.number) },
  ])
  const document = await pool.get({
    network: NETWORK,
    entity: 'block',
    id: blocks[3]!.block.hash,
    account: 1,
    signal: never,
  })
  assert.equal(document.status, 200)
  const absent = await pool.get({ network: NETWORK, entity: 'block', id: '0x00', account: 1, signal: never })
  assert.equal(absent.status, 404)
})

test('suggestions come from the names of a store and of contracts that were given', async t => {
  const contracts = async (network: string) => [{ name: `Vault of ${network}`, address: `0x${'ab'.repeat(20)}` }]
  const { pool } = setUp(t, { contracts })
  const suggest = async (q: string, network = NETWORK) => {
    const { status, body } = await pool.suggest({ network, q, size: 1, account: 1, signal: never })
    const { took, suggestions } = JSON.parse(Buffer.from(body as Uint8Array).toString())
    assert.deepEqual([status, typeof took], [200, 'number'])
    return suggestions.map(({ kind, text }: { kind: string; text: string }) => `${kind} ${text}`)
  }
  assert.deepEqual(await suggest('transf'), ['event Transfer'])
  assert.deepEqual(await suggest('vault'), [`contract Vault of ${NETWORK}`])
  assert.deepEqual(await suggest(''), ['event Transfer'])
  await assert.rejects(suggest('', 'x/y/z'), { message: 'no store of x/y/z' })
})

test('a pool that is closed answers nothing more', async t => {
  const { pool, search } = setUp(t)
  const waiting = Promise.allSettled(Array.from({ length: 5 }, () => search('event', { size: -1 })))
  await pool.close()
  for (const { status } of await waiting) assert.equal(status, 'rejected')
  await assert.rejects(search('block', {}), { code: 'search_closed' })
})

test('a search that is no body but was read already is answered like its body', async t => {
  const { pool, search } = setUp(t)
  const body = JSON.stringify({ query: { range: { 'blockNumber.num': { gte: 3 } } }, sort: 'blockNumber.num', size: 7 })
  const request = parseSearch(body, ['log'], Date.now())
  const answered = await pool.request({ network: NETWORK, request, account: 1, signal: never }).then(whole)
  assert.deepEqual(answered.hits, (await search('log', JSON.parse(body)).then(whole)).hits)
  assert.equal(answered.hits.hits.length, 7)
})

test('a long answer ends once, whichever thread gives its last part', async t => {
  const { search } = setUp(t, { threads: 2 })
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(['block', 'tx', 'block', 'block'].map(kind => search(kind, { size: -1 })))
    for (const answer of await Promise.all(answers.map(whole))) assert.equal(answer.hits.hits.length, answer.hits.total)
  }
})

test('several networks are searched by a thread, scrolls of them are refused, and a damaged one is not left out', async t => {
  const other = createTestStore(generatedBlocks(2, 7))
  t.after(() => other.close())
  const stores = new Map([
    ['a/a/a', store.path],
    ['b/b/b', other.path],
    ['c/c/c', '/nowhere/else.sqlite'],
  ])
  const { pool } = setUp(t, { stores: () => stores })
  const ask = (network: string, more: object = {}, body: object = { size: -1 }) =>
    pool.search({
      network,
      entities: 'log',
      body: Buffer.from(JSON.stringify(body)),
      account: 1,
      signal: never,
      ...more,
    })
  const { hits } = await whole(await ask('a/a/a,b/b/b'))
  assert.deepEqual([hits.total, hits.hits.length], [logs + other.all('log').length, logs + other.all('log').length])
  await assert.rejects(ask('a/a/a,b/b/b', { scroll: '1m' }, {}), {
    message: /\[scroll\] works on one network at a time/,
  })
  await assert.rejects(ask('a/a/a,c/c/c'))
})
