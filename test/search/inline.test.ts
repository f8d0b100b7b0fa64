import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { createInline, type InlineAnswer, type InlineOptions, type InlineSearch } from '../../src/search/inline.ts'
import { createPool } from '../../src/search/pool.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const INDEX = 'ethereum-test-net'
const blocks = generatedBlocks(6)
const store = createTestStore(blocks)
after(() => store.close())
const limits = DEFAULT_LIMITS
const hash = blocks[2]!.block.hash
const [transaction] = blocks[2]!.block.transactions

const setUp = async (t: TestContext, options: Partial<InlineOptions> = {}) => {
  const inline = createInline({ limits, budgetMs: 60_000, ...options })
  t.after(inline.close)
  await nextTurn()
  const search = (entities: string, body: string | undefined, account = 1) =>
    inline.search({ ...asked, entities, body: body === undefined ? undefined : Buffer.from(body) }, by(account))
  const get = (entity: string, document: string) =>
    inline.get({ type: 'get', id: 1, store: store.path, index: INDEX, entity, document }, by(1))
  return { inline, search, get }
}

const { signal } = new AbortController()
const by = (account: number) => ({ account, signal })

const textOf = (found: InlineAnswer): string => {
  assert.ok(found && 'status' in found)
  const { status, body } = found
  assert.ok(body instanceof Uint8Array)
  return `${status} ${Buffer.from(body)
    .toString()
    .replace(/"took":\d+/, '"took":0')}`
}

/** As if each look at the clock took so many milliseconds. */
const ticking = (ms = 1) => {
  let time = 0
  const now = () => {
    time += ms
    return time
  }
  return Object.assign(now, {
    pass(more: number) {
      time += more
    },
  })
}
/** A cheap query takes some twenty of them. */
const LOOK_MS = 0.02

const asked: InlineSearch = {
  type: 'search',
  ...{ id: 1, store: store.path, index: INDEX, now: 0, deadlineMs: 10_000, mayStream: true },
  ...{ entities: 'tx', body: undefined },
}

const SEARCHES: [entities: string, body: string | undefined][] = [
  ['block', undefined],
  ['block,tx', ''],
  ['tx', `{"query": {"term": {"hash": "${transaction!.hash}"}}}`],
  ['tx,event', '{"sort": [{"blockNumber.num": "desc"}], "size": 3, "from": 2}'],
  ['event', '{"query": {"range": {"str": {"gte": "T"}}}, "sort": "str", "size": 20}'],
  ['log', '{"_source": ["address"], "size": 500, "track_total_hits": false}'],
  ['block', `{"query": {"bool": {"should": [{"term": {"hash": "${hash}"}}, {"match_all": {}}]}}, "size": 0}`],
]
const DEAR = JSON.stringify({
  query: { bool: { must_not: Array.from({ length: 10 }, (_, i) => ({ range: { str: { gte: `zzz${i}` } } })) } },
})

test('the main thread answers byte for byte what a reading thread does', async t => {
  const { inline, search, get } = await setUp(t)
  const stores = () => new Map([[NETWORK, store.path]])
  const pool = createPool({ stores, threads: 1, deadlineMs: 10_000, inlineMs: 0, limits })
  t.after(() => pool.close())
  const { signal } = new AbortController()
  const whose = { network: NETWORK, account: 1, signal }
  const due = await Promise.all(
    SEARCHES.map(([entities, body]) =>
      pool.search({ ...whose, entities, body: body === undefined ? undefined : Buffer.from(body) }),
    ),
  )
  for (const [i, [entities, body]] of SEARCHES.entries()) {
    await nextTurn()
    assert.equal(textOf(await search(entities, body)), textOf(due[i]!), `${entities} ${body}`)
  }
  for (const id of [hash, '0xabc']) {
    await nextTurn()
    assert.equal(textOf(await get('block', id)), textOf(await pool.get({ ...whose, entity: 'block', id })))
  }
  for (const body of ['{', '{"quary": 1}', '{"query": {"term": {"hush": 1}}}', '{"size": 10001}']) {
    await nextTurn()
    await assert.rejects(async () => search('tx', body), { next: 'refuse' }, body)
  }
  await nextTurn()
  assert.equal(await inline.search({ ...asked, store: '/nowhere' }, by(1)), undefined)
})

test('a pool answers itself what is quick, and a thread what it hands over', async t => {
  const stores = () => new Map([[NETWORK, store.path]])
  const pool = createPool({ stores, threads: 1, deadlineMs: 10_000, limits })
  t.after(() => pool.close())
  const { signal } = new AbortController()
  const whose = { network: NETWORK, account: 1, signal }
  const ask = async (entities: string, body: string | undefined) => {
    const asked = { ...whose, entities, body: body === undefined ? undefined : Buffer.from(body) }
    const { status, body: answer } = await pool.search(asked)
    const bytes =
      answer instanceof Uint8Array
        ? answer
        : await new Response(answer as ReadableStream<Uint8Array<ArrayBuffer>>).bytes()
    return textOf({ status, body: bytes })
  }
  const all: typeof SEARCHES = [...SEARCHES, ['event', DEAR], ['log', '{"size": -1}']]
  const due: string[] = []
  for (const one of all) due.push(await ask(...one))
  for (let round = 0; round < 3; round++) assert.deepEqual(await Promise.all(all.map(one => ask(...one))), due)
  await assert.rejects(ask('tx', '{'), { next: 'refuse' })
  const gone = { ...whose, entities: 'tx', body: undefined, signal: AbortSignal.abort() }
  await assert.rejects(pool.search(gone), { name: 'AbortError' })
  await pool.close()
  await assert.rejects(ask('block', undefined), { code: 'search_closed' })
})

