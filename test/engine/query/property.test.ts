import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compile, type Document } from '../../../src/query/predicate.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import {
  createTestStore,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
  type TestStore,
} from '../../support/store.ts'

// The two back ends of the query tree: what the store's indexes and columns say must be what the documents themselves say.

/** Cases of each kind; `CASES=20000 npm test -- search/property` looks further. */
const CASES = Number(process.env.CASES ?? 700)
const SEED = Number(process.env.SEED ?? 1)
const NOW = Date.UTC(2025, 0, 1, 1)

interface Chain {
  store: TestStore
  documents: Record<Kind, Document[]>
  positions: Record<Kind, number[]>
}

const events = [...oddEvents, ...demoEvents()]

const fill = (store: TestStore, demo: number, odd: number): Chain => {
  store.add(demoBlocks().slice(0, demo))
  store.add(oddBlocks(30, 1000).slice(0, odd))
  // A hole is left here.
  store.add(oddBlocks(30, 1000).slice(odd + 1))
  store.add(generatedBlocks(8).map((raw, i) => excerptOf(raw, index => index % 13 === i)))
  const each = <T>(read: (kind: Kind) => T) =>
    Object.fromEntries(KINDS.map(kind => [kind, read(kind)])) as Record<Kind, T>
  return { store, documents: each(store.all), positions: each(store.positions) }
}

const check = ({ store, documents, positions }: Chain, kind: Kind, cases: number) => {
  const step = Math.ceil(documents[kind].length / 80)
  const sample = documents[kind].filter((_, i) => i % step === 0)
  let telling = 0
  fc.assert(
    fc.property(arbitraryQuery(kind, sample), query => {
      const [part] = parseSearch(stringifyLossless({ query }), [kind], NOW).parts
      const holds = compile(kind, part!.query)
      const expected = positions[kind].filter((_, i) => holds(documents[kind][i]!))
      const found = store.evaluate(kind, part!.query)
      assert.deepStrictEqual(found.positions, expected)
      assert.equal(found.counted, expected.length, 'count')
      if (expected.length > 0 && expected.length < positions[kind].length) telling++
    }),
    { numRuns: cases, seed: SEED },
  )
  assert.ok(telling > cases / 10, `only ${telling} of ${cases} cases tell documents apart`)
}

describe('a query over many small segments finds what its predicate holds for', () => {
  let chain: Chain
  before(() => {
    chain = fill(createTestStore([], { run: [1, 1, 2, 1, 3, 1, 1, 5], events }), 70, 12)
    const segments = chain.store.read(() => chain.store.reader.segments().map(({ first, last }) => last - first + 1))
    assert.ok(segments.length > 15 && Math.max(...segments) > 5, `${segments}`)
  })
  after(() => chain.store.close())
  for (const kind of KINDS) it(kind, () => check(chain, kind, CASES))
})

describe('a query over logs that the dictionary of signatures has no room for finds them too', () => {
  let chain: Chain
  before(() => {
    chain = fill(createTestStore([], { run: 20, events, listedSignatures: 3 }), 40, 5)
  })
  after(() => chain.store.close())
  for (const kind of ['log', 'event'] as const) it(kind, () => check(chain, kind, CASES / 4))
})
