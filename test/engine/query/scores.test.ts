import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createStatistics } from '../../../src/engine/query/scores/statistics.ts'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { type FieldPath, KINDS, type Kind } from '../../../src/mapping/index.ts'
import type { QueryValue } from '../../../src/query/ast.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compilePredicate, type TestedDocument } from '../../../src/query/predicate.ts'
import { compileDocumentScore } from '../../../src/query/score-predicate.ts'
import { asFloat } from '../../../src/query/statistics.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { statisticsOf } from '../../support/statistics.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../../support/store.ts'

// What the store's indexes and columns say of scores must be what the documents themselves say.

const CASES = Number(process.env.CASES ?? 150)
const OPTIONS = { deadline: Number.POSITIVE_INFINITY }

describe('scores', () => {
  let store: TestStore
  let searcher: Searcher
  const documents = {} as Record<Kind, TestedDocument[]>
  before(() => {
    store = createTestStore(demoBlocks().slice(0, 60), { run: [3, 5, 1, 20], events: demoEvents() })
    searcher = createSearcher(store.reader)
    for (const kind of KINDS) documents[kind] = store.all(kind)
  })
  after(() => store.close())

  const answer = (kind: Kind, body: object) => {
    const out: { _id: string; score: number }[] = []
    const request = parseSearch(stringifyLossless(body), [kind], Date.now())
    const written = searcher.search(request, OPTIONS)
    for (const { document, score } of written.hits) out.push({ _id: document._id, score: score ?? 1 })
    return { ...written, hits: out, request }
  }

  for (const kind of KINDS)
    it(`of ${kind} are those of the documents, the best first, then the newest`, () => {
      const own = store.read(() => createStatistics({ kind, reader: store.reader, ask: () => [] }))
      const inMemory = statisticsOf(documents[kind])
      // Where neither index nor column tells how frequent a value is, it counts 1.
      const known = {
        ...inMemory,
        frequency: (field: FieldPath, value: QueryValue) =>
          store.read(() => own.frequency(field, value)) === undefined ? undefined : inMemory.frequency(field, value),
        averageLength: (field: FieldPath) =>
          store.read(() => own.averageLength(field)) === 1 ? 1 : inMemory.averageLength(field),
        values: (field: FieldPath, test: (value: string) => boolean) =>
          store.read(() => own.values(field, test)) && inMemory.values(field, test),
      }
      const places = new Map(documents[kind].map(({ _id }, i) => [_id, i]))
      const step = Math.ceil(documents[kind].length / 60)
      const sample = documents[kind].filter((_, i) => i % step === 0)
      fc.assert(
        fc.property(arbitraryQuery(kind, sample), query => {
          const { request, hits } = answer(kind, { query, size: 30 })
          const [part] = request.parts
          const holds = compilePredicate(kind, part!.query)
          const scoreOf = compileDocumentScore(part!.score ?? { by: 'same', value: 1 }, known)
          const due = documents[kind]
            .filter(holds)
            .map(document => ({ _id: document._id, score: scoreOf(document._source, document) }))
          const byId = new Map(due.map(({ _id, score }) => [_id, score]))
          for (const { _id, score } of hits)
            assert.ok(isNear(score, byId.get(_id)!, kind === 'log' ? 0.01 : 1e-5), `${_id} ${score} ${byId.get(_id)}`)
          const ordered = hits.toSorted(
            (a, b) => asFloat(b.score) - asFloat(a.score) || places.get(b._id)! - places.get(a._id)!,
          )
          assert.deepEqual(
            hits.map(({ score }) => asFloat(score)),
            ordered.map(({ score }) => asFloat(score)),
          )
          assert.equal(hits.length, Math.min(30, due.length))
        }),
        { numRuns: CASES, seed: 1 },
      )
    })

  it('a greater minimum leaves out what scores less, in hits and in the total', () => {
    const query = { bool: { should: [{ term: { event: 'transfer' } }, { match_all: {} }] } }
    const all = answer('event', { query, size: 10_000 })
    const [most] = all.hits
    const best = all.hits.filter(({ score }) => score === most!.score)
    assert.ok(best.length > 0 && best.length < all.hits.length)
    const { total, hits } = answer('event', { query, min_score: 1.0001, size: 10_000 })
    assert.equal(total, best.length)
    assert.deepEqual(hits, best)
    assert.equal(answer('event', { query: { match_all: {} }, min_score: 1 }).total, all.total)
    assert.equal(answer('event', { query: { match_all: {} }, min_score: 1.1 }).total, 0)
  })
})

/** A topic that a log has twice counts twice in how many logs have on the average. */
const isNear = (a: number, b: number, apart: number) => Math.abs(a - b) <= apart * Math.max(Math.abs(a), Math.abs(b))
