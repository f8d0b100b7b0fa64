import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createNoteAltered, readAltered } from '../../../src/engine/alterations.ts'
import type { Hit } from '../../../src/engine/query/hits.ts'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { KINDS, type Kind, queryPaths } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { indexedValuesOf, type TestedDocument } from '../../../src/query/predicate.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { makeChain } from '../../support/pack.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { search } from '../../support/search.ts'
import { createTestStore, type TestStore } from '../../support/store.ts'

// Which hits come, and in which order: the store's search against one that looks at every document.

const CASES = Number(process.env.CASES ?? 250)
const SEED = Number(process.env.SEED ?? 4)
const NOW = Date.UTC(2025, 0, 1, 1)
const options = { deadline: Number.POSITIVE_INFINITY }

describe('a search', () => {
  let store: TestStore
  let searcher: Searcher
  const documents = {} as Record<Kind, TestedDocument[]>
  let samples: Record<Kind, TestedDocument[]>

  before(() => {
    const blocks = oddBlocks(30)
    // Chains of fast blocks have several of one second.
    for (const [i, { block }] of blocks.entries()) block.timestamp = `0x${(1_700_000_000 + 7 * (i >> 1)).toString(16)}`
    store = createTestStore([...blocks.slice(0, 14), ...blocks.slice(16)], { events: oddEvents, run: [1, 3, 2] })
    searcher = createSearcher(store.reader)
    for (const kind of KINDS) documents[kind] = store.all(kind)
    samples = Object.fromEntries(KINDS.map(kind => [kind, documents[kind].slice(0, 40)])) as Record<
      Kind,
      TestedDocument[]
    >
  })
  after(() => store.close())

  const NUMBERS: Partial<Record<Kind, string>> = { block: 'number.num', token: 'firstSeen.num' }
  const sortable = (kind: Kind) =>
    [...queryPaths(kind).values()].filter(({ es, list }) => es !== 'text' && !list?.nested).map(({ path }) => path)

  const sort = (kind: Kind) => {
    const key = fc.record({
      path: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...sortable(kind)) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('timestamp', NUMBERS[kind] ?? 'blockNumber.num', '_score'),
        },
      ),
      order: fc.constantFrom('asc', 'desc'),
      missing: fc.constantFrom('_first', '_last', undefined),
    })
    const doc = fc.constantFrom('asc', 'desc').map(order => ({ _doc: order }))
    const keys = fc.array(key, { maxLength: 3 }).map(keys =>
      keys.map(({ path, order, missing }) => ({
        [path]: path === '_score' || !missing ? order : { order, missing },
      })),
    )
    // Ends with the order of the chain, so that there is one right answer.
    return fc.tuple(keys, doc).map(([keys, doc]) => [...keys, doc])
  }

  for (const kind of KINDS) {
    it(`gives the hits of ${kind} that are asked for, in their order`, () => {
      const window = fc.record({ from: fc.nat(30), size: fc.nat(25) })
      fc.assert(
        fc.property(
          fc.oneof(fc.constant({ match_all: {} }), arbitraryQuery(kind, samples[kind])),
          sort(kind),
          window,
          (query, sort, window) => {
            const request = parseSearch(stringifyLossless({ query, sort, ...window }), [kind], NOW)
            const due = search(request, documents)
            const { total, hits } = searcher.search(request, options)
            assert.equal(total, due.total)
            assert.deepEqual(
              idsOf(hits),
              due.hits.map(({ document }) => document._id),
            )
          },
        ),
        { numRuns: CASES, seed: SEED },
      )
    })

    it(`streams all hits of ${kind}, in their order`, () => {
      fc.assert(
        fc.property(arbitraryQuery(kind, samples[kind]), sort(kind), (query, sort) => {
          const request = parseSearch(stringifyLossless({ query, sort, size: -1 }), [kind], NOW)
          const due = search(request, documents)
          const { total, pages } = searcher.pages(request, options)
          assert.equal(total, due.total)
          assert.deepEqual(
            idsOf([...pages].flat()),
            due.hits.map(({ document }) => document._id),
          )
        }),
        { numRuns: CASES / 5, seed: SEED },
      )
    })
  }

  it('without an order begins with the newest', () => {
    for (const kind of KINDS) {
      const { hits, total } = searcher.search(parseSearch('{"size": 30}', [kind], NOW), options)
      assert.equal(total, documents[kind].length)
      assert.deepEqual(
        idsOf(hits),
        documents[kind]
          .toReversed()
          .slice(0, 30)
          .map(({ _id }) => _id),
      )
    }
  })

  it('by a field that some of its kinds lack has all of these first or last, and one that all lack orders nothing', () => {
    const cases: [Kind[], object[]][] = [
      [['token', 'event'], [{ 'firstSeen.num': 'desc' }]],
      [['token', 'event'], [{ 'blockNumber.num': { order: 'desc', missing: '_first' } }]],
      [['block', 'tx'], [{ 'number.num': 'desc' }]],
      [
        ['contract', 'tx'],
        [{ codeSize: 'asc' }, { 'blockNumber.num': 'asc' }],
      ],
      [['tx'], [{ nothing: { order: 'asc', unmapped_type: 'long' } }, { 'value.num': 'desc' }]],
    ]
    for (const [kinds, sort] of cases) {
      const by = Object.keys(sort.at(-1)!)[0]!
      const keysOf = (hits: readonly Pick<Hit, 'kind' | 'document'>[]) =>
        hits.map(({ kind, document }) => {
          const field = queryPaths(kind).get(by)
          return field === undefined ? null : String(indexedValuesOf(field, document._source)[0] ?? null)
        })
      const request = (size: number) =>
        parseSearch(JSON.stringify({ sort: [...sort, { _doc: 'asc' }], size }), kinds, NOW)
      const due = keysOf(search(request(-1), documents).hits)
      assert.deepEqual(keysOf(searcher.search(request(20), options).hits), due.slice(0, 20), `${kinds} by ${by}`)
      assert.deepEqual(keysOf([...searcher.pages(request(-1), options).pages].flat()), due, `all ${kinds} by ${by}`)
    }
  })

  it('over several kinds has one order and one total', () => {
    for (const order of ['asc', 'desc'] as const) {
      const body = JSON.stringify({
        sort: [{ timestamp: order }],
        size: 400,
        query: { range: { timestamp: { lt: 1700000040 } } },
      })
      const request = parseSearch(body, ['tx', 'log', 'event'], NOW)
      const { hits, total } = searcher.search(request, options)
      const due = search(request, documents)
      assert.equal(total, due.total)
      assert.equal(hits.length, Math.min(400, total))
      const times = hits.map(({ sort }) => sort![0] as number)
      assert.deepEqual(
        times,
        times.toSorted((a, b) => (order === 'asc' ? a - b : b - a)),
      )
      assert.deepEqual(new Set(hits.map(({ kind }) => kind)), new Set(['tx', 'log', 'event']))
      const page = searcher.search({ ...request, from: 37, size: 50 }, options)
      assert.deepEqual(idsOf(page.hits), idsOf(hits).slice(37, 87))
    }
  })

  it('finds each document by its id, and none by what is no id of its kind', () => {
    for (const kind of KINDS) {
      for (const { _id } of documents[kind]) assert.equal(searcher.get(kind, _id)?._id, _id)
      const [{ _id }] = documents[kind] as [TestedDocument]
      const wrong = [
        `${_id}0`,
        `${_id}_`,
        _id.slice(1),
        `0x${'0'.repeat(64)}`,
        '',
        _id.replace('_l_', '_e_0'),
        `${_id}_l_0`,
      ]
      for (const id of wrong) if (id !== _id) assert.equal(searcher.get(kind, id), undefined, `${kind} ${id}`)
      for (const other of KINDS)
        if (other !== kind) assert.equal(searcher.get(other, _id), undefined, `${kind} as ${other}`)
    }
    const undecoded = documents.log.find(({ _source }) => (_source.topics as string[]).length === 0)!
    assert.equal(searcher.get('event', undecoded._id.replace('_l_', '_e_')), undefined)
  })
})

