import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openClusterReader } from '../../../src/cluster/reader.ts'
import type { DocumentReader } from '../../../src/engine/port.ts'
import { openSearcher } from '../../../src/engine/query/searcher.ts'
import type { SearchRequest } from '../../../src/query/request.ts'
import type { RuleConfig } from '../../../src/rules/rule.ts'
import { searchOf, withSeries } from '../../../src/rules/search.ts'
import type { Pool } from '../../../src/search/pool.ts'
import type { SearchParams } from '../../../src/search/service.ts'
import { CONTENTS } from '../../answers/stores.ts'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { conditionAt, ruleConfig } from '../../support/rules.ts'
import { assertPromised } from '../promised.ts'
import { ask, type Both, NETWORK, never, setUp, told } from './support.ts'

const by = { network: NETWORK, account: 1, signal: never }

describe('a cluster is asked in every form', { skip: withoutCluster }, () => {
  let both: Both
  before(async () => {
    both = await setUp(await CONTENTS.odd!['small runs']!())
  })
  after(() => both?.close())

  /** Of both the same answer, which is given. */
  const same = async (question: (pool: Pool) => Promise<string>): Promise<string> => {
    const [answer, expected] = [await question(both.cluster), await question(both.store)]
    assertPromised(answer, expected)
    return answer
  }
  const sameSearch = (entities: string, body: object | undefined, more: Partial<SearchParams> = {}) =>
    same(pool => ask(pool, entities, body && JSON.stringify(body), more))

  it('counts, checks and matches', async () => {
    const query = { term: { 'gasUsed.num': 21_000 } }
    await sameSearch('tx', { query }, { form: { tell: 'count' } })
    await sameSearch('tx,log', undefined, { form: { tell: 'count' } })
    await sameSearch('tx', { query }, { form: { tell: 'validity', why: true } })
    await sameSearch('tx', { query: { terms: { nothing: 1 } } }, { form: { tell: 'validity', why: true } })
    const { hits } = JSON.parse((await sameSearch('tx', { size: 2 })).slice(4)).hits
    const constant = { query: { bool: { filter: { exists: { field: 'from' } } } } }
    for (const { _id } of hits as { _id: string }[]) {
      await sameSearch(
        'tx',
        { query: { match_all: {} } },
        { form: { tell: 'match', kind: 'tx', id: _id, source: true } },
      )
      await sameSearch('tx', constant, { form: { tell: 'match', kind: 'tx', id: _id } })
      await sameSearch('tx', { query: { match_none: {} } }, { form: { tell: 'match', kind: 'tx', id: _id } })
    }
    await sameSearch('tx', { query: { match_all: {} } }, { form: { tell: 'match', kind: 'tx', id: '0x' } })
  })

  it('reads large bodies in a thread', async () => {
    const values = Array.from({ length: 500 }, (_, i) => `0x${String(i).padStart(64, '0')}`)
    const query = { bool: { should: [{ terms: { hash: values } }, { term: { 'gasUsed.num': 21_000 } }] } }
    const aggs = { n: { histogram: { field: 'blockNumber.num', interval: 5 } } }
    await sameSearch('tx', { query, aggs, size: 5, sort: '_doc' })
    await sameSearch('tx', { query }, { form: { tell: 'count' } })
    await sameSearch('tx', { query, size: -1 })
    await sameSearch('tx', { query, size: -1 }, { format: 'csv' })
    await sameSearch('tx', { query: { bool: { filter: query, nothing: 1 } } })
    await sameSearch('tx', { query, size: 2 }, { scroll: '1m' })
  })

  it('tells how scores come about as the cluster does', async () => {
    const query = {
      bool: { should: [{ term: { 'event.raw': { value: 'Bare', boost: 3 } } }, { exists: { field: 'args' } }] },
    }
    const hitsOf = async (body: object) => {
      const text = await ask(both.cluster, 'event', JSON.stringify({ query, explain: true, ...body }))
      return JSON.parse(text.slice(4))
    }
    const explained = (hits: { _score: number; _explanation: { value: number; details: object[] } }[]) => {
      assert.ok(hits.length > 0)
      for (const { _score, _explanation } of hits) assert.equal(_explanation.value, _score)
    }
    explained((await hitsOf({ size: 20 })).hits.hits)
    const aggs = { a: { terms: { field: 'event.raw' }, aggs: { t: { top_hits: { explain: true, size: 2 } } } } }
    const { aggregations } = await hitsOf({ size: 0, aggs })
    for (const { t } of aggregations.a.buckets) explained(t.hits.hits)
  })

  it('shows what hits are asked to show', async () => {
    const rich = {
      fields: ['value.*', 'from', 'timestamp', '_id'],
      docvalue_fields: ['gas.num', { field: 'timestamp', format: 'yyyy' }],
      highlight: { fields: { '*': {} } },
      ...{ version: true, seq_no_primary_term: true, explain: true },
    }
    const names = {
      bool: { filter: [{ exists: { field: 'from', _name: 'a' } }, { term: { from: { value: '0x', _name: 'b' } } }] },
    }
    await sameSearch('tx', { ...rich, size: 5 })
    await sameSearch('tx', { ...rich, size: -1, stored_fields: '_none_' })
    await sameSearch('tx', { query: { bool: { should: [names, { match_all: {} }] } }, size: 20, sort: '_doc' })
    await sameSearch('event', {
      size: 20,
      _source: { includes: ['args', 'event'], decimals: true, args_by_name: true },
    })
    for (const kind of ['event', 'call', 'tx'])
      for (const _source of [true, ['args.value.hex', 'args.name'], { excludes: ['args.value.type'] }])
        await sameSearch(kind, { size: 20, _source, sort: '_doc' }, { parameters: [['args', 'flat']] })
    for (const kind of ['tx', 'trace', 'call'])
      for (const _source of [
        true,
        ['value.eth', 'action'],
        ['*.eth'],
        { excludes: ['value.eth', 'action.value.coin'] },
      ])
        await sameSearch(kind, { size: 20, _source, sort: '_doc' }, { parameters: [['eth', 'true']] })
    const path = 'args'
    const inner_hits = { size: 2, sort: { 'args.pos': 'desc' }, fields: ['args.name'], _source: ['args.value.hex'] }
    const query = { range: { 'args.pos': { gte: 1 } } }
    await sameSearch('event', { query: { nested: { path, query, inner_hits } }, size: 20 })
    await sameSearch('event', { size: 3, collapse: { field: 'event.raw' }, sort: 'timestamp' })
  })

  it('sorts by elements of lists, whether or not hits are counted', async () => {
    for (const field of ['args.value.scaled', 'args.value.num', 'args.pos'])
      for (const order of ['asc', 'desc'])
        for (const more of [{ track_total_hits: false }, { track_total_hits: 4 }, { size: -1 }]) {
          const sort = { [field]: { order, nested: { path: 'args' } } }
          await sameSearch('event', { size: 5, _source: false, sort, ...more })
        }
  })

  it('sorts by ids, page by page', async () => {
    for (const entities of ['log', 'event', 'log,event', 'contract', 'contract,token', 'block,tx'])
      for (const sort of [[{ _id: 'desc' }], [{ timestamp: 'asc' }, { _id: 'asc' }]]) {
        let search_after: unknown
        for (let page = 0; page < 3; page++) {
          const body = { size: 40, sort, _source: false, ...(page > 0 && { search_after }) }
          const { hits } = JSON.parse((await sameSearch(entities, body)).slice(4)).hits
          search_after = hits.at(-1)?.sort
          if (!search_after) break
        }
      }
  })

  it('goes through groups page by page', async () => {
    let pages = 0
    const scored = { bool: { should: [{ term: { method: 'transfer' } }, { match_all: {} }] } }
    for (const [entities, sort, more] of [
      ['tx', { 'to.raw': 'asc' }, {}],
      ['tx', { 'to.raw': { order: 'desc', missing: '_first' } }, { track_total_hits: false }],
      ['tx', { 'gasUsed.num': 'desc' }, { query: scored, track_scores: true }],
      ['tx', { 'value.dec': { order: 'asc', missing: '_first' } }, { post_filter: { term: { status: true } } }],
      ['tx', { 'value.coin': { order: 'desc', missing: '_last' } }, { aggs: { a: { max: { field: 'nonce.num' } } } }],
      ['event', { 'event.raw': 'asc' }, { size: 2, query: { exists: { field: 'args' } } }],
      ['tx,log', { 'blockNumber.num': 'desc' }, { track_total_hits: 10 }],
      ['tx', { 'nonce.num': { order: 'asc', missing: 7 } }, {}],
      ['tx', { 'to.raw': { order: 'desc', missing: '0x5' } }, {}],
      ['tx', { 'nonce.num': { order: 'desc', numeric_type: 'double', missing: 0.5 } }, {}],
      ['tx', { 'value.coin': { order: 'asc', numeric_type: 'long' } }, {}],
      ['tx', { 'value.coin': { order: 'asc', numeric_type: 'long', missing: '_first' } }, {}],
      ['tx', { 'value.coin': { order: 'desc', numeric_type: 'long', missing: '_first' } }, {}],
    ] as const) {
      const [field] = Object.keys(sort) as [string]
      const inner_hits = { name: 'all', size: 2, sort: { timestamp: 'desc' }, _source: false }
      const body = { size: 2, _source: false, sort, collapse: { field, inner_hits }, ...more }
      let search_after: unknown
      for (let isFirst = true; isFirst || search_after; isFirst = false) {
        const answer = await sameSearch(entities, { ...body, ...(!isFirst && { search_after }) })
        pages++
        assert.ok(answer.startsWith('200'), answer)
        search_after = JSON.parse(answer.slice(4)).hits.hits.at(-1)?.sort
      }
    }
    assert.ok(pages > 20, `${pages}`)
  })

  it('goes on behind hits whose ties are told apart by places', async () => {
    for (const [entities, sort] of [
      ['log', [{ 'logIndex.num': 'asc' }, { _shard_doc: 'desc' }]],
      ['log', [{ 'logIndex.num': 'desc' }, '_shard_doc', { timestamp: 'desc' }]],
      ['tx,log', [{ 'blockNumber.num': 'desc' }, { _shard_doc: 'asc' }, 'transactionIndex.num']],
    ] as const)
      await same(async pool => {
        const { id } = await pool.cursors.openPit({ ...by, entities, keepAlive: '1m', dialect: 'elasticsearch' })
        const texts: string[] = []
        let search_after: unknown[] | undefined
        for (let page = 0; page < 3; page++) {
          const body = { pit: { id }, size: 20, _source: false, sort, ...(search_after && { search_after }) }
          const text = await ask(pool, '', JSON.stringify(body), { isNamed: false })
          assert.match(text, /^200/)
          texts.push(text)
          search_after = JSON.parse(text.slice(4)).hits.hits.at(-1).sort
        }
        return texts.join('\n')
      })
  })

  it('finds what rules find, also by conditions that no index answers', async () => {
    const exact: SearchRequest[] = []
    for (const request of ruleSearches(8)) {
      await same(pool => told(() => pool.request({ ...by, request })))
      await same(pool => told(() => pool.request({ ...by, request: withSeries(request, { intervalMs: 7_000 }) })))
      exact.push(request)
    }
    assert.ok(exact.length > 3)
  })

  it('reads history where it lies: in the cluster, in the store, and in both', async () => {
    const { cluster, naming, network, visible, store } = both.filled
    const all = visible.ranges
    const part = [{ from: all[0]!.from, to: all[0]!.from + 9 }]
    const plain = openSearcher(store.path)
    for (const ranges of [all, part]) {
      // What is not there yet is hidden.
      const hidden = ranges === all ? [] : [{ batches: { from: 0, to: 1 }, above: part[0]!.to }]
      const reader = openClusterReader(store.path, {
        cluster,
        naming,
        network,
        shelf: () => () => ({ hidden, ranges }),
      })
      for (const request of ruleSearches(5)) {
        assert.equal(await textOf(reader, request), await textOf(plain, request))
        const whole = { ...request, size: -1, trackTotal: false }
        assert.equal(await pagesOf(reader, whole), await pagesOf(plain, whole))
      }
      await reader.close()
    }
    plain.close()
  })
})

