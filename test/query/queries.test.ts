import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KINDS } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { arbitraryQuery } from '../support/queries.ts'
import { loadDocuments, stringifyLossless } from '../support/scenarios.ts'
import { search } from '../support/search.ts'

const documents = loadDocuments()
const NOW = Date.UTC(2024, 5, 1)

for (const kind of KINDS.filter(kind => documents[kind].length > 0)) {
  test(`random queries on ${kind} are read, and many of them tell documents apart`, () => {
    let telling = 0
    const queries = arbitraryQuery(kind, documents[kind], { everyChain: true })
    fc.assert(
      fc.property(queries, query => {
        const find = (body: unknown) => {
          const request = parseSearch(stringifyLossless(body), [kind], NOW)
          return search(request, documents)
        }
        const all = documents[kind].length
        const { total } = find({ query })
        const { total: others } = find({ query: { bool: { must_not: query } } })
        assert.equal(total + others, all)
        if (total > 0 && others > 0) telling++
      }),
      { numRuns: 300, seed: 1 },
    )
    assert.ok(telling > 60, `only ${telling} of 300`)
  })
}

test('random queries on no documents are read too', () => {
  for (const kind of KINDS) {
    fc.assert(
      fc.property(arbitraryQuery(kind, []), query => {
        parseSearch(stringifyLossless({ query }), [kind], NOW)
      }),
      { numRuns: 50 },
    )
  }
})
