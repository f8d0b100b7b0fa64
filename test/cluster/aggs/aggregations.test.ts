import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { KINDS } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { CASES } from '../../engine/aggs/cases.ts'
import { AGGREGATIONS } from '../../engine/aggs/several.ts'
import { type FilledCluster, fillCluster, withoutCluster } from '../../support/cluster-fill.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'
import { askBoth, askCluster, askStore, INDEX } from './support.ts'

const NOW = Date.UTC(2025, 0, 1, 1)

/** Those that a cluster refuses. */
const REFUSED: ReadonlySet<string> = new Set([
  'names of indices',
  'elements as hits',
  'elements as hits by scores',
  'terms without documents',
  'terms by regular expressions and lists',
  'several: percentiles',
  'several: relatives',
  'several: times of relatives',
])

/** Numbers that a cluster estimates, or scores by. */
const OWN: ReadonlySet<string> = new Set([
  'terms by a percentile',
  'percentiles of few values',
  'deviations from medians',
  'hits of buckets by their scores',
  'several: terms by a number inside',
  'several: times of buckets above',
  'bounds of dates beside an offset',
  'combined terms by a sum',
  'combined terms of elements, in several entities',
])

/** What a search asks beside aggregations. */
const BESIDE: readonly object[] = [
  { size: 2, sort: [{ 'blockNumber.num': 'asc' }], search_after: [1e9] },
  { size: 2, query: { match: { event: 'transfer' } }, sort: '_score', search_after: [-1] },
  { size: 1, query: { bool: { should: [{ term: { 'event.raw': 'Sync' } }, { match_all: {} }] } } },
  { size: 1, query: { constant_score: { filter: { match_all: {} }, boost: 3 } } },
  { size: 1, post_filter: { term: { 'event.raw': 'Sync' } } },
  { size: 1, query: { term: { 'event.raw': 'Sync' } } },
  { size: 2, collapse: { field: 'blockNumber.num' } },
  { size: 0, query: { ids: { values: ['nothing'] } } },
]
const SOME = {
  a: { terms: { field: 'blockNumber.num', size: 3 }, aggs: { h: { top_hits: { size: 1, _source: false } } } },
  all: { global: {}, aggs: { n: { value_count: { field: 'blockNumber.num' } }, h: { top_hits: { size: 1 } } } },
}

describe('aggregations of a cluster are those of the store, where one shard holds all of an entity', {
  skip: withoutCluster,
}, () => {
  let filled: FilledCluster
  before(async () => {
    const store = createTestStore(demoBlocks(), { run: [1, 7, 30, 2], traces: 'all' })
    filled = await fillCluster(store, { prefix: 'aggs', naming: { blocksPerIndex: 100_000, shards: 1 } })
  })
  after(() => filled?.close())

  const cases = [...CASES, ...AGGREGATIONS.map(([name, kinds, aggs]) => [`several: ${name}`, kinds, { aggs }] as const)]
  for (const [name, names, body] of cases)
    it(name, async () => {
      const kinds = KINDS.filter(kind => names.split(',').includes(kind))
      const request = parseSearch(JSON.stringify({ size: 0, ...body }), kinds, NOW, { index: INDEX })
      const { cluster, store, refused } = await askBoth(filled, request)
      if (REFUSED.has(name)) assert.ok(refused)
      else if (OWN.has(name)) assert.equal(refused ?? shapeOf(cluster!), shapeOf(store))
      else assert.equal(refused ?? cluster, store)
    })

  for (const aggregation of [
    { date_histogram: { field: 'timestamp', fixed_interval: '1ms' } },
    { histogram: { field: 'blockNumber.num', interval: 1e-9, order: { _count: 'desc' } } },
  ])
    it(`refuses buckets without documents that are too many: ${JSON.stringify(aggregation)}`, async () => {
      const request = parseSearch(JSON.stringify({ size: 0, aggs: { aggregation } }), ['log'], NOW, { index: INDEX })
      for (const ask of [askStore, askCluster])
        await assert.rejects(ask(filled, request), { code: 'too_many_buckets_exception' })
    })

  for (const body of BESIDE)
    it(`beside ${JSON.stringify(body)}`, async () => {
      const text = JSON.stringify({ ...body, aggs: SOME })
      const request = parseSearch(text, ['event'], NOW, { index: INDEX })
      const { cluster, store, refused } = await askBoth(filled, request)
      assert.equal(refused ?? withoutScores(cluster!), withoutScores(store))
    })
})

/** Names and places of all that stands there. */
const shapeOf = (text: string): string =>
  text
    .replace(/"0x\w+"/g, '""')
    .replace(/"(\d[\d-]*)"/g, '"0"')
    .replace(/-?\d+(?:\.\d+)?/g, '0')

const withoutScores = (text: string): string => text.replace(/"(_score|max_score)":[\d.]+/g, '"$1":0')