const options = { deadline: Number.POSITIVE_INFINITY }
const textOf = async (reader: DocumentReader, request: SearchRequest): Promise<string> =>
  shown((await reader.search(request, options)).hits)
const pagesOf = async (reader: DocumentReader, request: SearchRequest): Promise<string> => {
  const hits: unknown[] = []
  for await (const page of (await reader.pages(request, options)).pages) hits.push(...page)
  return shown(hits)
}
/** What is never shown is told by the store alone. */
const shown = (found: unknown): string =>
  JSON.stringify(found, (name, value: unknown) => (name === 'decoding' ? undefined : value))

const ruleSearches = (size: number): SearchRequest[] =>
  [
    { targetMap: [conditionAt(['event'], 'Equals', 'bare', false)] },
    { targetMap: [conditionAt(['args', '0', 'value'], 'Greater', '5', false)] },
    { targetMap: [conditionAt(['args', '1'], 'Equals', '0', false)] },
    { targetType: 'Transaction', targetMap: [conditionAt(['value'], 'Greater', '1', false)] },
    { targetType: 'Transaction', targetMap: [conditionAt(['from'], 'Equals', '0x2222', false)] },
  ].map(change => searchOf(ruleConfig(change) as unknown as RuleConfig, { from: 0, to: 1_000, order: 'asc', size }))
