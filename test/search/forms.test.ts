import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { after, type TestContext, test } from 'node:test'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { createPool } from '../../src/search/pool.ts'
import type { AnswerForm, SearchAnswer, SearchParams } from '../../src/search/service.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const INDEX = 'ethereum-test-net'
const blocks = generatedBlocks(8)
const store = createTestStore(blocks)
after(() => store.close())
const hash = blocks[3]!.block.hash
const whose = { network: NETWORK, account: 1, signal: new AbortController().signal }

/** Each answer has to be the same from the main thread and from a thread that reads. */
const setUp = (t: TestContext, limits: Partial<Limits> = {}) => {
  const pools = [0, 60_000].map(inlineMs =>
    createPool({
      stores: () => new Map([[NETWORK, store.path]]),
      ...{ threads: 1, deadlineMs: 10_000, inlineMs, limits: { ...DEFAULT_LIMITS, ...limits } },
    }),
  )
  t.after(() => Promise.all(pools.map(pool => pool.close())))
  const of = async (ask: (pool: (typeof pools)[number]) => Promise<SearchAnswer>) => {
    const answers = await Promise.all(pools.map(pool => ask(pool).then(textOf)))
    assert.deepEqual(answers[0], answers[1])
    return answers[0]!
  }
  const search = (asked: Omit<SearchParams, 'body'> & { body?: unknown }) =>
    of(pool =>
      pool.search({
        ...{ ...whose, ...asked },
        body: asked.body === undefined ? undefined : Buffer.from(JSON.stringify(asked.body)),
      }),
    )
  return { pools, of, search }
}

const textOf = async ({ status, body }: SearchAnswer) => {
  const text = await new Response(body as Uint8Array<ArrayBuffer>).text()
  return { status, body: JSON.parse(text.replace(/"took":\d+/, '"took":0')) }
}

const term = (value: string) => ({ query: { term: { hash: value } } })
const refused = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof ChainsieveError && error.code === code && message.test(error.message)

test('a count', async t => {
  const { search } = setUp(t)
  const count = async (asked: { entities?: string; body?: unknown }) =>
    (await search({ entities: 'block', form: { tell: 'count' }, ...asked })).body
  const _shards = { total: 1, successful: 1, skipped: 0, failed: 0 }
  assert.deepEqual(await count({}), { count: 8, _shards })
  assert.deepEqual(await count({ body: term(hash) }), { count: 1, _shards })
  assert.deepEqual(await count({ entities: '' }), { count: 0, _shards })
  assert.equal((await count({ entities: 'block,tx' })).count, 8 + blocks.flatMap(it => it.block.transactions).length)
  const refusal = refused('parsing_exception', /^request does not support \[size\]/)
  await assert.rejects(count({ body: { size: 1 } }), refusal)
})

test('whether a query is a good one', async t => {
  const { search } = setUp(t)
  const valid = async (why: boolean, body?: unknown) =>
    (await search({ entities: 'block', form: { tell: 'validity', why }, body })).body
  const _shards = { total: 1, successful: 1, failed: 0 }
  assert.deepEqual(await valid(false), { _shards, valid: true })
  assert.deepEqual(await valid(false, term('x')), { _shards, valid: true })
  assert.deepEqual(await valid(false, { query: { nope: {} } }), { _shards, valid: false })
  assert.match((await valid(true, { query: { nope: {} } })).error, /^parsing_exception: .*unknown query \[nope\]/)
  const explanation = JSON.stringify(term('x'))
  assert.deepEqual(await valid(true, term('x')), {
    ...{ _shards, valid: true, explanations: [{ index: `${INDEX}-block`, valid: true, explanation }] },
  })
})

test('whether a document matches', async t => {
  const { search } = setUp(t)
  const form = (id: string): AnswerForm => ({ tell: 'match', kind: 'block', id })
  const match = (id: string, body: unknown) => search({ entities: 'block', form: form(id), body })
  const told = { _index: `${INDEX}-block`, _type: 'block', _id: hash }
  const { status, body } = await match(hash, term(hash))
  assert.deepEqual([status, body._id, body.matched, body.explanation.value], [200, hash, true, 1.7917595])
  const other = await match(hash, term(blocks[4]!.block.hash))
  assert.deepEqual([other.status, other.body.matched, other.body.explanation.value], [200, false, 0])
  assert.deepEqual(await match('0x12', term(hash)), { status: 404, body: { ...told, _id: '0x12', matched: false } })
})

