import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { type Chain, chainOf, checkFound, mixedStore } from '../../support/chain.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'

// The two back ends of the query tree: what the store's indexes and columns say must be what the documents themselves say.

/** Cases of each kind; `CASES=20000 npm test -- search/property` looks further. */
const CASES = Number(process.env.CASES ?? 700)
const SEED = Number(process.env.SEED ?? 1)
const NOW = Date.UTC(2025, 0, 1, 1)

const check = (chain: Chain, kind: Kind, cases: number) => {
  const { [kind]: documents } = chain.documents
  const step = Math.ceil(documents.length / 80)
  const sample = documents.filter((_, i) => i % step === 0)
  let telling = 0
  fc.assert(
    fc.property(arbitraryQuery(kind, sample), query => {
      const [part] = parseSearch(stringifyLossless({ query }), [kind], NOW).parts
      const { count } = checkFound(chain, kind, part!.query)
      if (count > 0 && count < documents.length) telling++
    }),
    { numRuns: cases, seed: SEED },
  )
  assert.ok(telling > cases / 10, `only ${telling} of ${cases} cases tell documents apart`)
}

describe('a query over many small segments finds what its predicate holds for', () => {
  let chain: Chain
  before(() => {
    chain = chainOf(mixedStore({ run: [1, 1, 2, 1, 3, 1, 1, 5] }, { demo: 70, odd: 30, hole: 12 }))
    const segments = chain.store.read(() => chain.store.reader.segments().map(({ first, last }) => last - first + 1))
    assert.ok(segments.length > 15 && Math.max(...segments) > 5, `${segments}`)
  })
  after(() => chain.store.close())
  for (const kind of KINDS) it(kind, () => check(chain, kind, CASES))
})

describe('a query over logs that the dictionary of signatures has no room for finds them too', () => {
  let chain: Chain
  before(() => {
    chain = chainOf(mixedStore({ run: 20, listedSignatures: 3 }, { demo: 40, odd: 30, hole: 5 }))
  })
  after(() => chain.store.close())
  for (const kind of ['log', 'event'] as const) it(kind, () => check(chain, kind, CASES / 4))
})
