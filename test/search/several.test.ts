import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { createSearcher, type Searcher } from '../../src/engine/query/searcher.ts'
import { openReader } from '../../src/engine/reader.ts'
import { type AnswerOptions, answerSearch } from '../../src/search/answer.ts'
import { answerForm } from '../../src/search/answer-forms.ts'
import type { AnswerParts } from '../../src/search/lines.ts'
import { searchSeveral } from '../../src/search/multi-network.ts'
import { AGGREGATIONS } from '../engine/aggs/several.ts'
import { oddBlocks } from '../support/odd.ts'
import { arbitraryQuery } from '../support/queries.ts'
import { arbitrarySort } from '../support/sorts.ts'
import { createTestStore, excerptOf, generatedBlocks } from '../support/store.ts'

// Two networks that hold every other block each of a chain that a third one holds whole: together they must answer as that one does.
const blocks = [...generatedBlocks(3).map((raw, i) => excerptOf(raw, index => index % 5 === i)), ...oddBlocks(8)]
const whole = createTestStore(blocks)
const even = createTestStore(blocks.filter((_, i) => i % 2 === 0))
const odd = createTestStore(blocks.filter((_, i) => i % 2 === 1))
after(() => {
  for (const store of [whole, even, odd]) store.close()
})
const oracle = createSearcher(whole.reader)
const joined = searchSeveral([even, odd].map(({ reader }) => ({ searcher: createSearcher(reader), index: 'x' })))
const FOREVER: AnswerOptions = { deadline: Number.POSITIVE_INFINITY, now: Date.UTC(2026, 0, 1) }

const textOf = (body: Uint8Array<ArrayBuffer> | AnswerParts): string => {
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  let text = ''
  for (const part of body.parts) text += Buffer.from(part).toString()
  return text
}
const ask = (searcher: Searcher, index: string, kinds: string, body: object, options: Partial<AnswerOptions> = {}) =>
  textOf(answerSearch(searcher, index, kinds, JSON.stringify(body, asText), { ...FOREVER, ...options }).body).replace(
    /"took":\d+/,
    '',
  )
const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
const isSame = (kinds: string, body: object, options: Partial<AnswerOptions> = {}) =>
  assert.equal(ask(joined, 'x,x', kinds, body, options), ask(oracle, 'x', kinds, body, options))

const KINDS_OF = ['block', 'tx', 'log', 'event', 'call'] as const

describe('several networks answer as one that holds all of their documents', () => {
  for (const kind of KINDS_OF)
    test(`random searches of ${kind}`, () => {
      const body = fc.record(
        {
          query: arbitraryQuery(kind, whole.all(kind), { depth: 2 }).map(filter => ({ bool: { filter } })),
          sort: arbitrarySort([kind]),
          size: fc.constantFrom(0, 1, 3, 10, 50, -1),
          from: fc.constantFrom(0, 0, 1, 7),
          track_total_hits: fc.constantFrom(true, false, 3),
        },
        { requiredKeys: ['size'] },
      )
      fc.assert(
        fc.property(body, body => isSame(kind, body.size < 0 ? { ...body, from: 0 } : body)),
        { numRuns: 25 },
      )
    })

  test('of several kinds, page by page behind what the last hit shows', () => {
    for (const sort of [
      [{ timestamp: 'asc' }, { _id: 'asc' }],
      [{ 'blockNumber.num': 'desc' }, '_id'],
    ]) {
      const pages: unknown[] = []
      let after: unknown
      for (let page = 0; page < 400; page++) {
        const body = { size: 100, sort, _source: false, ...(after !== undefined && { search_after: after }) }
        const { hits } = (
          JSON.parse(ask(joined, 'x,x', 'log,event', body).replace('{,', '{')) as {
            hits: { hits: { sort: unknown }[] }
          }
        ).hits
        if (hits.length === 0) break
        after = hits.at(-1)!.sort
        pages.push(...hits)
      }
      const all = JSON.parse(
        ask(oracle, 'x', 'log,event', { size: 10_000, sort, _source: false }).replace('{,', '{'),
      ) as { hits: { hits: unknown[] } }
      assert.deepEqual(pages, all.hits.hits)
    }
  })

  test('as lines of JSON, counted, and page by page of a long answer that goes on elsewhere', () => {
    isSame('tx', { size: -1 }, { format: 'ndjson' })
    isSame('event', { size: -1, sort: [{ timestamp: 'asc' }] })
    const count = (searcher: Searcher, index: string) =>
      textOf(answerForm(searcher, { index, entities: 'log', form: { tell: 'count' } }, '', { ...FOREVER }).body)
    assert.equal(count(joined, 'x,x'), count(oracle, 'x'))
    for (const sort of [undefined, [{ 'logIndex.num': 'asc' }]]) {
      const body = JSON.stringify({ size: -1, _source: false, sort })
      const one = answerSearch(joined, 'x,x', 'log', body, FOREVER).body as AnswerParts
      const first = one.parts[Symbol.iterator]().next().value as Uint8Array
      const begun = Buffer.from(first).toString()
      const rest = textOf(answerSearch(joined, 'x,x', 'log', body, { ...FOREVER, after: one.at() }).body)
      assert.equal((begun + rest).replace(/"took":\d+/, ''), ask(oracle, 'x', 'log', JSON.parse(body)))
    }
  })

  for (const [name, kinds, aggs] of AGGREGATIONS)
    test(`aggregations: ${name}`, () => {
      for (const query of [undefined, { range: { 'transactionIndex.num': { lt: 40 } } }])
        isSame(kinds, { size: 0, aggs, ...(query && kinds !== 'block' && { query }) })
    })
})

