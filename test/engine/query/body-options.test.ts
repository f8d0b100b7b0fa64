import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openSearchIndex } from '../../../scripts/scenario-mapping.ts'
import { createSearcher, type Searcher } from '../../../src/engine/query/execute.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { answerSearch } from '../../../src/search/answer.ts'
import { NATIVE } from '../../../src/search/dialect.ts'
import { findElasticsearch } from '../../support/elasticsearch.ts'
import { parseLossless, stringifyLossless } from '../../support/scenarios.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../../support/store.ts'

// Searches that end early, boosts of indexes and second scores.

interface Answer {
  terminated_early?: boolean
  hits: {
    total?: number | { value: number; relation: string }
    max_score: number | null
    hits: { _id: string; _score: number | null }[]
  }
  aggregations?: unknown
}

const elasticsearch = await findElasticsearch()
const INDEX = `es-options-${process.pid}`
const NETWORK = `es-options-${process.pid}`
const options = { deadline: Number.POSITIVE_INFINITY, dialect: { ...NATIVE, totals: 'object' as const } }

let store: TestStore
let searcher: Searcher
before(() => {
  store = createTestStore(demoBlocks().slice(0, 60), { run: [3, 5, 1, 20], events: demoEvents() })
  searcher = createSearcher(store.reader)
})
after(() => store.close())

const ask = (kinds: string, body: object): Answer => {
  const { body: bytes } = answerSearch(searcher, NETWORK, kinds, stringifyLossless(body), options)
  return parseLossless(Buffer.from(bytes as Uint8Array).toString()) as Answer
}
const refusal = (body: object, kinds: readonly Kind[] = ['event'], given = {}): string => {
  try {
    parseSearch(JSON.stringify(body), kinds, 0, { index: NETWORK, ...given })
    return 'taken'
  } catch (error) {
    return (error as Error).message
  }
}

const transfers = { match: { event: 'transfer' } }
const some = { bool: { should: [transfers, { match: { event: 'approval' } }, { match_all: {} }] } }
const rescore = (query: object, more: object = {}, window = 10_000) => ({
  window_size: window,
  query: { rescore_query: query, ...more },
})

/** Their hits are those of one shard, in the order of the chain. */
const COMPARED: readonly (readonly [kind: Kind, body: object])[] = [
  ...[1, 5, '7', 3.9, 10_000, 0].map(most => ['tx', { terminate_after: most, size: 10_000 }] as const),
  ['event', { terminate_after: 4, query: transfers, size: 100 }],
  ['event', { terminate_after: 4, query: some, size: 100, track_total_hits: 2 }],
  ['event', { terminate_after: 4, size: 0, track_total_hits: false }],
  ['event', { terminate_after: 3, query: some, min_score: 1.2, size: 100 }],
  ['event', { terminate_after: 3, post_filter: transfers, size: 100 }],
  ['event', { terminate_after: 30, collapse: { field: 'event.raw' }, sort: ['event.raw'], size: 100 }],
  ['event', { terminate_after: 50, sort: [{ 'logIndex.num': 'desc' }, '_id'], search_after: [20, ''], size: 9 }],
  [
    'event',
    {
      terminate_after: 70,
      size: 1,
      sort: '_id',
      aggs: {
        a: { terms: { field: 'event.raw' } },
        m: { max: { field: 'blockNumber.num' } },
        g: { global: {}, aggs: { c: { value_count: { field: 'event.raw' } } } },
      },
    },
  ],
  ['event', { indices_boost: [{ [INDEX]: 3 }], query: some, size: 1000 }],
  ['event', { indices_boost: { [`${INDEX}*`]: 0.5, _all: 9 }, query: some, size: 1000 }],
  ['event', { indices_boost: [{ 'nothing*': 2 }], query: some, size: 1000 }],
  ['event', { indices_boost: [{ _all: 0 }], size: 1000 }],
  ['event', { indices_boost: [{ _all: 4 }], query: transfers, sort: '_id', track_scores: true, size: 1000 }],
  ['event', { query: some, rescore: rescore(transfers), size: 1000 }],
  ...['total', 'multiply', 'avg', 'max', 'MIN'].map(
    mode =>
      [
        'event',
        {
          query: some,
          size: 1000,
          rescore: rescore(transfers, { query_weight: 0.7, rescore_query_weight: 1.3, score_mode: mode }),
        },
      ] as const,
  ),
  [
    'event',
    {
      query: { range: { 'logIndex.num': { lt: 9 } } },
      size: 1000,
      sort: '_score',
      rescore: [
        rescore({ bool: { filter: transfers } }, { query_weight: -2 }),
        rescore({ range: { 'logIndex.num': { gte: 3 } } }, { rescore_query_weight: 2 }),
        rescore({ match_none: {} }),
      ],
    },
  ],
  ['event', { query: some, rescore: rescore(transfers), size: 0 }],
  ['event', { query: some, rescore: [], size: 1000 }],
  ['event', { query: some, rescore: rescore(transfers), terminate_after: 40, size: 1000 }],
  ['event', { query: some, rescore: rescore(transfers), min_score: 1.2, size: 1000 }],
]

