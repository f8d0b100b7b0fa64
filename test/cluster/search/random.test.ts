import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { KINDS } from '../../../src/mapping/index.ts'
import { CONTENTS } from '../../answers/stores.ts'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { arbitrarySort } from '../../support/sorts.ts'
import { assertPromised } from '../promised.ts'
import { ask, type Both, REFUSED, setUp } from './support.ts'

/** Cases of each kind; `CASES=500 npm test -- cluster/search/random` looks further. */
const CASES = Number(process.env.CASES ?? 6)
const SEED = Number(process.env.SEED ?? 1)

describe('random requests are answered as by a store, or refused', { skip: withoutCluster }, () => {
  let both: Both
  before(async () => {
    both = await setUp(await CONTENTS.odd!['small runs']!())
  })
  after(() => both?.close())

  for (const kind of KINDS)
    it(kind, async () => {
      const documents = both.filled.store.all(kind).slice(0, 100)
      const query = arbitraryQuery(kind, documents, { depth: 2 })
      const body = fc.record(
        {
          query,
          sort: arbitrarySort([kind]),
          size: fc.constantFrom(0, 1, 5, 20, -1),
          from: fc.constantFrom(0, 0, 3),
          track_total_hits: fc.constantFrom(true, false, 4),
          track_scores: fc.boolean(),
          post_filter: query,
          fields: fc.constantFrom(['*'], ['timestamp', '_id']),
          _source: fc.constantFrom(false, ['*Number', 'a*'], { excludes: ['t*'] }),
          version: fc.boolean(),
          highlight: fc.constant({ fields: { '*': {} } }),
        },
        { requiredKeys: ['query', 'size'] },
      )
      let answered = 0
      await fc.assert(
        fc.asyncProperty(body, async asked => {
          const text = stringifyLossless(asked.size < 0 ? { ...asked, from: 0 } : asked)
          const [answer, expected] = [await ask(both.cluster, kind, text), await ask(both.store, kind, text)]
          if (answer.includes(REFUSED)) return
          assertPromised(answer, expected, text)
          answered++
        }),
        { numRuns: CASES, seed: SEED, endOnFailure: true },
      )
      assert.ok(answered > 0)
    })
})