describe('a stream of hits', () => {
  const blocks = makeChain({ blocks: 96, txs: 8, logs: 6 })
  const orders = [
    [{ _doc: 'asc' }],
    [{ timestamp: 'asc' }, { 'logIndex.num': 'desc' }],
    [{ 'blockNumber.num': 'desc' }, { 'logIndex.num': 'asc' }],
    undefined,
  ]

  for (const sort of orders)
    it(`goes on while blocks come and go: ${JSON.stringify(sort ?? 'newest first')}`, () => {
      const branch = makeChain({ blocks: 8, parent: blocks[79]!, salt: 'branch', txs: 8, logs: 6 })
      const store = createTestStore(blocks.slice(0, 64), { run: 1 })
      try {
        const request = parseSearch(JSON.stringify({ size: -1, ...(sort ? { sort } : {}) }), ['log'], NOW)
        const due = (documents: readonly TestedDocument[]) =>
          sort ? search(request, { log: [...documents] }).hits.map(({ document }) => document) : documents.toReversed()
        const old = store.all('log')
        const { total, pages } = createSearcher(store.reader).pages(request, options)
        assert.equal(total, old.length)
        const hits: Hit[] = []
        let page = 0
        for (const some of pages) {
          hits.push(...some)
          page++
          // Segments are merged on the way; then what was above block 79 is replaced.
          if (page === 1) store.add(blocks.slice(64))
          if (page === 2) {
            store.rollback(79)
            store.add(branch)
          }
        }
        assert.ok(page > 3)
        // What came since is left out.
        assert.deepEqual(
          idsOf(hits),
          due(old).map(({ _id }) => _id),
        )
      } finally {
        store.close()
      }
    })
})

