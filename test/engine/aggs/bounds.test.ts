import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { askAggregations } from '../../support/aggregations.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

let store: TestStore
let searcher: Searcher
before(() => {
  store = createTestStore(demoBlocks().slice(0, 40))
  searcher = createSearcher(store.reader, { ...DEFAULT_LIMITS, aggregationMemory: 20e6 })
})
after(() => store.close())

const refused = (aggs: object) =>
  assert.throws(() => ask('tx', { aggs }), /A search has more than 20MB of data to aggregate/)
const ask = (kinds: string, body: object): { [name: string]: unknown } => askAggregations(searcher, kinds, body)

const every = { filters: { filters: Array.from({ length: 256 }, () => ({ match_all: {} })) } }
const ranges = { range: { field: 'gasUsed.num', ranges: Array.from({ length: 256 }, (_, i) => ({ from: -i })) } }

test('documents that lie in many buckets at once do not take all memory', () => {
  refused({ a: { ...every, aggs: { b: { ...every, aggs: { c: every } } } } })
  refused({ a: { ...ranges, aggs: { b: { ...ranges, aggs: { c: ranges } } } } })
})

test('results that are large in each of many buckets do not take all memory', () => {
  const percents = Array.from({ length: 4_000 }, (_, i) => i / 40)
  const each = { terms: { field: 'hash', size: 10_000 } }
  refused({ a: { ...each, aggs: { p: { percentiles: { field: 'gasUsed.num', percents } } } } })
  const path = { buckets_path: 'n>_count', percents }
  refused({ a: { ...each, aggs: { n: { terms: { field: 'from.raw' } }, p: { percentiles_bucket: path } } } })
})

test('kinds without a list have no elements to come back from', () => {
  const names = { terms: { field: 'args.name' }, aggs: { d: { reverse_nested: {} } } }
  const body = { aggs: { a: { nested: { path: 'args' }, aggs: { names } } } }
  assert.deepEqual(ask('block,event', body), ask('event', body))
})

test('what lets nothing through has no documents in any bucket of a histogram', () => {
  const none = { bool: { must_not: { match_all: {} } } }
  const blocks = { histogram: { field: 'blockNumber.num', interval: 5 } }
  const counts = (kinds: string, inside: object): number[] => {
    const { a } = ask(kinds, { aggs: { a: { ...blocks, aggs: { b: inside } } } })
    return (a as { buckets: { b: { doc_count: number } }[] }).buckets.map(({ b }) => b.doc_count)
  }
  assert.ok(counts('event', { filter: none }).length > 1)
  assert.ok(counts('event', { filter: none }).every(count => count === 0))
  assert.deepEqual(counts('tx,event', { nested: { path: 'args' } }), counts('event', { nested: { path: 'args' } }))
})
