import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openSearchIndex } from '../../../scripts/scenario-mapping.ts'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { askAggregations } from '../../support/aggregations.ts'
import { type Elasticsearch, findElasticsearch } from '../../support/elasticsearch.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'
import { CASES } from './cases.ts'

// What aggregations find over the demo chain is what Elasticsearch 7.17 finds over its documents.

const NOW = Date.UTC(2025, 0, 1, 1)
const INDEX = (kind: Kind) => `aggs-${process.pid}-${kind}`
const elasticsearch = await findElasticsearch()

describe('aggregations are those of Elasticsearch 7.17', {
  skip: elasticsearch ? false : 'no Elasticsearch 7.17 is there',
}, () => {
  let store: TestStore
  before(async () => {
    store = createTestStore(demoBlocks(), { run: [1, 7, 30, 2], traces: 'all' })
    for (const kind of KINDS) await load(elasticsearch!, kind, store)
  })
  after(async () => {
    store.close()
    for (const kind of KINDS) await elasticsearch!.remove(INDEX(kind))
  })
  for (const [name, kinds, body] of CASES)
    it(name, { skip: LICENSED.test(JSON.stringify(body)) && 'only a licensed Elasticsearch has it' }, async () => {
      const path = `/${kinds
        .split(',')
        .map(kind => INDEX(kind as Kind))
        .join()}/_search?typed_keys=true`
      const { status, body: theirs } = await elasticsearch!.ask('POST', path, { size: 0, ...body })
      assert.equal(status, 200, JSON.stringify(theirs).slice(0, 600))
      const searched = KINDS.filter(kind => kinds.split(',').includes(kind)).join()
      const options = { typedKeys: true, now: NOW, index: 'aggs' }
      const ours = askAggregations(createSearcher(store.reader), searched, body, options)
      assert.deepStrictEqual(rounded(ours), rounded((theirs as { aggregations: unknown }).aggregations))
    })
})

/** Compared with OpenSearch instead. */
const LICENSED = /"multi_terms"|"rate"/

const load = async ({ ask }: Elasticsearch, kind: Kind, store: TestStore) => {
  const index = INDEX(kind)
  await ask('DELETE', `/${index}`)
  await ask('PUT', `/${index}`, withoutNormalizers(openSearchIndex(kind)))
  const documents = store.all(kind)
  for (let i = 0; i < documents.length; i += 1000) {
    const lines = documents
      .slice(i, i + 1000)
      .flatMap(({ _id, _source }) => [JSON.stringify({ index: { _id } }), stringifyLossless(_source)])
    const { body } = await ask('POST', `/${index}/_bulk`, `${lines.join('\n')}\n`)
    if ((body as { errors: boolean }).errors) throw new Error(JSON.stringify(body).slice(0, 1000))
  }
  await ask('POST', `/${index}/_refresh`)
}

/** Arguments are found in any letter case, and shown as documents show them. */
const withoutNormalizers = (mapping: object): unknown =>
  JSON.parse(JSON.stringify(mapping), (name, value: unknown) => {
    if (name !== 'hex' || typeof value !== 'object' || value === null) return value
    const { normalizer: _, ...rest } = value as Record<string, unknown>
    return rest
  })

/** Sums in another order differ in their last digits; hits are told by their ids. */
const rounded = (value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return Number(value.toPrecision(12))
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value !== 'object' || value === null) return value
  if ('_id' in value) return value._id
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)]))
}