test('documents and parts of them', async t => {
  const { of, pools } = setUp(t)
  const get = (how: object, id = hash) => of(pool => pool.get({ ...whose, entity: 'block', id, ...how }))
  const { body } = await get({})
  assert.deepEqual([body.found, body._source.hash], [true, hash])
  const filter = { includes: ['hash'], excludes: [] }
  assert.deepEqual((await get({ source: filter })).body, { ...body, _source: { hash } })
  const { _source, ...bare } = body
  assert.deepEqual((await get({ source: false })).body, bare)
  assert.deepEqual((await get({ bare: true })).body, _source)
  assert.deepEqual((await get({ bare: true, source: filter })).body, { hash })
  for (const pool of pools)
    await assert.rejects(
      pool.get({ ...whose, entity: 'block', id: '0x12', bare: true }),
      refused('resource_not_found_exception', /0x12/),
    )
})

test('several documents, in their order', async t => {
  const { of } = setUp(t)
  const source = { includes: ['hash'], excludes: [] }
  const tx = blocks[2]!.block.transactions[0]!.hash
  const { body } = await of(pool =>
    pool.documents({
      ...whose,
      wanted: [
        { kind: 'tx', id: tx, source },
        { instead: '{"x":1}' },
        { kind: 'block', id: hash.toUpperCase().replace('0X', '0x'), source },
        { kind: 'block', id: tx, source: true },
        { kind: 'block', id: hash, source: false },
      ],
    }),
  )
  assert.deepEqual(body.docs, [
    { _index: `${INDEX}-tx`, _type: 'tx', _id: tx, found: true, _source: { hash: tx } },
    { x: 1 },
    { _index: `${INDEX}-block`, _type: 'block', _id: hash, found: true, _source: { hash } },
    { _index: `${INDEX}-block`, _type: 'block', _id: tx, found: false },
    { _index: `${INDEX}-block`, _type: 'block', _id: hash, found: true },
  ])
  const filtered = await of(pool =>
    pool.documents({ ...whose, wanted: [{ kind: 'tx', id: tx, source }], filterPath: ['docs._source'] }),
  )
  assert.deepEqual(filtered.body, { docs: [{ _source: { hash: tx } }] })
})

test('too many documents at once are refused', async t => {
  const { pools } = setUp(t, { documents: 3_000 })
  const wanted = Array.from({ length: 10 }, () => ({ kind: 'block', id: hash, source: true }) as const)
  await assert.rejects(pools[0]!.documents({ ...whose, wanted }), refused('illegal_argument_exception', /_mget/))
})

test('what a store holds', async t => {
  const { pools } = setUp(t)
  for (const pool of pools) {
    const { counts, bytes } = await pool.holdings(whose)
    assert.deepEqual(Object.keys(counts), KINDS)
    for (const kind of KINDS) assert.equal(counts[kind], store.positions(kind).length, kind)
    assert.equal(bytes, statSync(store.path).size)
  }
})

test('filter_path leaves what it names, and does not go with all hits', async t => {
  const { search, pools } = setUp(t)
  const dialect = { totals: 'object', typedKeys: false, filterPath: ['hits.total', 'hits.hits._id'] } as const
  const { body } = await search({ entities: 'block', dialect, body: term(hash) })
  assert.deepEqual(body, { hits: { total: { value: 1, relation: 'eq' }, hits: [{ _id: hash }] } })
  const all = { ...whose, entities: 'block', dialect, body: Buffer.from('{"size":-1}') }
  await assert.rejects(pools[0]!.search(all), refused('illegal_argument_exception', /filter_path/))
})

test('no index at all finds nothing, and still is told what is wrong with a search', async t => {
  const { search, pools } = setUp(t)
  const { body } = await search({ entities: '', body: { sort: ['timestamp', 'gas.num'], query: { term: { hash } } } })
  assert.deepEqual(body.hits, { total: 0, max_score: null, hits: [] })
  const wrong = { ...whose, entities: '', body: Buffer.from('{"sort":"nope"}') }
  await assert.rejects(pools[0]!.search(wrong), refused('query_shard_exception', /nope/))
})

test('a request has a timeout of its own', async t => {
  const { search, pools } = setUp(t)
  for (const timeout of ['10s', '1d', '-1', '0', '1.5m'])
    assert.equal((await search({ entities: 'block', body: { timeout } })).status, 200)
  const slow = { timeout: '1nanos', query: { range: { extraData: { gte: '0x' } } } }
  for (const pool of pools)
    await assert.rejects(
      pool.search({ ...whose, entities: 'block', body: Buffer.from(JSON.stringify(slow)) }),
      refused('search_timeout_exception', /./),
    )
  for (const timeout of ['5', 'x', '1y', 5, {}, '1'.repeat(50)])
    await assert.rejects(
      pools[0]!.search({ ...whose, entities: 'block', body: Buffer.from(JSON.stringify({ timeout })) }),
      refused('parsing_exception', /^timeout: expected a time with its unit/),
    )
})
