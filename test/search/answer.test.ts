import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSearcher } from '../../src/engine/query/execute.ts'
import type { Parameters } from '../../src/query/parameters.ts'
import { answerSearch } from '../../src/search/answer.ts'
import type { Dialect } from '../../src/search/dialect.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const store = createTestStore(generatedBlocks(6))
after(() => store.close())
const searcher = createSearcher(store.reader)

const ask = (dialect: Dialect | undefined, body: object, parameters: Parameters = []) => {
  const options = { deadline: Number.POSITIVE_INFINITY, dialect, parameters }
  const { body: bytes } = answerSearch(searcher, 'a-b-c', 'block', JSON.stringify(body), options)
  assert.ok(bytes instanceof Uint8Array)
  return JSON.parse(Buffer.from(bytes).toString()) as { hits: { total?: unknown; hits: { _source?: object }[] } }
}
const totalOf = (dialect: Dialect | undefined, body: object) => ask(dialect, body).hits.total

const OBJECT: Dialect = { totals: 'object', typedKeys: false }

test('a total is a number, or an object that says whether there are more', () => {
  const expected: [body: object, integer: number | undefined, object: unknown][] = [
    [{}, 6, { value: 6, relation: 'eq' }],
    [{ track_total_hits: true }, 6, { value: 6, relation: 'eq' }],
    [{ track_total_hits: false }, -1, undefined],
    [{ track_total_hits: 6 }, 6, { value: 6, relation: 'eq' }],
    [{ track_total_hits: 5 }, 5, { value: 5, relation: 'gte' }],
    [{ track_total_hits: 100 }, 6, { value: 6, relation: 'eq' }],
  ]
  for (const [body, integer, object] of expected) {
    assert.deepEqual(totalOf(undefined, body), integer)
    assert.deepEqual(totalOf(OBJECT, body), object)
  }
})

test('the parameters of the URL win over the body', () => {
  const { hits } = ask(OBJECT, { size: 5, query: { match_all: {} } }, [
    ['size', '2'],
    ['_source', 'hash'],
  ])
  assert.deepEqual(
    hits.hits.map(({ _source }) => Object.keys(_source!)),
    [['hash'], ['hash']],
  )
})
