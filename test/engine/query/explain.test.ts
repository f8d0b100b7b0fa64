import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createSearcher, type Searcher } from '../../../src/engine/query/execute.ts'
import { createByteWriter } from '../../../src/lib/bytes.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import type { Explanation } from '../../../src/query/explanation.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { findElasticsearch } from '../../support/elasticsearch.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../../support/store.ts'

const CASES = Number(process.env.CASES ?? 80)

interface Hit {
  _id: string
  _score: number
  _explanation: Explanation
}

describe('explanations', () => {
  let store: TestStore
  let searcher: Searcher
  before(() => {
    store = createTestStore(demoBlocks().slice(0, 60), { run: [3, 5, 1, 20], events: demoEvents() })
    searcher = createSearcher(store.reader)
  })
  after(() => store.close())

  const ask = (kind: Kind, query: object, size = 20): Hit[] => {
    const out = createByteWriter(1024)
    const request = parseSearch(stringifyLossless({ query, size, explain: true, _source: false }), [kind], 0)
    searcher.write(request, { deadline: Number.POSITIVE_INFINITY }, { index: 'x', out })
    return JSON.parse(`[${out.view().toString()}]`)
  }

  for (const kind of KINDS)
    it(`of ${kind} have the value of the score, which follows from their parts`, () => {
      const documents = store.all(kind)
      const step = Math.ceil(documents.length / 60)
      const sample = documents.filter((_, i) => i % step === 0)
      fc.assert(
        fc.property(arbitraryQuery(kind, sample), query => {
          for (const { _score, _explanation } of ask(kind, query)) {
            assert.equal(_explanation.value, _score)
            checkParts(_explanation)
          }
        }),
        { numRuns: CASES, seed: 2 },
      )
    })

  it('are those of Elasticsearch 7.17', async t => {
    const elasticsearch = await findElasticsearch()
    if (!elasticsearch) return t.skip('no Elasticsearch 7.17 answers')
    const raw = { type: 'keyword', ignore_above: 256 }
    const args = { type: 'nested', properties: { name: raw, pos: { type: 'long' } } }
    const properties = {
      ...{ id: raw, event: { type: 'text', fields: { raw } }, address: { type: 'text', fields: { raw } } },
      ...{ args, logIndex: { properties: { num: { type: 'long' } } } },
    }
    const name = 'esrest-explain'
    const documents = store.all('event').map(({ _id, _source: { event, address, args, logIndex } }) => {
      const members = (args as { name: string; pos: number }[]).map(({ name, pos }) => ({ name, pos }))
      return { id: _id, event, address, args: members, logIndex: { num: Number((logIndex as { num: number }).num) } }
    })
    await elasticsearch.fill(name, properties, documents)
    t.after(() => elasticsearch.remove(name))
    for (const query of SAME) {
      const answer: { body: unknown } = await elasticsearch.ask('POST', `/${name}/_search`, {
        query,
        explain: true,
        size: 1000,
      })
      const { hits } = (answer.body as { hits: { hits: (Hit & { _source: { id: string } })[] } }).hits
      const theirs = new Map(hits.map(({ _source, _explanation }) => [_source.id, plain(_explanation)]))
      const ours = ask('event', query, 1000)
      assert.equal(ours.length, theirs.size, JSON.stringify(query))
      assert.ok(ours.length > 0, JSON.stringify(query))
      for (const { _id, _explanation } of ours)
        assert.deepEqual(plain(_explanation), theirs.get(_id), JSON.stringify(query))
    }
  })
})

const SAME: object[] = [
  { term: { event: 'transfer' } },
  { term: { 'event.raw': { value: 'Transfer', boost: 2 } } },
  { match: { event: { query: 'transfer approval', boost: 0.5 } } },
  { bool: { should: [{ term: { event: 'transfer' } }, { term: { 'event.raw': 'Transfer' } }] } },
  { dis_max: { queries: [{ term: { event: 'transfer' } }, { term: { 'event.raw': 'Transfer' } }], tie_breaker: 0.25 } },
  { dis_max: { queries: [{ term: { event: 'transfer' } }, { term: { 'event.raw': 'Approval' } }] } },
  { constant_score: { filter: { term: { 'event.raw': 'Transfer' } }, boost: 2.5 } },
  { range: { 'logIndex.num': { gte: 1 } } },
  { term: { 'logIndex.num': 1 } },
  { nested: { path: 'args', query: { term: { 'args.name': 'value' } } } },
  {
    nested: {
      path: 'args',
      query: { bool: { should: [{ term: { 'args.name': 'value' } }, { term: { 'args.name': 'to' } }] } },
      score_mode: 'sum',
    },
  },
  { fuzzy: { event: 'transfr' } },
]

/** Sums and greatest values are those of their details. */
const checkParts = ({ value, description, details }: Explanation): void => {
  const values = details.map(detail => detail.value)
  const sum = values.reduce((a, b) => a + b, 0)
  const due = /^(idf, )?sum of:$/.test(description)
    ? sum
    : description === 'max of:'
      ? Math.max(0, ...values)
      : undefined
  if (due !== undefined) assert.ok(Math.abs(due - value) <= 1e-5 * Math.max(1, value), `${description} ${value} ${due}`)
  for (const detail of details) checkParts(detail)
}

/**
 * Without what a store of ours does not have: numbers of Lucene's documents, what it adds where there are nested lists, and what only
 * filters. Numbers are as precise as ours.
 */
const plain = ({ value, description, details }: Explanation): Explanation => {
  const text = description
    .replace(/ in \d+\)/, ')')
    .replace(/in range from \d+ to \d+/, 'in range')
    .replace(/freq=[\d.]+/, 'freq')
  const parts = details.filter(({ description }) => !description.startsWith('match on required clause'))
  const [only] = parts
  if (text === 'sum of:' && parts.length === 1) return plain(only!)
  return { value: Number(value.toPrecision(5)), description: text, details: parts.map(plain) }
}