test('a query that is handed over in the middle leaves nothing behind, wherever that is', async t => {
  const whole = await setUp(t)
  for (const [entities, body] of SEARCHES) {
    const due = textOf(await whole.search(entities, body))
    let handed = 0
    for (let budgetMs = 0; budgetMs < 2_000; budgetMs = Math.ceil((budgetMs + 1) * 1.2)) {
      const { inline, search } = await setUp(t, { budgetMs, now: ticking() })
      const answer = await search(entities, body)
      // What a snapshot that is held would keep in the log can all be copied.
      assert.equal((store.db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]!.busy, 0)
      if (answer) assert.equal(textOf(answer), due)
      else handed++
      inline.close()
    }
    assert.ok(handed > 0)
  }
})

test('what does not fit into one turn of the event loop waits for the next ones, and accounts take turns', async t => {
  const { inline, search } = await setUp(t, { now: ticking(LOOK_MS) })
  const order: number[] = []
  const ask = (account: number, signal = new AbortController().signal) => {
    const found = inline.search(
      { ...asked, entities: 'block', body: Buffer.from('{"size": 500}') },
      { account, signal },
    )
    if (!(found instanceof Promise)) return undefined
    return found.then(answer => {
      order.push(account)
      return answer && textOf(answer)
    })
  }
  // A turn is over after 4 ms.
  let found: InlineAnswer
  do found = search('block', '{"size": 500}')
  while (!(found instanceof Promise))
  await found
  await nextTurn()
  while (!ask(1));
  const ending = new AbortController()
  const gone = ask(1, ending.signal)!
  ending.abort()
  const waiting = [...Array.from({ length: 20 }, () => ask(1)!), ask(2)!]
  await assert.rejects(gone, { name: 'AbortError' })
  const [due, ...others] = await Promise.all(waiting)
  assert.match(due!, /^200 /)
  for (const text of others) assert.equal(text, due)
  assert.deepEqual(order, [1, 2, ...Array.from({ length: 20 }, () => 1)])
  // Where too many wait a thread answers.
  const many = Array.from({ length: 300 }, () => inline.search({ ...asked, entities: 'block' }, by(1)))
  assert.ok(many.includes(undefined))
  await Promise.all(many)
})

test('one connection that has handed over again and again goes on answering', async t => {
  const now = ticking(LOOK_MS)
  const { search } = await setUp(t, { budgetMs: 3, now })
  const [entities, body] = SEARCHES[2]!
  for (let i = 0; i < 20; i++) assert.equal(await search('event', DEAR, i), undefined)
  for (let i = 0; i < 100; i++) {
    await nextTurn()
    now.pass(20)
    const answer = await search(entities, body, 100 + i)
    if (answer) return assert.match(textOf(answer), new RegExp(transaction!.hash))
  }
  assert.fail('answers nothing')
})

test('dear queries that the main thread tries take little of its time', async t => {
  const now = ticking(LOOK_MS)
  const { search } = await setUp(t, { budgetMs: 2, now })
  await search('block', '{}')
  const began = now()
  let lost = 0
  for (let i = 0; i < 300; i++) {
    await nextTurn()
    now.pass(1)
    // Each of another shape.
    const shape = [...`${i}`].map(digit => 'abcdefghij'[Number(digit)]).join('')
    const before = now()
    assert.equal(await search('event', DEAR.replace('zzz0', `zzz${shape}`)), undefined)
    const took = now() - before
    // Else it was not tried.
    if (took > 2) lost += took
  }
  // A tenth of the time and 40 ms at once, and what looking at the clock takes.
  const most = 1.2 * (40 + 0.1 * (now() - began))
  assert.ok(lost > 30 && lost < most, `${lost} ms of ${now() - began}, which may be ${most}`)
})

test('long answers and large bodies are left to threads', async t => {
  const { search } = await setUp(t)
  assert.equal(await search('block', '{"size": -1}'), undefined)
  assert.equal(await search('block', `{"size": 1}${' '.repeat(20_000)}`), undefined)
  assert.ok(await search('block', '{"size": 1}'))
})

test('a store is seen as it is at each query', async t => {
  const growing = createTestStore(blocks.slice(0, 2))
  t.after(() => growing.close())
  const { inline } = await setUp(t)
  await nextTurn()
  const blocksNow = async () => {
    await nextTurn()
    const text = textOf(await inline.search({ ...asked, store: growing.path, entities: 'block' }, by(1)))
    return JSON.parse(text.slice('200 '.length)).hits.total as number
  }
  assert.equal(await blocksNow(), 2)
  growing.add(blocks.slice(2, 4))
  assert.equal(await blocksNow(), 4)
  growing.rollback(Number(blocks[0]!.block.number))
  assert.equal(await blocksNow(), 1)
})

test('a store that is locked or is none is left to threads, without waiting', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-test-'))
  const locked = new Database(join(folder, 'locked.sqlite'))
  t.after(() => {
    locked.close()
    rmSync(folder, { recursive: true })
  })
  locked.exec('CREATE TABLE a (b); BEGIN EXCLUSIVE; INSERT INTO a VALUES (1)')
  const { inline } = await setUp(t)
  const started = performance.now()
  for (const path of [locked.name, join(folder, 'absent.sqlite')]) {
    await nextTurn()
    assert.equal(await inline.search({ ...asked, store: path }, by(1)), undefined)
  }
  // SQLite waits for 5 s by default.
  assert.ok(performance.now() - started < 4_900)
})

test('one that is closed leaves all to threads', async t => {
  const { inline, search } = await setUp(t)
  inline.close()
  assert.equal(search('block', '{}'), undefined)
  await nextTurn()
  assert.equal(search('block', '{}'), undefined)
})
