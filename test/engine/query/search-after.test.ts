import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { openSearchIndex } from '../../../scripts/scenario-mapping.ts'
import type { Hit } from '../../../src/engine/query/hits.ts'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { missingValue } from '../../../src/engine/query/sort/sort-values.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { type ParseOptions, parseSearch } from '../../../src/query/parse.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { parseLossless, stringifyLossless } from '../../support/scenarios.ts'
import { arbitrarySort } from '../../support/sorts.ts'
import { createTestStore, demoEvents, generatedBlocks } from '../../support/store.ts'

/** `CASES=5000 npm test -- query/search-after` looks further. */
const CASES = Number(process.env.CASES ?? 60)
const SEED = Number(process.env.SEED ?? 1)

const ELASTIC = process.env.ELASTICSEARCH_7 ?? 'http://127.0.0.1:9717'
const isThere = await fetch(ELASTIC, { signal: AbortSignal.timeout(5_000) }).then(
  ({ ok }) => ok,
  () => false,
)

const store = createTestStore([], { events: [...oddEvents, ...demoEvents()], traces: 'all' })
// Neighbours share a time, also across segments.
for (const raw of oddBlocks(12, 1000)) {
  const number = Number(raw.block.number)
  store.add([
    { ...raw, block: { ...raw.block, timestamp: `0x${(1_700_000_000 + Math.floor(number / 3) * 12).toString(16)}` } },
  ])
}
store.add(generatedBlocks(1))
const searcher: Searcher = createSearcher(store.reader)
after(() => store.close())

const options = { deadline: Number.POSITIVE_INFINITY }
const ask = (kinds: readonly Kind[], body: object, given: ParseOptions = {}): Hit[] =>
  searcher.search(parseSearch(stringifyLossless(body), kinds, 0, given), options).hits

/** As a client reads it from an answer. */
const sortOf = (hit: Hit): unknown[] => parseLossless(stringifyLossless(hit.sort)) as unknown[]
const idOf = ({ kind, document }: Hit) => `${kind} ${document._id}`

const KINDS: readonly (readonly Kind[])[] = [
  ['event'],
  ['tx'],
  ['log'],
  ['block'],
  ['trace'],
  ['tx', 'log', 'event'],
  ['contract', 'token'],
  ['block', 'tx'],
]

const query = { bool: { filter: [{ range: { timestamp: { gte: 0 } } }] } }

describe('pages joined are the whole', () => {
  for (const kinds of KINDS) {
    it(`of ${kinds}, with the key of a point in time`, () => {
      fc.assert(
        fc.property(arbitrarySort(kinds), fc.integer({ min: 1, max: 40 }), fc.boolean(), (sort, most, streamed) => {
          const whole = ask(kinds, { sort, size: 400 }, { cursor: 'shown' })
          const size = Math.max(most, Math.ceil(whole.length / 12))
          const found: Hit[] = []
          for (;;) {
            const last = found.at(-1)
            const body = { sort, size, ...(last && { search_after: sortOf(last) }) }
            const page = ask(kinds, body, { cursor: 'shown' })
            found.push(...page)
            if (page.length < size || found.length >= 400) break
          }
          assert.deepStrictEqual(found.slice(0, 400).map(idOf), whole.map(idOf))
          const half = whole[whole.length >> 1]
          if (!streamed || !half) return
          const rest = { sort, size: -1, search_after: sortOf(half) }
          const request = parseSearch(stringifyLossless(rest), kinds, 0, { cursor: 'shown' })
          const hits = [...searcher.pages(request, options).pages].flat().map(idOf)
          assert.deepStrictEqual(
            hits.slice(0, 400 - whole.indexOf(half) - 1),
            whole.slice(whole.indexOf(half) + 1).map(idOf),
          )
        }),
        { numRuns: CASES / 4, seed: SEED },
      )
    })

    it(`of ${kinds}, which begin behind all that is sorted by the same`, () => {
      fc.assert(
        fc.property(arbitrarySort(kinds), fc.nat(300), (sort, at) => {
          if (kinds.length > 1 && sort.some(key => JSON.stringify(key).includes('"_doc"'))) return
          const whole = ask(kinds, { query, sort, size: 400 })
          const last = whole[Math.min(at, whole.length - 1)]
          if (!last) return
          const tie = stringifyLossless(sortOf(last))
          const first = whole.findLastIndex(hit => stringifyLossless(sortOf(hit)) === tie) + 1
          const page = ask(kinds, { query, sort, size: 50, search_after: sortOf(last) })
          if (first + 50 > 400) return
          assert.deepStrictEqual(
            page.map(sortOf).map(String),
            whole
              .slice(first, first + 50)
              .map(sortOf)
              .map(String),
          )
          const tied = new Set(page.map(hit => stringifyLossless(sortOf(hit))))
          assert.ok(!tied.has(tie))
        }),
        { numRuns: CASES / 2, seed: SEED },
      )
    })
  }
})

