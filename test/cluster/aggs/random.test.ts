import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { KINDS } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { arbitraryQuestions, requestOf } from '../../engine/aggs/naive.ts'
import { type FilledCluster, fillCluster, withoutCluster } from '../../support/cluster-fill.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { createTestStore, demoBlocks, demoEvents, excerptOf, generatedBlocks } from '../../support/store.ts'
import { askBoth, FEW, INDEX } from './support.ts'

/** Cases of each kind; `CASES=500 npm test -- cluster/aggs/random` looks further. */
const CASES = Number(process.env.CASES ?? 8)
const SEED = Number(process.env.SEED ?? 1)
const NOW = Date.UTC(2025, 0, 1, 1)

describe('random aggregations of a cluster are those of the store', { skip: withoutCluster }, () => {
  let filled: FilledCluster
  before(async () => {
    const store = createTestStore([], { run: [1, 1, 2, 1, 3, 1, 1, 5], events: [...oddEvents, ...demoEvents()] })
    store.add(demoBlocks().slice(0, 40))
    store.add(oddBlocks(12, 1000))
    store.add(generatedBlocks(4).map((raw, i) => excerptOf(raw, index => index % 13 === i)))
    filled = await fillCluster(store, { prefix: 'aggs', naming: { shards: 2 } })
  })
  after(() => filled?.close())
  for (const kind of KINDS)
    it(kind, async () => {
      const queries = fc.oneof(
        fc.constant({ match_all: {} }),
        arbitraryQuery(kind, filled.store.all(kind).slice(0, 60)),
      )
      const isFew = fc.boolean()
      await fc.assert(
        fc.asyncProperty(arbitraryQuestions(kind), queries, isFew, async (questions, query, isFew) => {
          const text = stringifyLossless({ size: 0, query, aggs: requestOf(questions) })
          const request = parseSearch(text, [kind], NOW, { index: INDEX })
          const { cluster, store, refused } = await askBoth(filled, request, isFew ? FEW : undefined)
          if (refused === undefined) assert.equal(cluster, store)
        }),
        { numRuns: CASES, seed: SEED, endOnFailure: true },
      )
    })
})
