import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { KINDS } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { CASES } from '../../engine/aggs/cases.ts'
import { AGGREGATIONS } from '../../engine/aggs/several.ts'
import { type FilledCluster, fillCluster, withoutCluster } from '../../support/cluster-fill.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'
import { ODD } from './odd.ts'
import { askBoth, FEW, INDEX, PARTS } from './support.ts'

const NOW = Date.UTC(2025, 0, 1, 1)

/** Those that a cluster refuses. */
const REFUSED: ReadonlySet<string> = new Set([
  'names of indices',
  'elements as hits',
  'elements as hits by scores',
  'samples of the best',
])

/** What a search asks beside aggregations. */
const BESIDE: readonly object[] = [
  { size: 2, sort: [{ 'blockNumber.num': 'asc' }], search_after: [1e9] },
  { size: 2, query: { match: { event: 'transfer' } }, sort: '_score', search_after: [-1] },
  { size: 1, query: { bool: { should: [{ term: { 'event.raw': 'Sync' } }, { match_all: {} }] } } },
  { size: 1, query: { constant_score: { filter: { match_all: {} }, boost: 3 } } },
  { size: 1, post_filter: { term: { status: true } } },
  { size: 1, query: { term: { status: true } } },
  { size: 2, collapse: { field: 'blockNumber.num' } },
  { size: 0, query: { ids: { values: ['nothing'] } } },
]
const SOME = {
  a: { terms: { field: 'blockNumber.num', size: 3 }, aggs: { h: { top_hits: { size: 1, _source: false } } } },
  all: { global: {}, aggs: { n: { value_count: { field: 'blockNumber.num' } }, h: { top_hits: { size: 1 } } } },
  z: { terms: { field: 'event.raw', min_doc_count: 0, size: 4, order: { _key: 'asc' } } },
}

describe('aggregations of a cluster are those of the store, byte for byte', { skip: withoutCluster }, () => {
  let filled: FilledCluster
  before(async () => {
    const store = createTestStore(demoBlocks(), { run: [1, 7, 30, 2], traces: 'all' })
    filled = await fillCluster(store, { prefix: 'aggs', naming: { blocksPerIndex: 200, shards: 2 } })
  })
  after(() => filled?.close())

  const cases = [...CASES, ...AGGREGATIONS.map(([name, kinds, aggs]) => [`several: ${name}`, kinds, { aggs }] as const)]
  const ways = [['', undefined] as const, ['few values at once: ', FEW] as const, ['in parts: ', PARTS] as const]
  for (const [how, most] of ways)
    for (const [name, names, body] of cases)
      it(`${how}${name}`, async () => {
        const kinds = KINDS.filter(kind => names.split(',').includes(kind))
        const request = parseSearch(JSON.stringify({ size: 0, ...body }), kinds, NOW, { index: INDEX })
        const { cluster, store, refused } = await askBoth(filled, request, most)
        if (REFUSED.has(name)) assert.ok(refused)
        else if (!refused || most !== PARTS) assert.equal(refused ?? cluster, store)
      })

  for (const body of BESIDE)
    it(`beside ${JSON.stringify(body)}`, async () => {
      const text = JSON.stringify({ ...body, aggs: SOME })
      const request = parseSearch(text, ['tx', 'event'], NOW, { index: INDEX })
      const { cluster, store, refused } = await askBoth(filled, request)
      assert.equal(refused ?? cluster, store)
    })

  for (const aggs of ODD)
    it(`${JSON.stringify(aggs).slice(0, 120)}`, async () => {
      const request = parseSearch(JSON.stringify({ size: 0, aggs }), ['tx'], NOW, { index: INDEX })
      const { cluster, store, refused } = await askBoth(filled, request)
      if (refused) assert.match(refused, /^The cluster refuses this query: (it has too many buckets |Rounding)/)
      else assert.equal(cluster, store)
    })
})