describe('a stream of hits ends with an error where what is still to be read', () => {
  const blocks = makeChain({ blocks: 192, txs: 4, logs: 6 })
  const whole = blocks.length * 4 * 6
  /** Hits until the end or the error, while something happens behind the second page. */
  const streamed = (sort: string, happens: (store: TestStore) => void, kinds: readonly Kind[] = ['log']) => {
    const store = createTestStore(blocks, { run: 1 })
    try {
      const request = parseSearch(JSON.stringify({ size: -1, sort: { 'blockNumber.num': sort } }), kinds, NOW)
      const { pages } = createSearcher(store.reader).pages(request, options)
      let hits = 0
      let page = 0
      try {
        for (const some of pages) {
          hits += some.length
          if (++page === 2) happens(store)
        }
      } catch (error) {
        return (error as Error).message
      }
      return hits
    } finally {
      store.close()
    }
  }
  const rollback = (store: TestStore) => store.rollback(181)
  const prune = ({ writer }: TestStore) => {
    while (writer.prune({ below: 128 }));
  }

  it('is reorganised away', () => {
    assert.match(
      `${streamed('asc', rollback)}`,
      /^the chain was reorganised from block 182 on while the answer was read/,
    )
    assert.equal(streamed('desc', rollback), whole)
    // A block that came and went meanwhile is none of it.
    const branch = (store: TestStore) => {
      store.add(makeChain({ blocks: 2, parent: blocks.at(-1)!, salt: 'more' }))
      store.rollback(191)
    }
    assert.equal(streamed('asc', branch), whole)
  })

  it('is pruned', () => {
    assert.match(`${streamed('desc', prune)}`, /^documents were pruned in blocks \d+ to \d+ while the answer was read/)
  })

  it('is decoded anew, of the kinds that are asked for', () => {
    const note =
      (...kinds: Kind[]) =>
      ({ db }: TestStore) =>
        createNoteAltered(db)('decoded', { from: 170, to: 175 }, kinds)
    assert.match(`${streamed('asc', note('log', 'event'))}`, /^documents were decoded anew in blocks 170 to 175 while/)
    assert.equal(streamed('asc', note('call', 'tx')), whole)
    assert.equal(streamed('desc', note('log')), whole)
    const often = ({ db }: TestStore) => {
      const noted = createNoteAltered(db)
      for (let i = 0; i < 300; i++) noted('decoded', { from: i % 5, to: i % 5 }, ['log'])
      assert.equal(readAltered(db).alterations.length, 100)
    }
    assert.equal(streamed('asc', often), whole)
    assert.match(`${streamed('desc', often)}`, /^documents were decoded anew in blocks 0 to 4 while/)
  })
})

const idsOf = (hits: readonly Hit[]) => hits.map(({ document }) => document._id)
