import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { createPool } from '../../src/search/pool.ts'
import type { SearchAnswer } from '../../src/search/service.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const STUCK = 'ethereum/test/stuck'
const [A, B] = [1, 2]
const blocks = generatedBlocks(24)
const logs = blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs)).length
const store = createTestStore(blocks)
const folder = mkdtempSync(join(tmpdir(), 'chainsieve-fairness-'))
// Whoever opens it waits until somebody writes to it, and looks at nothing meanwhile.
const stuck = join(folder, 'stuck.fifo')
after(() => {
  rmSync(folder, { recursive: true })
  store.close()
})

interface Options {
  threads?: number
  deadlineMs?: number
  inlineMs?: number
  limits?: Partial<Limits>
}

const setUp = (t: TestContext, { threads = 2, deadlineMs = 10_000, inlineMs = 0, limits = {} }: Options = {}) => {
  const pool = createPool({
    stores: () => new Map([...[[NETWORK, store.path] as const], [STUCK, stuck]]),
    threads,
    deadlineMs,
    inlineMs,
    limits: { ...DEFAULT_LIMITS, ...limits },
  })
  t.after(() => pool.close())
  const search = (account: number, entities: string, body: unknown, signal = new AbortController().signal) =>
    pool.search({ network: NETWORK, entities, body: Buffer.from(JSON.stringify(body)), account, signal })
  const stick = (account: number) =>
    pool.search({ network: STUCK, entities: 'tx', body: undefined, account, signal: new AbortController().signal })
  return { pool, search, stick }
}

const hitsOf = async ({ body }: SearchAnswer): Promise<string[]> => {
  const text =
    body instanceof Uint8Array
      ? Buffer.from(body)
      : await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).text()
  return (JSON.parse(String(text)) as { hits: { hits: { _id: string }[] } }).hits.hits.map(({ _id }) => _id)
}

const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const ranges = (count: number) => Array.from({ length: count }, (_, i) => ({ range: { str: { gte: `zzz${i}` } } }))
/** Takes seconds: each of many ranges of a rendered text looks at all documents. */
const dear = { size: 1, query: { bool: { must_not: ranges(3_000) } } }
const id = { query: { term: { _id: blocks[3]!.block.hash } } }

for (const inlineMs of [0, 2])
  test(`dear queries of one account hold up neither cheap ones of another nor what the program asks, ${inlineMs} ms inline`, async t => {
    const { pool, search } = setUp(t, { inlineMs, deadlineMs: 240_000 })
    await search(B, 'block', id)
    const ending = new AbortController()
    let ended = 0
    // Each takes a hundred times as long as all the cheap ones: whoever waits for them waits for most.
    const attack = Array.from({ length: 20 }, () => search(A, 'event', dear, ending.signal).then(() => ended++))
    const all = Promise.allSettled(attack)
    for (let i = 0; i < 50; i++) await search(B, 'block', id)
    await pool.ranges(NETWORK)
    const before = ended
    ending.abort()
    await all
    assert.ok(before <= 5, `${before} dear queries ended before the cheap ones`)
  })

test('dear queries of several accounts take turns', async t => {
  const { search } = setUp(t, { deadlineMs: 240_000 })
  await Promise.all([search(A, 'block', id), search(B, 'block', id)])
  const long = { size: 1, query: { bool: { must_not: ranges(20) } } }
  const ending = new AbortController()
  let ended = 0
  const attack = Array.from({ length: 8 }, () => search(A, 'event', long, ending.signal).then(() => ended++))
  const all = Promise.allSettled(attack)
  await search(B, 'event', long)
  const before = ended
  ending.abort()
  await all
  // Some end while it is not known yet that the other's is dear, too.
  assert.ok(before <= 4, `${before} of 8 ended before`)
})

test('a query that makes room for others is answered all the same', async t => {
  const { search } = setUp(t, { threads: 1 })
  const long = { query: { range: { str: { gte: 'a' } } }, size: 3 }
  const alone = await hitsOf(await search(A, 'event', long))
  const all = await Promise.all(Array.from({ length: 12 }, (_, i) => search(i % 3, 'event', long).then(hitsOf)))
  for (const hits of all) assert.deepEqual(hits, alone)
})

