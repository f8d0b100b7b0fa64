import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { createByteWriter } from '../../../src/lib/bytes.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import type { Explanation } from '../../../src/query/score.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../../support/store.ts'

const CASES = Number(process.env.CASES ?? 80)

interface Hit {
  _id: string
  _score: number
  _explanation: Explanation
}

describe('explanations', () => {
  let store: TestStore
  let searcher: Searcher
  before(() => {
    store = createTestStore(demoBlocks().slice(0, 60), { run: [3, 5, 1, 20], events: demoEvents() })
    searcher = createSearcher(store.reader)
  })
  after(() => store.close())

  const ask = (kind: Kind, query: object, size = 20): Hit[] => {
    const out = createByteWriter(1024)
    const request = parseSearch(stringifyLossless({ query, size, explain: true, _source: false }), [kind], 0)
    searcher.write(request, { deadline: Number.POSITIVE_INFINITY }, { index: 'x', out })
    return JSON.parse(`[${out.view().toString()}]`)
  }

  for (const kind of KINDS)
    it(`of ${kind} have the value of the score, which follows from their parts`, () => {
      const documents = store.all(kind)
      const step = Math.ceil(documents.length / 60)
      const sample = documents.filter((_, i) => i % step === 0)
      fc.assert(
        fc.property(arbitraryQuery(kind, sample), query => {
          for (const { _score, _explanation } of ask(kind, query)) {
            assert.equal(_explanation.value, _score)
            checkParts(_explanation)
          }
        }),
        { numRuns: CASES, seed: 2 },
      )
    })

  it('name the clauses that match, each with what it adds', () => {
    const should = [{ match: { event: 'transfer' } }, { term: { 'event.raw': { value: 'Transfer', boost: 2 } } }]
    const [{ _score, _explanation }] = ask(
      'event',
      { bool: { should: [...should, { match_phrase: { event: 'nothing' } }] } },
      1,
    ) as [Hit]
    const { value, description, details } = _explanation
    assert.deepEqual([value, description], [_score, 'the sum of what matches'])
    assert.deepEqual(
      details.map(({ description }) => description),
      ['event: transfer', 'event.raw: Transfer'],
    )
  })
})

/** Sums are those of their details, and nothing counts more than the best. */
const checkParts = ({ value, description, details }: Explanation): void => {
  const values = details.map(detail => detail.value)
  const sum = values.reduce((a, b) => a + b, 0)
  const tolerance = 1e-5 * Math.max(1, value)
  if (description === 'the sum of what matches') assert.ok(Math.abs(sum - value) <= tolerance, `${value} ${sum}`)
  if (description === 'the best of what matches') assert.ok(Math.max(0, ...values) <= value + tolerance)
  for (const detail of details) checkParts(detail)
}
