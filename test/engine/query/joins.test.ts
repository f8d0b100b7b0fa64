import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Document } from '../../../src/documents/document.ts'
import { childKindsOf, KINDS, type Kind, parentKindsOf } from '../../../src/mapping/index.ts'
import type { Node } from '../../../src/query/ast.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compilePredicate, type Relatives } from '../../../src/query/predicate.ts'
import { type Chain, chainOf, checkFound, mixedStore } from '../../support/chain.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { relativesOf } from '../../support/search.ts'
import { createTestStore, demoEvents } from '../../support/store.ts'

/** Cases of each kind and store; `CASES=20000 npm test -- search/joins` looks further. */
const CASES = Number(process.env.CASES ?? 300)
const SEED = Number(process.env.SEED ?? 1)
const NOW = Date.UTC(2025, 0, 1, 1)

interface Related extends Chain {
  relatives: Relatives
}

/** With steps, rewards among them, and a hole. */
const open = (run: number | readonly number[]): Related => {
  const chain = chainOf(mixedStore({ run }, { demo: 60, odd: 30, hole: 12 }))
  return { ...chain, relatives: relativesOf(chain.documents, one => one._parent) }
}

type Clause = Record<string, unknown>

/** Clauses on relatives, up to three steps away, with random queries at the end and beside them. */
const arbitraryJoin = (kind: Kind, samples: Record<Kind, Document[]>, depth = 3): fc.Arbitrary<Clause> => {
  const inner = (other: Kind): fc.Arbitrary<Clause> => {
    const plain = arbitraryQuery(other, samples[other], { depth: 1 })
    return depth === 0 ? plain : fc.oneof(plain, arbitraryJoin(other, samples, depth - 1))
  }
  const child = (type: Kind) =>
    fc
      .record(
        {
          type: fc.constant(type),
          query: inner(type),
          min_children: fc.integer({ min: 0, max: 3 }),
          max_children: fc.integer({ min: 3, max: 5 }),
        },
        { requiredKeys: ['type', 'query'] },
      )
      .map(has_child => ({ has_child }))
  const parent = (parent_type: Kind) =>
    inner(parent_type).map(query => ({ has_parent: { parent_type, query, score: false } }))
  const parentIds = samples[kind].flatMap(({ _parent }) => _parent ?? [])
  const joins = [
    ...childKindsOf(kind).map(child),
    ...parentKindsOf(kind).map(parent),
    ...(parentIds.length > 0
      ? [fc.constantFrom(...parentIds).map(id => ({ parent_id: { type: kind, id } }) as Clause)]
      : []),
  ]
  const join: fc.Arbitrary<Clause> = fc.oneof(...joins)
  const known = fc
    .array(fc.constantFrom(...samples[kind].map(({ _id }) => _id)), { minLength: 1, maxLength: 3 })
    .map((values): Clause => ({ ids: { values } }))
  const beside = arbitraryQuery(kind, samples[kind], { depth: 0 })
  return fc.oneof(
    { weight: 3, arbitrary: join },
    { weight: 1, arbitrary: fc.tuple(beside, join).map(filter => ({ bool: { filter } })) },
    // Few candidates are followed one by one.
    { weight: 2, arbitrary: fc.tuple(known, join).map(filter => ({ bool: { filter } })) },
    { weight: 1, arbitrary: fc.tuple(beside, join).map(should => ({ bool: { should } })) },
    { weight: 1, arbitrary: join.map(must_not => ({ bool: { must_not } })) },
    {
      weight: 1,
      arbitrary: fc.tuple(join, join, beside).map(should => ({ bool: { should, minimum_should_match: 2 } })),
    },
  )
}