test('a thread that is killed takes no stream of others along, whatever their order', {
  skip: process.platform === 'win32',
}, async t => {
  execFileSync('mkfifo', [stuck])
  t.after(() => closeSync(openSync(stuck, 'r+')))
  const orders = [
    undefined,
    [{ _doc: 'asc' }],
    [{ timestamp: 'asc' }, { data: 'desc' }],
    ['data'],
    ['address.raw', 'logIndex.num'],
  ]
  const { search, stick } = setUp(t, { threads: 1, deadlineMs: 5_000 })
  const bodies = orders.map(sort => ({ size: -1, ...(sort && { sort }) }))
  const due: string[][] = []
  for (const body of bodies) due.push(await hitsOf(await search(A, 'log', body)))
  const open = await Promise.all(bodies.map(body => search(A, 'log', body)))
  const given = assert.rejects(stick(B), { code: 'search_timeout_exception' })
  await pause(50)
  const hits = await Promise.all(open.map(hitsOf))
  await given
  for (const [i, one] of hits.entries()) {
    assert.equal(one.length, logs)
    assert.deepEqual(one, due[i], JSON.stringify(orders[i]))
  }
})

test('an account has so many long answers at once, and those that are closed are none', async t => {
  const { search } = setUp(t, { limits: { streams: 2 } })
  const open = await Promise.all([search(A, 'log', { size: -1 }), search(A, 'log', { size: -1, sort: 'data' })])
  const full = { code: 'es_rejected_execution_exception', next: 'retry', message: /more than 2 answers to "size": -1/ }
  await assert.rejects(search(A, 'log', { size: -1 }), full)
  await assert.rejects(search(A, 'log', { size: -1, sort: 'data' }), full)
  await search(A, 'log', { size: 1 })
  await (await search(B, 'log', { size: -1 }).then(({ body }) => body as ReadableStream)).cancel()
  await (open[0]!.body as ReadableStream).cancel()
  const third = await search(A, 'log', { size: -1 })
  await assert.rejects(search(A, 'log', { size: -1 }), full)
  assert.equal((await hitsOf(third)).length, logs)
  assert.equal((await hitsOf(open[1]!)).length, logs)
})

test('a long answer that nobody reads is cut, and its place is free', async t => {
  const { search } = setUp(t, { limits: { streams: 1, unreadStream: 2_000 } })
  const { body } = await search(A, 'log', { size: -1 })
  await pause(2_100)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  await assert.rejects(reader.read(), { next: 'retry', message: /--limit unreadStream=N/ })
  assert.equal((await hitsOf(await search(A, 'log', { size: -1 }))).length, logs)
})

test('an account has so many searches waiting, and so many bytes in them', async t => {
  const { search } = setUp(t, { threads: 1, limits: { waitingSearches: 5, waitingBytes: 1_000_000 } })
  const ending = new AbortController()
  const ask = (body: object) => search(A, 'event', body, ending.signal).catch(error => error.message as string)
  const all = Array.from({ length: 10 }, () => ask(dear))
  const refused = await Promise.all(all.slice(-3))
  for (const message of refused) assert.match(String(message), /An account has more than 5 waiting searches/)
  assert.equal((await hitsOf(await search(B, 'block', id))).length, 1)
  ending.abort()
  await Promise.all(all)
  const large = { query: { ids: { values: ['a'.repeat(600_000)] } } }
  const messages = await Promise.all(
    Array.from({ length: 4 }, () => search(A, 'tx', large).then(String, it => it.message)),
  )
  assert.equal(messages.filter(it => /more than 1MB of waiting searches/.test(it)).length > 0, true, messages.join())
})

test('hits that take too much memory to sort are refused with a way out', async t => {
  const { search } = setUp(t, { limits: { queryMemory: 50_000 } })
  const refused = {
    code: 'illegal_argument_exception',
    next: 'refuse',
    message: /50kB of hits and keys to sort\. Sort by/,
  }
  await assert.rejects(search(A, 'log', { size: -1, sort: 'data' }), refused)
  await search(A, 'log', { size: 5, sort: 'logIndex.num' })
  assert.equal((await hitsOf(await search(A, 'log', { size: -1, sort: '_doc' }))).length, logs)
})
