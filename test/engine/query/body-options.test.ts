import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openSearchIndex } from '../../../scripts/scenario-mapping.ts'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { answerSearch } from '../../../src/search/answer.ts'
import { NATIVE_DIALECT } from '../../../src/search/service.ts'
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
const options = { deadline: Number.POSITIVE_INFINITY, dialect: { ...NATIVE_DIALECT, totals: 'object' as const } }

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
      const [theirs, ours] = [found as Answer, ask(kind, asked)]
      // The order of those that are equal is another one.
      assert.deepEqual(scoresOf(ours), scoresOf(theirs))
      assert.deepEqual(rest(ours), rest(theirs))
      const isOrdered = (a: number | null, b: number | null) => (a ?? 0) >= (b ?? 0)
      const scores = ours.hits.hits.map(({ _score }) => _score)
      if (!('sort' in body) || body.sort === '_score')
        assert.ok(scores.every((score, i) => i === 0 || isOrdered(scores[i - 1]!, score)))
    })
  const float = (score: number | null) => (score === null ? null : Number(score.toPrecision(6)))
  const scoresOf = ({ hits }: Answer) =>
    Object.fromEntries(hits.hits.map(({ _id, _score }) => [_id, float(_score)]).toSorted())
  const rest = ({ terminated_early, hits: { total, max_score }, aggregations }: Answer) => ({
    ...{ terminated_early, total, max_score: float(max_score), aggregations },
  })
})

describe('several entities', () => {
  it('each end early', () => {
    const both = ask('tx,event', { terminate_after: 3, size: 100, _source: false })
    assert.deepEqual(both.hits.total, { value: 6, relation: 'eq' })
    assert.equal(both.terminated_early, true)
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
    [{ indices_boost: [{ event: 2 }] }, /^indices_boost: \[indices_boost\] is not supported/],
    [{ rescore: { window_size: 3 } }, /^rescore: \[rescore\] is not supported/],
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
  assert.equal(refusal({ terminate_after: 0, size: -1 }), 'taken')
})
