import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import type { SeenBlocks } from '../../src/query/request.ts'
import { arbitraryQuery } from '../support/queries.ts'
import { stringifyLossless } from '../support/scenarios.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../support/store.ts'

// What a cursor's pages score does not depend on blocks that came since, however these lie in segments.

const CASES = Number(process.env.CASES ?? 8)
const OPENED = 47

/** Of each kind, queries that score and what they found when the cursor was opened. */
interface Asked {
  kind: Kind
  query: object
  found: unknown
}

/** Words, values and arguments that some documents have. */
const queriesOn = (sample: readonly { _source: Record<string, unknown> }[]): object[] => {
  const terms = [
    'event',
    'event.raw',
    'method',
    'address.raw',
    'signature',
    'topics',
    'from.raw',
    'to.raw',
    'miner.raw',
    'name',
    'status',
  ]
  const should = sample.slice(0, 12).flatMap(({ _source }) =>
    terms.flatMap(field => {
      const [own] = [_source[field.replace('.raw', '')]].flat()
      if (typeof own !== 'string' && typeof own !== 'boolean') return []
      return [{ match: { [field]: own } }]
    }),
  )
  if (should.length === 0) return []
  const args = [sample[0]!._source.args].flat() as ({ name: string; value: { hex: string } } | undefined)[]
  const nested = args.flatMap(one =>
    one ? [{ term: { 'args.name': one.name } }, { term: { 'args.value.hex': one.value.hex } }] : [],
  )
  const inside = { nested: { path: 'args', query: { bool: { should: nested } }, score_mode: 'sum' } }
  return [{ bool: { should: [...should, ...(nested.length > 0 ? [inside] : [])] } }, ...should.slice(0, 6)]
}

describe('scores within a cursor', () => {
  let store: TestStore
  let seen: SeenBlocks
  const asked: Asked[] = []
  const blocks = demoBlocks().slice(0, 120)

  const ask = (kind: Kind, query: object) => {
    const searcher = createSearcher(store.reader)
    const request = parseSearch(stringifyLossless({ query, size: 200, _source: false }), [kind], 0)
    const out = createByteWriter(1024)
    const { total, maxScore } = searcher.write(
      { ...request, seen },
      { deadline: Number.POSITIVE_INFINITY },
      { index: 'x', out },
    )
    const hits = JSON.parse(`[${out.view().toString()}]`) as { _id: string; _score: number }[]
    return { total, maxScore, hits: hits.map(({ _id, _score }) => [_id, _score]) }
  }

  before(() => {
    store = createTestStore(blocks.slice(0, OPENED), { run: [7, 5, 3], events: demoEvents() })
    seen = createSearcher(store.reader).seen()
    for (const kind of KINDS) {
      const documents = store.all(kind)
      const sample = documents.filter((_, i) => i % Math.ceil(documents.length / 40) === 0)
      for (const query of fc.sample(arbitraryQuery(kind, sample), { numRuns: CASES, seed: 4 }))
        asked.push({ kind, query, found: ask(kind, query) })
      for (const query of queriesOn(sample)) asked.push({ kind, query, found: ask(kind, query) })
    }
  })
  after(() => store.close())

  it('are not all the same', () => {
    const scores = new Set(
      asked.flatMap(({ found }) => (found as ReturnType<typeof ask>).hits.map(([, score]) => score)),
    )
    assert.ok(scores.size > 30, `${scores.size}`)
  })

  for (const [name, upTo] of [
    ['one block more', OPENED + 1],
    ['some blocks more', OPENED + 9],
    ['many blocks more', blocks.length],
  ] as const)
    it(`are the same with ${name}`, () => {
      const newest = store.all('block').length
      store.add(blocks.slice(newest, upTo))
      for (const { kind, query, found } of asked)
        assert.deepEqual(ask(kind, query), found, `${kind} ${stringifyLossless(query)}`)
    })
})
