import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { arbitrumBlock, unknownBlock } from '../../support/chains.ts'
import { type Elasticsearch, findElasticsearch } from '../../support/elasticsearch.ts'
import { search } from '../../support/search.ts'
import { createTestStore, type TestStore } from '../../support/store.ts'

// Members that no field names are searched as Elasticsearch's flattened: what it answers was written down, and is asked again where one runs.

const QUERIES: readonly [query: object, blocks: number, txs: number][] = [
  [{ term: { extra: 'many' } }, 1, 0],
  [{ term: { 'extra.sendCount': 'many' } }, 1, 0],
  [{ term: { 'extra.proofs.by': 'B' } }, 1, 0],
  [{ term: { 'extra.proofs.of.depth': 3 } }, 1, 0],
  [{ term: { 'extra.proofs.of.depth': '3' } }, 1, 0],
  [{ term: { 'extra.proofs.of': 3 } }, 0, 0],
  [{ match: { 'extra.sendCount': 'many' } }, 1, 0],
  [{ match: { 'extra.sendCount': 'Many' } }, 0, 0],
  [{ prefix: { 'extra.sendCount': 'ma' } }, 1, 0],
  [{ terms: { 'extra.yieldMode': ['void', 'claimable'] } }, 0, 1],
  [{ term: { 'extra.receipt.yieldMode': 'void' } }, 0, 1],
  [{ term: { 'extra.__proto__.polluted': 'yes' } }, 0, 1],
  [{ term: { 'extra.constructor': 'made' } }, 0, 1],
  [{ exists: { field: 'extra' } }, 1, 1],
  [{ exists: { field: 'extra.proofs' } }, 0, 0],
  [{ exists: { field: 'extra.toString' } }, 0, 0],
  [{ exists: { field: 'extra.shares.user' } }, 0, 1],
  [{ query_string: { query: 'extra.shares.node:7' } }, 0, 1],
  [{ range: { 'extra.shares.node': { gte: '6', lt: '8' } } }, 0, 1],
]

describe('members that no field names', () => {
  let store: TestStore
  let searcher: Searcher
  let elasticsearch: Elasticsearch | undefined
  before(async () => {
    const next = structuredClone(arbitrumBlock)
    const text = JSON.stringify(next)
      .replaceAll(next.block.hash, `0x${'ab'.repeat(32)}`)
      .replaceAll('0x14e8a59a"', '0x14e8a59b"')
    const plain = JSON.parse(text.replaceAll(next.block.transactions[0]!.hash, `0x${'cd'.repeat(32)}`))
    plain.block.parentHash = next.block.hash
    store = createTestStore([unknownBlock(), plain])
    searcher = createSearcher(store.reader)
    elasticsearch = await findElasticsearch()
    await elasticsearch?.fill('chains-flattened', { extra: { type: 'flattened', ignore_above: 256 } }, [
      ...['block', 'tx'].flatMap(kind =>
        store.all(kind as 'block' | 'tx').map(({ _source: { extra = {} } }) => ({ kind, extra })),
      ),
    ])
  })
  after(async () => {
    store.close()
    await elasticsearch?.remove('chains-flattened')
  })

  for (const [query, blocks, txs] of QUERIES)
    it(`are found by ${JSON.stringify(query)}`, async () => {
      for (const [kind, due] of [
        ['block', blocks],
        ['tx', txs],
      ] as const) {
        const request = parseSearch(JSON.stringify({ query }), [kind], 0)
        assert.equal(searcher.search(request, { deadline: Number.POSITIVE_INFINITY }).total, due, kind)
        assert.equal(search(request, { [kind]: store.all(kind) }).total, due, kind)
        const answer = await elasticsearch?.ask('POST', '/chains-flattened/_count', {
          query: { bool: { filter: [query, { term: { 'kind.keyword': kind } }] } },
        })
        if (answer) assert.deepEqual([answer.status, (answer.body as { count: number }).count], [200, due], kind)
      }
    })
})