// As Elasticsearch 7.17 shows them.
const MISSING_DATES: [options: object, shown: unknown][] = [
  [{}, 9223372036854775807n],
  [{ format: 'strict_date_optional_time' }, '+292278994-08-17T07:12:55.807Z'],
  [{ format: 'strict_date_optional_time', order: 'desc' }, '-292275055-05-16T16:47:04.192Z'],
  [{ format: 'epoch_second', order: 'desc' }, '-9223372036854776.192'],
  [{ format: 'yyyy D e HH:mm', order: 'desc' }, '+292275056 136 7 16:47'],
  [{ format: 'uuuu D e HH:mm YYYY w' }, '+292278994 229 7 07:12 +292278994 33'],
  [{ numeric_type: 'date_nanos' }, 9223372036854775807n],
  [{ numeric_type: 'date_nanos', order: 'desc' }, 0],
  [{ numeric_type: 'date_nanos', format: 'strict_date_optional_time' }, '2262-04-11T23:47:16.854Z'],
  [{ numeric_type: 'date_nanos', format: 'strict_date_optional_time_nanos' }, '2262-04-11T23:47:16.854775807Z'],
  [{ numeric_type: 'date_nanos', format: 'epoch_millis' }, '9223372036854.775807'],
  [{ numeric_type: 'date_nanos', format: 'epoch_second' }, '9223372036.854775807'],
  [{ numeric_type: 'date_nanos', format: 'strict_date_optional_time', order: 'desc' }, '1970-01-01T00:00:00.000Z'],
]

it('documents without a date show what stands for it', () => {
  for (const [options, shown] of MISSING_DATES) {
    const [sort] = parseSearch(JSON.stringify({ sort: [{ timestamp: options }] }), ['block'], 0).sort
    assert.deepStrictEqual(parseLossless(stringifyLossless([missingValue(sort!)])), [shown])
  }
})

it('dates that nanoseconds cannot tell are refused', () => {
  for (const date of ['1969-12-31', '2262-04-12'])
    assert.throws(
      () => ask(['event'], { sort: [{ timestamp: { numeric_type: 'date_nanos' } }], search_after: [date] }),
      /not between 1970 and 2262/,
    )
})

it('slices part the hits', () => {
  for (const kinds of KINDS) {
    const ids = (body: object) => ask(kinds, { size: 10_000, ...body }, { cursor: 'hidden' }).map(idOf)
    const slices = [0, 1, 2].map(id => ids({ slice: { id, max: 3 } }))
    assert.deepStrictEqual(slices.flat().sort(), ids({}).sort())
    if (kinds[0] === 'tx') assert.ok(slices.every(({ length }) => length > 0))
  }
})