describe('two networks', () => {
  const again = openReader(whole.path)
  after(again.close)
  const twins = searchSeveral([
    { searcher: oracle, index: 'a' },
    { searcher: createSearcher(again), index: 'b' },
  ])
  interface Hit {
    _index: string
    _id: string
    _score: number
    sort?: unknown[]
  }
  const hitsOf = (body: object, kind = 'tx') =>
    (
      JSON.parse(ask(twins, 'a,b', kind, body).replace('{,', '{')) as {
        hits: { total: number; max_score: number; hits: Hit[] }
      }
    ).hits

  test('at the same time the first network goes first, in either direction', () => {
    const alone = (order: string) =>
      (
        JSON.parse(ask(oracle, 'a', 'tx', { size: 400, sort: [{ timestamp: order }] }).replace('{,', '{')) as {
          hits: { hits: Hit[] }
        }
      ).hits.hits
    for (const order of ['asc', 'desc']) {
      const hits = hitsOf({ size: 400, sort: [{ timestamp: order }] }).hits
      const [first] = hits
      const atOnce = hits.filter(({ sort }) => sort![0] === first!.sort![0])
      const half = atOnce.length / 2
      assert.deepEqual(new Set(atOnce.slice(0, half).map(({ _index }) => _index)), new Set(['a-tx']))
      assert.deepEqual(new Set(atOnce.slice(half).map(({ _index }) => _index)), new Set(['b-tx']))
      assert.deepEqual(
        atOnce.slice(0, half).map(({ _id }) => _id),
        alone(order)
          .slice(0, half)
          .map(({ _id }) => _id),
      )
    }
  })

  test('a field that no document has orders nothing, and the newest come first, in long answers as in short ones', () => {
    const sort = [{ 'number.num': { order: 'asc', unmapped_type: 'long' } }]
    for (const size of [-1, 10]) isSame('call', { sort, size })
  })

  test('each hit names its network, and totals are those of both', () => {
    const total = whole.all('tx').length
    const { total: both, hits } = hitsOf({ size: -1, _source: false })
    assert.deepEqual([both, hits.length], [2 * total, 2 * total])
    assert.equal(new Set(hits.map(({ _index, _id }) => `${_index} ${_id}`)).size, 2 * total)
    assert.equal(hitsOf({ query: { term: { _index: 'b-tx' } }, size: 0 }).total, total)
  })

  test('are told apart by an aggregation on _index', () => {
    const { aggregations } = JSON.parse(
      ask(twins, 'a,b', 'tx', { size: 0, aggs: { networks: { terms: { field: '_index' } } } }).replace('{,', '{'),
    ) as { aggregations: { networks: { buckets: unknown } } }
    const doc_count = whole.all('tx').length
    assert.deepEqual(aggregations.networks.buckets, [
      { key: 'a-tx', doc_count },
      { key: 'b-tx', doc_count },
    ])
  })

  test('the best come first, whichever network has them', () => {
    const best = searchSeveral([
      { searcher: createSearcher(even.reader), index: 'a' },
      { searcher: createSearcher(odd.reader), index: 'b' },
    ])
    const { hits } = JSON.parse(
      ask(best, 'a,b', 'event', { size: 200, query: { match: { event: 'Transfer' } }, _source: false }).replace(
        '{,',
        '{',
      ),
    ) as { hits: { max_score: number; hits: Hit[] } }
    const scores = hits.hits.map(({ _score }) => _score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    assert.equal(hits.max_score, scores[0])
  })

  test('what they have no answer to together is refused by name', () => {
    const refused: [body: object, says: RegExp, options?: Partial<AnswerOptions>][] = [
      [{ resume: 'start' }, /\[resume\] works on one network at a time/],
      [{ collapse: { field: 'from.raw' } }, /\[collapse\] works on one network/],
      [{ sort: ['_doc'], search_after: [5] }, /\[_doc\]/],
      [{ aggs: { t: { top_hits: {} } } }, /aggs\.t: \[top_hits\] works on one network/],
      [{ aggs: { a: { terms: { field: 'from.raw' }, aggs: { t: { top_hits: {} } } } } }, /aggs\.t/],
      [{ aggs: { t: { terms: { field: 'from.raw', min_doc_count: 0 } } } }, /\[min_doc_count\] 0/],
      [{}, /CSV/, { format: 'csv' }],
    ]
    for (const [body, message, options] of refused)
      assert.throws(() => ask(twins, 'a,b', 'tx', body, options), { next: 'refuse', message })
  })
})
