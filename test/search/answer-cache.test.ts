import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { createAnswerCache, keyOfSearch } from '../../src/search/answer-cache.ts'
import { createInline, type InlineSearch } from '../../src/search/inline.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()
const answerOf = (took: number, hits = '') => bytesOf(`{"took":${took},"timed_out":false,"hits":"${hits}"}`)

test('an answer is kept from the second time on, and tells how long it took this time', () => {
  const kept = createAnswerCache(100_000)
  const ask = (took: number) => textOf(kept.get('a', 1, took))
  assert.equal(ask(0), undefined)
  kept.offer('a', 1, answerOf(17))
  assert.equal(ask(0), undefined)
  kept.offer('a', 1, answerOf(170))
  assert.deepEqual([ask(0), ask(23)], [textOf(answerOf(0)), textOf(answerOf(23))])
  assert.equal(kept.get('b', 1, 0), undefined)
})

test('what was answered of another state of the store is forgotten', () => {
  const kept = createAnswerCache(100_000)
  for (const _ of [1, 2]) kept.offer('a', 1, answerOf(1, 'old'))
  assert.equal(kept.get('a', 2, 0), undefined)
  assert.equal(kept.get('a', 1, 0), undefined)
  for (const _ of [1, 2]) kept.offer('a', 3, answerOf(1, 'new'))
  assert.equal(textOf(kept.get('a', 3, 0)), textOf(answerOf(0, 'new')))
})

test('answers take no more bytes than they may; what is asked for again and again stays', () => {
  const kept = createAnswerCache(50_000)
  const add = (key: string, length: number) => {
    for (const _ of [1, 2]) kept.offer(key, 1, answerOf(0, 'x'.repeat(length)))
  }
  for (let i = 0; i < 500; i++) {
    add(`${i}`, 700)
    assert.ok(kept.get('0', 1, 0), `after ${i}`)
  }
  let count = 0
  for (let i = 0; i < 500; i++) if (kept.get(`${i}`, 1, 0)) count++
  assert.ok(count > 40 && count <= 60, `${count} of about a thousand bytes each`)
  add('large', 10_000)
  assert.equal(kept.get('large', 1, 0), undefined)
})

test('what begins otherwise is not kept', () => {
  const kept = createAnswerCache(100_000)
  for (const text of ['{"pit_id":"x","took":1,"hits":1}', '{"count":1}', '{"took":1}', '', '{"took":']) {
    for (const _ of [1, 2]) kept.offer(text, 1, bytesOf(text))
    assert.equal(kept.get(text, 1, 0), undefined)
  }
})

const blocks = generatedBlocks(5)
const store = createTestStore(blocks)
after(() => store.close())
const { signal } = new AbortController()
const asked: InlineSearch = {
  type: 'search',
  ...{ id: 1, store: store.path, index: 'ethereum-test-net', now: 0, deadlineMs: 10_000, mayStream: true },
  ...{ entities: 'block', body: undefined },
}

test('a key tells all that an answer depends on', () => {
  const keys = [
    keyOfSearch(asked, '{}'),
    keyOfSearch(asked, '{ }'),
    keyOfSearch({ ...asked, entities: 'tx' }, '{}'),
    keyOfSearch({ ...asked, index: 'ethereum-test-other' }, '{}'),
    keyOfSearch({ ...asked, parameters: [['size', '1']] }, '{}'),
    keyOfSearch({ ...asked, dialect: { totals: 'object', typedKeys: false } }, '{}'),
    keyOfSearch({ ...asked, dialect: { totals: 'object', typedKeys: true } }, '{}'),
    keyOfSearch({ ...asked, form: { tell: 'count' } }, '{}'),
    keyOfSearch({ ...asked, format: 'csv' }, '{}'),
    ...['a', 'b'].map(letter => keyOfSearch(asked, `{"query":{"ids":{"values":["${letter.repeat(5_000)}"]}}}`)),
  ]
  assert.ok(keys.every(key => key !== undefined && key.length < 1_001))
  assert.equal(new Set(keys).size, keys.length)
})

test('each answer is that of the store as it is and of the moment, however often it is asked for', async t => {
  const growing = createTestStore(blocks.slice(0, 1))
  t.after(() => growing.close())
  const inline = createInline({ limits: DEFAULT_LIMITS, budgetMs: 60_000 })
  t.after(inline.close)
  const total = async (text: string, now = 0, parameters: [string, string][] = []): Promise<number> => {
    await nextTurn()
    const found = await inline.search(
      { ...asked, store: growing.path, body: Buffer.from(text), now, parameters },
      { account: 1, signal },
    )
    return JSON.parse(textOf(found!.body as Uint8Array)!).hits.total
  }
  const often = async (text: string) => [await total(text), await total(text), await total(text), await total(text)]
  assert.deepEqual(await often('{}'), [1, 1, 1, 1])
  growing.add(blocks.slice(1, 4))
  assert.deepEqual(await often('{}'), [4, 4, 4, 4])
  growing.rollback(Number(blocks[1]!.block.number))
  assert.deepEqual(await often('{}'), [2, 2, 2, 2])
  growing.add(blocks.slice(2, 3))
  assert.deepEqual(await often('{}'), [3, 3, 3, 3])

  const last = Number(blocks[2]!.block.timestamp) * 1_000
  const recent = [
    { query: { range: { timestamp: { gte: 'now-1s' } } } },
    { query: { range: { timestamp: { gte: '\\u006eow-1s' } } } },
    ...['now-1s', 'n\\ow-1s', '\\now-1s'].map(from => ({
      query: { query_string: { query: `timestamp:[${from} TO *]` } },
    })),
    { query: { wrapper: { query: Buffer.from('{"range":{"timestamp":{"gte":"now-1s"}}}').toString('base64') } } },
    { query: { bool: { filter: { bool: { must: { range: { timestamp: { gte: 'now-1s' } } } } } } } },
  ].map(body => [JSON.stringify(body).replace('\\\\u', '\\u'), []] as const)
  const byParameter = [['q', 'timestamp:[n\\ow-1s TO *]']] as [string, string][]
  for (const [text, parameters] of [...recent, ['', byParameter] as const]) {
    const at = (now: number) => total(text, now, [...parameters])
    assert.deepEqual([await at(last), await at(last), await at(last), await at(last * 2)], [1, 1, 1, 0], text)
  }
})