const check = (chain: Related, kind: Kind) => {
  const { documents, relatives } = chain
  const samples = Object.fromEntries(
    KINDS.map(kind => {
      const step = Math.ceil(documents[kind].length / 60)
      return [kind, documents[kind].filter((_, i) => i % step === 0)]
    }),
  ) as Record<Kind, Document[]>
  let telling = 0
  fc.assert(
    fc.property(arbitraryJoin(kind, samples), query => {
      const [part] = parseSearch(stringifyLossless({ query }), [kind], NOW).parts
      const { count } = checkFound(chain, kind, part!.query, { holds: compilePredicate(kind, part!.query, relatives) })
      if (count > 0 && count < documents[kind].length) telling++
    }),
    { numRuns: CASES, seed: SEED },
  )
  assert.ok(telling > CASES / 10, `only ${telling} of ${CASES} cases tell documents apart`)
}

for (const [name, run] of [
  ['many small segments', [1, 1, 2, 1, 3, 1, 1, 5]],
  ['few segments', 100],
] as const)
  describe(`what documents of ${name} are found by their parents and children`, () => {
    let chain: Related
    before(() => {
      chain = open(run)
    })
    after(() => chain.store.close())
    for (const kind of KINDS)
      if (parentKindsOf(kind).length + childKindsOf(kind).length > 0) it(kind, () => check(chain, kind))
  })

describe('relatives', () => {
  let chain: Related
  before(() => {
    chain = open(4)
  })
  after(() => chain.store.close())

  const find = (kind: Kind, query: unknown): number =>
    chain.store.evaluate(kind, parseSearch(JSON.stringify({ query }), [kind], NOW).parts[0]!.query).positions.length
  const all = { match_all: {} }

  it('every document has the parent that it names, but for blocks', () => {
    const { documents } = chain
    for (const kind of KINDS)
      for (const parent of parentKindsOf(kind))
        assert.equal(
          find(kind, { has_parent: { parent_type: parent, query: all } }),
          documents[kind].filter(({ _parent }) => documents[parent].some(({ _id }) => _id === _parent)).length,
          `${kind} in ${parent}`,
        )
    assert.ok(find('trace', { has_parent: { parent_type: 'block', query: all } }) > 5, 'rewards')
  })

  it('are the same when nothing of their segments was read before', () => {
    const { documents, store } = chain
    // Few of them, by which rows are looked up one by one; the whole segment is read by whoever asks for all.
    const same = (kind: Kind, query: unknown, whole: unknown) => {
      const [node, all] = [query, whole].map(
        query => parseSearch(JSON.stringify({ query }), [kind], NOW).parts[0]!.query,
      ) as [Node, Node]
      const cold = createTestStore([], { path: store.path, events: [...oddEvents, ...demoEvents()] })
      try {
        const holds = compilePredicate(kind, node, chain.relatives)
        const expected = chain.positions[kind].filter((_, i) => holds(documents[kind][i]!))
        assert.ok(expected.length > 0)
        assert.deepEqual(cold.evaluate(kind, node).positions, expected)
        cold.evaluate(kind, all)
        assert.deepEqual(cold.evaluate(kind, node).positions, expected)
      } finally {
        cold.close()
      }
    }
    for (const type of ['log', 'event', 'trace'] as const)
      for (const [i, { _id, _parent }] of documents[type].entries()) {
        if (i % Math.ceil(documents[type].length / 25) !== 0 || !documents.tx.some(({ _id }) => _id === _parent))
          continue
        same('tx', { has_child: { type, query: { ids: { values: [_id] } } } }, { has_child: { type, query: all } })
        same(type, { parent_id: { type, id: _parent } }, { has_parent: { parent_type: 'tx', query: all } })
      }
  })

  it('goes over a change of the store', () => {
    const store = createTestStore(oddBlocks(20, 1000), { run: 3, events: oddEvents })
    try {
      const many = { has_child: { type: 'log', query: all, min_children: 1 } }
      const read = () =>
        store.evaluate('tx', parseSearch(JSON.stringify({ query: many }), ['tx'], NOW).parts[0]!.query).positions
      const whole = read()
      const left = whole.filter(position => position < 1011 * 2 ** 22)
      store.rollback(1010)
      assert.deepEqual(read(), left)
      store.add(oddBlocks(20, 1000).slice(11))
      assert.deepEqual(read(), whole)
    } finally {
      store.close()
    }
  })
})