describe('what is asked beside the query is answered as Elasticsearch 7.17 does', {
  skip: elasticsearch ? false : 'no Elasticsearch 7.17 is there',
}, () => {
  const names = { event: INDEX, tx: `${INDEX}-tx` }
  before(async () => {
    for (const kind of ['event', 'tx'] as const) {
      const documents = store.all(kind)
      // It may flush in between, and then has its documents in another order than that of the chain.
      for (let tries = 0; tries === 0 || !(await isInOrder(kind, documents.length)); tries++) {
        assert.ok(tries < 8, `${kind} are not in the order of the chain`)
        await fill(kind, documents)
      }
    }
  })
  const fill = async (kind: 'event' | 'tx', documents: readonly { _id: string; _source: unknown }[]) => {
    await elasticsearch!.remove(names[kind])
    await elasticsearch!.ask('PUT', `/${names[kind]}`, openSearchIndex(kind))
    const lines = documents.flatMap(({ _id, _source }) => [
      JSON.stringify({ index: { _id } }),
      stringifyLossless(_source),
    ])
    const { body } = await elasticsearch!.ask('POST', `/${names[kind]}/_bulk?refresh=true`, `${lines.join('\n')}\n`)
    assert.equal((body as { errors: boolean }).errors, false, JSON.stringify(body).slice(0, 500))
  }
  const isInOrder = async (kind: 'event' | 'tx', size: number): Promise<boolean> => {
    const { body } = await elasticsearch!.ask('POST', `/${names[kind]}/_search`, { sort: '_doc', size, _source: false })
    const ids = (body as Answer).hits.hits.map(({ _id }) => _id)
    return (
      ids.join() ===
      store
        .all(kind)
        .map(({ _id }) => _id)
        .join()
    )
  }
  after(async () => {
    for (const name of Object.values(names)) await elasticsearch!.remove(name)
  })
  for (const [kind, body] of COMPARED)
    it(`${kind} ${JSON.stringify(body)}`, async () => {
      const asked = { _source: false, track_total_hits: true, ...body }
      const { status, body: found } = await elasticsearch!.ask('POST', `/${names[kind as 'tx']}/_search`, asked)
      assert.equal(status, 200, JSON.stringify(found).slice(0, 500))
      const [theirs, ours] = [
        found as Answer,
        ask(kind, { ...asked, ...('indices_boost' in body && { indices_boost: here(body.indices_boost) }) }),
      ]
      // The order of those that are equal is another one.
      assert.deepEqual(scoresOf(ours), scoresOf(theirs))
      assert.deepEqual(rest(ours), rest(theirs))
      const isOrdered = (a: number | null, b: number | null) => (a ?? 0) >= (b ?? 0)
      const scores = ours.hits.hits.map(({ _score }) => _score)
      if (!('sort' in body) || body.sort === '_score')
        assert.ok(scores.every((score, i) => i === 0 || isOrdered(scores[i - 1]!, score)))
    })
  /** The index goes by another name. */
  const here = (boosts: unknown) => JSON.parse(JSON.stringify(boosts).replaceAll(INDEX, `${NETWORK}-event`)) as object
  const float = (score: number | null) => (score === null ? null : Number(score.toPrecision(6)))
  const scoresOf = ({ hits }: Answer) =>
    Object.fromEntries(hits.hits.map(({ _id, _score }) => [_id, float(_score)]).toSorted())
  const rest = ({ terminated_early, hits: { total, max_score }, aggregations }: Answer) => ({
    ...{ terminated_early, total, max_score: float(max_score), aggregations },
  })
})