describe('sorts, sort values and pages are those of Elasticsearch 7.17', {
  skip: !isThere && 'none is running',
}, () => {
  const call = async (method: string, path: string, body?: string, type = 'application/json') => {
    const response = await fetch(`${ELASTIC}${path}`, {
      method,
      headers: { 'content-type': type },
      ...(body !== undefined && { body }),
    })
    return { status: response.status, body: parseLossless(await response.text()) as Answer }
  }
  interface Answer {
    errors?: boolean
    error?: { root_cause: { reason: string }[] }
    hits: { max_score: number | null; hits: { _id: string; _score: number | null; sort?: unknown[] }[] }
  }
  const indexOf = (kind: Kind) => `cursors-${process.pid}-${kind}`

  const asked: [Kind, object][] = [
    ['tx', { sort: ['gasUsed.num', 'hash'] }],
    ['tx', { sort: [{ 'value.num': 'desc' }, 'hash'] }],
    ['tx', { sort: [{ 'value.coin': 'desc', hash: 'asc' }] }],
    ['tx', { sort: [{ status: { order: 'asc', missing: '_first' } }, 'hash'] }],
    ['tx', { sort: [{ status: { order: 'desc' } }, 'hash'] }],
    ['tx', { sort: [{ 'contractAddress.raw': { missing: '_first' } }, 'hash'] }],
    ['tx', { sort: [{ 'contractAddress.raw': { missing: '0x8' } }, 'hash'] }],
    ['tx', { sort: [{ 'maxFeePerGas.num': { missing: '_first', order: 'desc' } }, 'hash'] }],
    ['tx', { sort: [{ 'maxFeePerGas.num': { missing: 2_000_000_000 } }, 'hash'] }],
    ['tx', { sort: [{ 'gas.num': { numeric_type: 'double' } }, 'hash'] }],
    ['tx', { sort: [{ 'value.coin': { numeric_type: 'long', order: 'desc' } }, 'hash'] }],
    ['tx', { sort: [{ nope: { unmapped_type: 'long' } }, 'hash'] }],
    ['tx', { sort: [{ nope: { unmapped_type: 'keyword' } }, { nope2: { unmapped_type: 'double' } }, 'hash'] }],
    ['tx', { sort: ['hash'], track_scores: true }],
    ['tx', { sort: [{ _id: 'asc' }] }],
    ['tx', { sort: ['status', { _id: { order: 'desc', missing: '_first', mode: 'min', unmapped_type: 'long' } }] }],
    ['event', { sort: [{ _id: { order: 'desc' } }] }],
    ['log', { sort: [{ _id: 'asc' }] }],
    ['block', { sort: ['_score', { _id: 'asc' }] }],
    ['block', { sort: [{ timestamp: 'desc' }, 'hash'] }],
    ['block', { sort: [{ timestamp: { format: 'strict_date_optional_time' } }, 'hash'] }],
    ['block', { sort: [{ timestamp: { format: 'yyyy/MM/dd HH:mm' } }, 'hash'] }],
    ['block', { sort: [{ timestamp: { numeric_type: 'date_nanos' } }, 'hash'] }],
    ...[
      ...['strict_date_optional_time', 'strict_date_optional_time_nanos', 'epoch_millis', 'epoch_second'],
      'uuuu/MM/dd HH:mm:ss.SSSSSSSSS',
    ].map((format): [Kind, object] => [
      'block',
      { sort: [{ timestamp: { numeric_type: 'date_nanos', order: 'desc', format } }, 'hash'] },
    ]),
    ['block', { sort: [{ transactions: { mode: 'max' } }, 'hash'] }],
    ...(['asc', 'desc'] as const).flatMap(order =>
      (['_first', '_last', '9223372036854775807', '-9223372036854775808'] as const).map((missing): [Kind, object] => [
        'event',
        {
          sort: [
            { 'args.value.num': { order, missing, nested: { path: 'args' } } },
            ...['event.raw', 'transactionHash', 'logIndex.num'],
          ],
        },
      ]),
    ),
    ...(['asc', 'desc'] as const).flatMap(order =>
      ['_first', '_last', 1.5].map((missing): [Kind, object] => [
        'tx',
        { sort: [{ 'gasUsed.num': { order, missing } }, { 'value.coin': { order, missing } }, 'hash'] },
      ]),
    ),
    ['log', { sort: [{ topics: 'asc' }, 'transactionHash', 'logIndex.num'] }],
    ['log', { sort: [{ topics: 'desc' }, 'transactionHash', 'logIndex.num'] }],
    ['log', { sort: [{ topics: { order: 'desc', mode: 'min' } }, 'transactionHash', 'logIndex.num'] }],
    ...(['min', 'max', 'sum', 'avg'] as const).flatMap((mode): [Kind, object][] => [
      [
        'event',
        { sort: [{ 'args.value.num': { mode, nested: { path: 'args' } } }, 'transactionHash', 'logIndex.num'] },
      ],
      [
        'event',
        {
          sort: [
            {
              'args.value.num': {
                ...{ order: 'desc', mode, missing: '_first' },
                nested: { path: 'args', filter: { term: { 'args.name': 'value' } } },
              },
            },
            'transactionHash',
            'logIndex.num',
          ],
        },
      ],
    ]),
    [
      'event',
      {
        sort: [{ 'args.value.num': { nested: { path: 'args', max_children: 2 } } }, 'transactionHash', 'logIndex.num'],
      },
    ],
    ['event', { sort: [{ 'args.name': { nested_path: 'args', order: 'desc' } }, 'transactionHash', 'logIndex.num'] }],
    ['event', { sort: [{ 'args.value.scaled': { nested: { path: 'args' } } }, 'transactionHash', 'logIndex.num'] }],
  ]

  it('for each of them', async () => {
    const kinds = ['block', 'tx', 'log', 'event'] as const
    const wanted = (kind: Kind) => store.all(kind).filter((_, i, all) => i % Math.ceil(all.length / 120) === 0)
    try {
      for (const kind of kinds) {
        await call('PUT', `/${indexOf(kind)}`, stringifyLossless(openSearchIndex(kind)))
        const lines = wanted(kind).flatMap(({ _id, _source }) => [{ index: { _id } }, _source])
        const bulk = `${lines.map(line => stringifyLossless(line)).join('\n')}\n`
        const stored = await call('POST', `/${indexOf(kind)}/_bulk?refresh=true`, bulk, 'application/x-ndjson')
        assert.equal(stored.body.errors, false, stringifyLossless(stored.body).slice(0, 2000))
      }
      for (const [kind, body] of asked) {
        const ids = { ids: { values: wanted(kind).map(({ _id }) => _id) } }
        // Doubles are written otherwise in Java: 9.2E18.
        const isDouble = JSON.stringify(body).includes('"double"')
        const shown = (sort: unknown[]) =>
          sort.map(value => (isDouble && typeof value === 'bigint' ? Number(value) : value))
        let after: unknown[] | undefined
        for (const size of [25, 40, 70]) {
          const page = { query: ids, _source: false, size, ...body, ...(after && { search_after: after }) }
          const theirs = await call('POST', `/${indexOf(kind)}/_search`, stringifyLossless(page))
          assert.equal(theirs.status, 200, `${stringifyLossless(page)}: ${stringifyLossless(theirs.body)}`)
          const ours = ask([kind], page)
          assert.deepStrictEqual(
            ours.map(hit => [hit.document._id, shown(sortOf(hit))]),
            theirs.body.hits.hits.map(({ _id, sort = [] }) => [_id, shown(sort)]),
            stringifyLossless({ kind, ...body, after }),
          )
          after = theirs.body.hits.hits.at(-1)?.sort
          if (!after) break
        }
      }
    } finally {
      for (const kind of kinds) await call('DELETE', `/${indexOf(kind)}`)
    }
  })
})
