import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { createByteWriter } from '../../../src/lib/bytes.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compilePredicate, type TestedDocument } from '../../../src/query/predicate.ts'
import { chainOf, mixedStore } from '../../support/chain.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import type { TestStore } from '../../support/store.ts'
import { answerOf, arbitraryQuestions, plain, requestOf, sourcesOf } from './naive.ts'

// What columns, index and caches give must be what the documents themselves say.

/** Cases of each kind; `CASES=5000 npm test -- aggs/property` looks further. */
const CASES = Number(process.env.CASES ?? 120)
const SEED = Number(process.env.SEED ?? 1)
const NOW = Date.UTC(2025, 0, 1, 1)

describe('random aggregations over many small segments are those of a plain model', () => {
  let store: TestStore
  let searcher: Searcher
  let documents: Record<Kind, TestedDocument[]>
  before(() => {
    store = mixedStore({ run: [1, 1, 2, 1, 3, 1, 1, 5] }, { demo: 40, odd: 12, parts: 4 })
    documents = chainOf(store).documents
    searcher = createSearcher(store.reader)
  })
  after(() => store.close())
  for (const kind of KINDS)
    it(kind, () => {
      const all = documents[kind]
      const queries = fc.oneof(fc.constant({ match_all: {} }), arbitraryQuery(kind, all.slice(0, 60)))
      fc.assert(
        fc.property(arbitraryQuestions(kind), queries, (questions, query) => {
          const text = stringifyLossless({ size: 0, query, aggs: requestOf(questions) })
          const request = parseSearch(text, [kind], NOW)
          const holds = compilePredicate(kind, request.parts[0]!.query)
          const expected = answerOf(questions, kind, sourcesOf(all.filter(holds)))
          // Another text for the same: what was found in segments is kept, but not the answer.
          const another = request.aggregated && { ...request.aggregated, whole: `${request.aggregated.whole} ` }
          for (const aggregated of [request.aggregated, another, another]) {
            const out = createByteWriter(1 << 10)
            const { aggregations } = searcher.write(
              { ...request, aggregated },
              { deadline: Number.POSITIVE_INFINITY },
              { index: 'x', out },
            )
            assert.deepStrictEqual(
              plain(JSON.parse(aggregations!.replace(/([:[,])(-?\d{16,})(?=[,\]}])/g, '$1"$2"'))),
              plain(expected),
            )
          }
        }),
        { numRuns: CASES, seed: SEED },
      )
    })
})