describe('hits beyond a window', () => {
  it('keep their place behind it, unless the window falls behind them', () => {
    const wanted = ask('event', { query: some, size: 1000 }).hits.hits
    const [best] = wanted
    const raised = ask('event', { query: some, size: 1000, rescore: rescore({ match_all: {} }, {}, 1) }).hits.hits
    assert.deepEqual(raised[0], { ...best, _score: raised[0]!._score })
    assert.ok(Math.abs(raised[0]!._score! - best!._score! - 1) < 1e-6)
    assert.deepEqual(raised.slice(1), wanted.slice(1))
    const page = ask('event', { query: some, from: 2, size: 3, rescore: rescore({ match_all: {} }, {}, 1) })
    assert.deepEqual(page.hits.hits, wanted.slice(2, 5))
    assert.equal(page.hits.max_score, raised[0]!._score)
  })
})

describe('several entities', () => {
  it('each end early, and each has its own boost, the first name that fits', () => {
    const both = ask('tx,event', { terminate_after: 3, size: 100, _source: false })
    assert.deepEqual(both.hits.total, { value: 6, relation: 'eq' })
    assert.equal(both.terminated_early, true)
    const boosted = ask('tx,event', { indices_boost: [{ event: 5 }, { '*': 2 }], size: 10_000, _source: false })
    const scores = new Set(boosted.hits.hits.map(({ _id, _score }) => `${_id.includes('_e_')} ${_score}`))
    assert.deepEqual([...scores], ['true 5', 'false 2'])
  })
})

it('what cannot be told is refused by name', () => {
  const cases: [object, RegExp, object?][] = [
    [{ terminate_after: -1 }, /^terminate_after: terminateAfter must be > 0/],
    [{ terminate_after: [] }, /^terminate_after: expected the number of matches/],
    [{ terminate_after: 2, size: -1 }, /not supported beside "size": -1/],
    [{ terminate_after: 2 }, /not supported beside scroll or pit/, { cursor: 'shown' }],
    [{ terminate_after: 2, collapse: { field: 'event.raw', inner_hits: { name: 'a' } } }, /inner_hits of collapse/],
    [{ terminate_after: 2, post_filter: transfers, aggs: { a: { avg: { field: 'logIndex.num' } } } }, /post_filter/],
    [{ indices_boost: 'event' }, /^indices_boost: expected a list such as/],
    [{ indices_boost: [{}] }, /^indices_boost\[0\]: expected an object with one name/],
    [{ indices_boost: [{ event: 1, tx: 2 }] }, /expected an object with one name/],
    [{ indices_boost: [{ event: '2' }] }, /^indices_boost\[0\]\.event: expected a number/],
    [{ indices_boost: [{ event: -1 }] }, /boost must be a positive float/],
    [{ indices_boost: [{ __proto__x: 1 }] }, /no such index \[__proto__x\]/],
    [{ rescore: { window_size: 3 } }, /missing rescore type/],
    [{ rescore: { query: {} } }, /rescore_query cannot be null/],
    [{ rescore: rescore(transfers, {}, 10_001) }, /Rescore window \[10001\] is too large/],
    [{ rescore: rescore(transfers, {}, -1) }, /a window has a size from 0 on/],
    [{ rescore: rescore(transfers, { score_mode: 'SUM' }) }, /score_mode: expected one of total/],
    [{ rescore: rescore(transfers, { query_weight: null }) }, /query_weight: expected a number/],
    [{ rescore: rescore(transfers), sort: ['_score', '_id'] }, /Cannot use \[sort\]/],
    [{ rescore: rescore(transfers), collapse: { field: 'event.raw' } }, /cannot use `collapse`/],
    [{ rescore: rescore(transfers), explain: true }, /not supported beside explain/],
    [{ rescore: rescore(transfers) }, /not allowed with a scroll/, { cursor: 'hidden' }],
    [{ sort: { _id: { mode: 'sum' } } }, /we only support AVG, MEDIAN and SUM/],
    [{ sort: { _id: { numeric_type: 'long' } } }, /cannot be set on a non-numeric field/],
    [{ sort: { _id: { format: 'yyyy' } } }, /does not support custom formats/],
    [{ sort: { _id: { nested: { path: 'nope' } } } }, /failed to find nested object/],
    ...['time_zone', 'format', 'relation', 'include_lower'].map((name): [object, RegExp] => [
      { query: { range: { timestamp: { [name === 'include_lower' ? 'from' : 'gte']: 0, [name]: null } } } },
      new RegExp(`${name}: expected`),
    ]),
  ]
  for (const [body, message, given] of cases) assert.match(refusal(body, ['event'], given), message)
  assert.match(refusal({ rescore: rescore(transfers) }, ['event', 'tx']), /one entity at a time/)
  assert.equal(refusal({ terminate_after: 0, size: -1 }), 'taken')
})
