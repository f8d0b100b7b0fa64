import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { askAggregations } from '../../support/aggregations.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

/** What is looked at of a document of any kind. */
interface Source {
  hash: string
  blockHash: string
  transactionHash?: string
  type?: string
  event?: string
  status?: boolean
  timestamp: number
  gasUsed: { num: number }
  gasPrice: { num: number }
  from: string
  contractAddress?: string
}

describe('aggregations of relatives and of first values', () => {
  let store: TestStore
  before(() => {
    store = createTestStore(demoBlocks().slice(0, 120), { run: [1, 7, 30, 2], traces: 'all' })
  })
  after(() => store.close())

  const all = (kind: Kind) => store.all(kind).map(({ _source }) => _source as unknown as Source)
  const ask = (kinds: string, body: object) =>
    askAggregations(createSearcher(store.reader), kinds, body, { typedKeys: true })

  it('children are those that the documents have, in the buckets of these', () => {
    const { 'lterms#t': found } = ask('tx', {
      aggs: {
        t: {
          terms: { field: 'status' },
          aggs: {
            events: { children: { type: 'event' }, aggs: { names: { terms: { field: 'event.raw', size: 100 } } } },
            traces: { children: { type: 'trace' } },
          },
        },
      },
    })
    for (const bucket of found.buckets) {
      const hashes = new Set(
        all('tx')
          .filter(({ status }) => status === (bucket.key === 1))
          .map(({ hash }) => hash),
      )
      const events = all('event').filter(({ transactionHash }) => hashes.has(transactionHash!))
      const counts = Object.fromEntries(
        Object.entries(Object.groupBy(events, ({ event }) => event ?? '')).map(([name, list]) => [name, list!.length]),
      )
      delete counts['']
      const { 'children#events': own, 'children#traces': traces } = bucket
      assert.equal(own.doc_count, events.length)
      const names = own['sterms#names'].buckets as { key: string; doc_count: number }[]
      assert.deepEqual(Object.fromEntries(names.map(({ key, doc_count }) => [key, doc_count])), counts)
      assert.equal(traces.doc_count, all('trace').filter(({ transactionHash }) => hashes.has(transactionHash!)).length)
    }
    assert.ok(found.buckets.length > 0)
  })

  it('children of children, and rewards of blocks', () => {
    const found = ask('block', {
      aggs: {
        t: { children: { type: 'tx' }, aggs: { e: { children: { type: 'event' } }, l: { children: { type: 'log' } } } },
        r: { children: { type: 'trace' } },
      },
    })
    const { 'children#t': txs, 'children#r': rewards } = found
    assert.deepEqual(
      [txs.doc_count, txs['children#e'].doc_count, txs['children#l'].doc_count, rewards.doc_count],
      [
        all('tx').length,
        all('event').length,
        all('log').length,
        all('trace').filter(({ type }) => type === 'reward').length,
      ],
    )
  })

  it('parents count once in each bucket', () => {
    const { 'sterms#t': found } = ask('event', {
      aggs: {
        t: {
          terms: { field: 'event.raw', size: 100 },
          aggs: {
            p: {
              parent: { type: 'event' },
              aggs: { s: { sum: { field: 'gasUsed.num' } }, b: { parent: { type: 'tx' } } },
            },
          },
        },
      },
    })
    const byHash = new Map(all('tx').map(one => [one.hash, one]))
    for (const { key, 'parent#p': parents } of found.buckets) {
      const hashes = new Set(
        all('event')
          .filter(({ event }) => event === key)
          .map(({ transactionHash }) => transactionHash!),
      )
      const txs = [...hashes].map(hash => byHash.get(hash)!)
      assert.equal(parents.doc_count, txs.length)
      assert.equal(
        parents['sum#s'].value,
        txs.reduce((sum, { gasUsed }) => sum + gasUsed.num, 0),
      )
      assert.equal(parents['parent#b'].doc_count, new Set(txs.map(({ blockHash }) => blockHash)).size)
    }
    assert.ok(found.buckets.length > 1)
  })

  it('hits and empty terms of relatives', () => {
    const found = ask('tx', {
      query: { match_none: {} },
      aggs: {
        c: {
          children: { type: 'event' },
          aggs: { h: { top_hits: { size: 1 } }, t: { terms: { field: 'event.raw', min_doc_count: 0, size: 1000 } } },
        },
      },
    })['children#c']
    const names = new Set(all('event').flatMap(({ event }) => event ?? []))
    assert.deepEqual(
      [found.doc_count, found['top_hits#h'].hits.hits, found['sterms#t'].buckets.length],
      [0, [], names.size],
    )
    const shown = ask('tx', { aggs: { c: { children: { type: 'event' }, aggs: { h: { top_hits: { size: 2 } } } } } })
    const { hits } = shown['children#c']['top_hits#h'].hits
    assert.deepEqual(
      hits.map(({ _type }: { _type: string }) => _type),
      ['event', 'event'],
    )
  })

  it('the first values in an order', () => {
    const { 'sterms#t': found } = ask('tx', {
      aggs: {
        t: {
          terms: { field: 'from.raw', size: 100, order: { 'm[gasUsed.num]': 'desc' } },
          aggs: {
            m: { top_metrics: { metrics: { field: 'gasUsed.num' }, sort: { 'gasPrice.num': 'desc' } } },
            several: {
              top_metrics: {
                metrics: [
                  { field: 'gasUsed.num' },
                  { field: 'from.raw' },
                  { field: 'status' },
                  { field: 'timestamp' },
                  { field: 'contractAddress.raw' },
                  { field: 'value.coin' },
                ],
                sort: [{ timestamp: { order: 'asc' } }],
                size: 2,
              },
            },
            p: { bucket_script: { buckets_path: { v: 'm[gasUsed.num]' }, script: 'params.v * 2' } },
          },
        },
      },
    })
    let last = Number.POSITIVE_INFINITY
    for (const {
      key,
      'top_metrics#m': first,
      'top_metrics#several': several,
      'simple_value#p': twice,
    } of found.buckets) {
      const own = all('tx').filter(({ from }) => from === key)
      const price = Math.max(...own.map(({ gasPrice }) => gasPrice.num))
      const [{ sort, metrics }] = first.top
      assert.deepEqual(sort, [price])
      const value = metrics['gasUsed.num']
      assert.ok(own.some(({ gasPrice, gasUsed }) => gasPrice.num === price && gasUsed.num === value))
      assert.ok(value <= last)
      last = value
      assert.equal(twice.value, 2 * value)
      const times = own
        .map(({ timestamp }) => timestamp)
        .sort((a, b) => a - b)
        .slice(0, 2)
      assert.deepEqual(
        several.top.map(({ sort }: { sort: string[] }) => sort),
        times.map(time => [String(time)]),
      )
      for (const { metrics } of several.top) {
        const one = own.find(
          ({ gasUsed, timestamp }) => gasUsed.num === metrics['gasUsed.num'] && String(timestamp) === metrics.timestamp,
        )
        assert.deepEqual([metrics['from.raw'], metrics.status], [one?.from, one?.status])
        assert.ok(metrics['contractAddress.raw'] === null || typeof metrics['contractAddress.raw'] === 'string')
        assert.equal(typeof metrics['value.coin'], 'number')
      }
    }
    assert.ok(found.buckets.length > 1)
  })

  it('what is not supported is refused by name', () => {
    const refusals: [kinds: string, aggs: object, reason: RegExp][] = [
      ['tx', { children: { type: 'nope' } }, /has no children of type \[nope\]/],
      ['tx', { children: { type: 'block' } }, /tx has no children of type \[block\]/],
      ['tx', { children: {} }, /Missing \[child_type\]/],
      ['tx', { parent: { type: 'event' } }, /has no children of type \[event\]/],
      ['event', { nested: { path: 'args' }, aggs: { p: { parent: { type: 'event' } } } }, /reverse_nested/],
      ['tx', { top_metrics: { sort: 'timestamp' } }, /\[metrics\]/],
      ['tx', { top_metrics: { metrics: { field: 'gasUsed.num' } } }, /\[sort\]/],
      ['tx', { top_metrics: { metrics: [], sort: 'timestamp' } }, /at least one field/],
      ['tx', { top_metrics: { metrics: { field: 'gasUsed.num' }, sort: ['timestamp', 'nonce.num'] } }, /one sort key/],
      ['tx', { top_metrics: { metrics: { field: 'gasUsed.num' }, sort: 'hash' } }, /sorts by a number/],
      [
        'tx',
        { top_metrics: { metrics: { field: 'gasUsed.num' }, sort: 'timestamp', size: 11 } },
        /\[top_metrics.size\]/,
      ],
      ['log', { top_metrics: { metrics: { field: 'topics' }, sort: 'timestamp' } }, /is a list/],
      ['tx', { top_metrics: { metrics: { field: '_id' }, sort: 'timestamp' } }, /no field with values/],
      ['tx', { sampler: { shard_size: 9 } }, /\[sampler\] is not supported/],
      ['tx', { adjacency_matrix: { filters: {} } }, /\[adjacency_matrix\] is not supported/],
    ]
    for (const [kinds, aggregation, reason] of refusals)
      assert.throws(() => ask(kinds, { aggs: { a: aggregation } }), reason, JSON.stringify(aggregation))
  })
})
