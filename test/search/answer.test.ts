import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { Parameters } from '../../src/query/parameters.ts'
import { answerSearch } from '../../src/search/answer.ts'
import { answerForm } from '../../src/search/answer-forms.ts'
import type { Dialect } from '../../src/search/service.ts'
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

test('hits name their parent by _parent, in everything that shows hits, unless the dialect leaves it out', () => {
  const answer = (entities: string, parents: boolean, body: object, format?: 'ndjson') => {
    const options = { deadline: Number.POSITIVE_INFINITY, dialect: { ...OBJECT, parents }, format }
    const { body: bytes } = answerSearch(searcher, 'a-b-c', entities, JSON.stringify(body), options)
    const parts = bytes instanceof Uint8Array ? [bytes] : bytes.parts
    return Array.from(parts, part => Buffer.from(part).toString()).join('')
  }
  const parentOf = { has_parent: { parent_type: 'tx', query: { match_all: {} }, inner_hits: {} } }
  const cases: [entities: string, body: object, format?: 'ndjson'][] = [
    ['tx,log', { size: 3 }],
    ['tx,log', { size: -1 }],
    ['tx', { size: 3 }, 'ndjson'],
    ['tx', { size: -1 }, 'ndjson'],
    ['tx', { size: 3, version: true, decimals: true }],
    ['log', { size: 3, query: parentOf }],
    ['tx', { size: 0, aggs: { a: { top_hits: {} } } }],
    ['tx', { size: 3, collapse: { field: 'from.raw', inner_hits: { name: 'a' } } }],
  ]
  for (const [entities, body, format] of cases) {
    const [shown, hidden] = [answer(entities, true, body, format), answer(entities, false, body, format)]
    assert.ok(shown.includes(',"_parent":"0x'), JSON.stringify(body))
    const untimed = (text: string) => text.replace(/"took":\d+/, '')
    assert.ok(untimed(hidden) === untimed(shown.replace(/,"_parent":"[^"]*"/g, '')), JSON.stringify(body))
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

test('hits that would be too long are refused while they are written, by what they repeat', () => {
  const limits = { ...DEFAULT_LIMITS, answer: 400_000 }
  const answer = (body: object, format?: 'ndjson' | 'csv') =>
    answerSearch(searcher, 'a-b-c', 'block', JSON.stringify(body), {
      deadline: Number.POSITIVE_INFINITY,
      limits,
      format,
    })
  const named = (count: number) => ({
    query: {
      bool: { should: Array.from({ length: count }, (_, i) => ({ match_all: { _name: `${i}${'n'.repeat(900)}` } })) },
    },
  })
  assert.equal(answer(named(5)).status, 200)
  assert.throws(
    () => answer(named(100)),
    /^ChainsieveError: The answer, in which each of up to 10 hits may repeat 90190 characters of the request, such as the _name \[\d+n+…\], has more than 400kB of data/,
  )
  limits.answer = 2_000
  for (const format of ['ndjson', 'csv', undefined] as const)
    assert.throws(
      () => answer({}, format),
      /^ChainsieveError: (The answer|An answer) has more than 2kB of data\. Ask for/,
    )
})

test('the explanation of a valid query is not repeated without end', () => {
  const limits = { ...DEFAULT_LIMITS, answer: 20_000 }
  const ask = (count: number) =>
    answerForm(
      searcher,
      {
        ...{
          index: 'a-b-c',
          entities: 'block,tx,log',
          network: 'a/b/c',
          account: 1,
          signal: new AbortController().signal,
        },
        form: { tell: 'validity', why: true },
      },
      JSON.stringify({ query: { terms: { hash: Array.from({ length: count }, () => '0x00') } } }),
      { deadline: Number.POSITIVE_INFINITY, limits },
    )
  assert.equal(ask(800).status, 200)
  assert.throws(() => ask(1_000), /in which the query of \d+ characters stands 3 times, has more than 20kB of data/)
})
