import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { compile, type Document } from '../../src/query/predicate.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { arbitraryQuery } from '../support/queries.ts'
import { stringifyLossless } from '../support/scenarios.ts'
import {
  createTestStore,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
  type TestStore,
} from '../support/store.ts'

// The two back ends of the query tree: what the store's indexes and columns say must be what the documents themselves say.

/** Cases of each kind; `CASES=20000 npm test -- search/property` looks further. */
const CASES = Number(process.env.CASES ?? 700)
const SEED = Number(process.env.SEED ?? 1)
const NOW = Date.UTC(2025, 0, 1, 1)

describe('a query over many small segments finds what its predicate holds for', () => {
  let store: TestStore
  const documents = {} as Record<Kind, Document[]>
  const samples = {} as Record<Kind, Document[]>
  const positions = {} as Record<Kind, number[]>

  before(() => {
    store = createTestStore([], { run: [1, 1, 2, 1, 3, 1, 1, 5], events: [...oddEvents, ...demoEvents()] })
    store.add(demoBlocks().slice(0, 70))
    store.add(oddBlocks(30, 1000).slice(0, 12))
    store.add(oddBlocks(30, 1000).slice(12))
    store.add(generatedBlocks(8).map((raw, i) => excerptOf(raw, index => index % 13 === i)))
    for (const kind of KINDS) {
      documents[kind] = store.all(kind)
      positions[kind] = store.positions(kind)
      const step = Math.ceil(documents[kind].length / 80)
      samples[kind] = documents[kind].filter((_, i) => i % step === 0)
    }
    assert.ok(store.read(() => store.reader.segments().length) > 15)
  })
  after(() => store.close())

  for (const kind of KINDS)
    it(kind, () => {
      let telling = 0
      fc.assert(
        fc.property(arbitraryQuery(kind, samples[kind]), query => {
          const [part] = parseSearch(stringifyLossless({ query }), [kind], NOW).parts
          const holds = compile(kind, part!.query)
          const expected = positions[kind].filter((_, i) => holds(documents[kind][i]!))
          const found = store.evaluate(kind, part!.query)
          assert.deepStrictEqual(found.positions, expected)
          assert.equal(found.counted, expected.length, 'count')
          if (expected.length > 0 && expected.length < positions[kind].length) telling++
        }),
        { numRuns: CASES, seed: SEED },
      )
      assert.ok(telling > CASES / 10, `only ${telling} of ${CASES} cases tell documents apart`)
    })
})
