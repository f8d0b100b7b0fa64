import assert from 'node:assert/strict'
import { after, beforeEach, describe, it, test } from 'node:test'
import fc from 'fast-check'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { cursorKeyOf } from '../../src/engine/store-version.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { type AnswerOptions, answerSearch, type Reply } from '../../src/search/answer.ts'
import { createCursors } from '../../src/search/cursors/service.ts'
import { decodePit, encodeState, type ScrollState } from '../../src/search/cursors/state.ts'
import { createCursorTable } from '../../src/search/cursors/table.ts'
import { makeChain } from '../support/pack.ts'
import { parseLossless, stringifyLossless } from '../support/scenarios.ts'
import { arbitrarySort } from '../support/sorts.ts'
import { createTestStore, type TestStore } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const INDEX = 'ethereum-test-net'
const NOW = Date.UTC(2025, 0, 1)
const CASES = Number(process.env.CASES ?? 8)
const SEED = Number(process.env.SEED ?? 1)
const never = new AbortController().signal

interface Answer {
  _scroll_id?: string
  pit_id?: string
  hits: { total: number; hits: { _type: Kind; _id: string; sort?: unknown[] }[] }
  resume: { token: string; reorganised_from?: number }
}

const trunk = makeChain({ from: 0, blocks: 30, txs: 3, logs: 2 })
/** Another end of the chain, from the block behind this one on. */
const branch = (from: RawBlock, blocks: number, salt: string) =>
  makeChain({ blocks, txs: 2, logs: 3, parent: from, salt })

let store: TestStore
let chain: RawBlock[]
let time: number
let isOpen = false
after(() => store.close())

const setUp = (blocks: readonly RawBlock[] = trunk.slice(0, 20)) => {
  if (isOpen) store.close()
  isOpen = true
  store = createTestStore(blocks, { run: [5, 3, 2, 1] })
  chain = [...blocks]
  time = NOW
}
const grow = (more: readonly RawBlock[]) => {
  store.add(more)
  chain.push(...more)
}
const reorganise = (to: number, blocks: number, salt: string) => {
  const kept = chain.filter(({ block }) => Number(block.number) <= to)
  store.rollback(to)
  chain = kept
  grow(branch(kept.at(-1)!, blocks, salt))
}

const textOf = ({ body }: Pick<Reply, 'body'>): string =>
  (body instanceof Uint8Array
    ? Buffer.from(body)
    : Buffer.concat(Array.from(body.parts, part => Buffer.from(part)))
  ).toString()
const read = (reply: Pick<Reply, 'body'>): Answer => parseLossless(textOf(reply)) as Answer

const answer = (entities: string, body: unknown, options: Partial<AnswerOptions> = {}): Reply =>
  answerSearch(
    createSearcher(store.reader),
    INDEX,
    entities,
    body === undefined ? undefined : stringifyLossless(body),
    {
      ...{ deadline: Number.POSITIVE_INFINITY, now: time },
      ...options,
    },
  )

const createService = (limits = DEFAULT_LIMITS) => {
  const cursors = createCursors({
    limits,
    now: () => time,
    key: () => cursorKeyOf(store.reader.db)(),
    async page({ account }, state) {
      const body = state.body === undefined ? undefined : JSON.parse(state.body)
      const { cursor, ...reply } = answer(state.asked.entities, body, { now: state.now, scroll: state, limits })
      if (cursor) cursors.noteUse(account, cursor, {})
      return reply as { status: number; body: Uint8Array }
    },
    seen: async () => createSearcher(store.reader).seen(),
  })
  const asking = { network: NETWORK, account: 1, signal: never }
  return {
    cursors,
    begin: async (entities: string, body: object, scroll = '1m') =>
      read(
        (await cursors.begin({
          ...{ ...asking, entities, scroll, body: Buffer.from(stringifyLossless(body)) },
        })) as Reply,
      ),
    next: async (id: string, scroll: string | undefined = '1m', network = NETWORK) =>
      read((await cursors.scroll({ ...asking, network, id, scroll })) as Reply),
    close: (kind: 'scroll' | 'pit', ids: string[] | 'all', account = 1) =>
      cursors.close({ network: NETWORK, account, kind, ids }),
    openPit: (entities: string, dialect: 'elasticsearch' | 'opensearch' = 'elasticsearch') =>
      cursors.openPit({ ...asking, entities, keepAlive: '1m', dialect }),
    within(id: string, body: object) {
      const { cursor, ...reply } = answer('block,tx', { ...body, pit: { id, keep_alive: '1m' } }, { isNamed: false })
      if (cursor) cursors.noteUse(1, cursor, {})
      return read(reply)
    },
  }
}

const idsOf = ({ hits }: Answer) => hits.hits.map(({ _type, _id }) => `${_type} ${_id}`)

const missing = { next: 'refuse', code: 'search_context_missing_exception' }

beforeEach(() => setUp())

describe('a scroll', () => {
  it('gives page after page, and then empty ones', async () => {
    const service = createService()
    for (const body of [{ sort: ['_doc'] }, {}, { sort: [{ 'value.num': 'desc' }] }, { sort: '_doc', size: 7 }]) {
      const whole = idsOf(read(answer('tx', { ...body, size: -1 })))
      let page = await service.begin('tx', body)
      const found: string[] = []
      while (page.hits.hits.length > 0) {
        assert.equal(page.hits.total, 60)
        found.push(...idsOf(page))
        page = await service.next(page._scroll_id!)
      }
      assert.deepEqual(found, whole)
      assert.deepEqual(idsOf(await service.next(page._scroll_id!)), [])
    }
  })

  it('goes on after a restart, and by its first id again and again', async () => {
    const whole = idsOf(read(answer('tx', { sort: '_doc', size: -1 })))
    let service = createService()
    const first = await service.begin('tx', { sort: '_doc', size: 20 })
    const found = [...idsOf(first)]
    found.push(...idsOf(await service.next(first._scroll_id!)), ...idsOf(await service.next(first._scroll_id!)))
    assert.deepEqual(found, whole)
    service = createService()
    const second = await service.next(first._scroll_id!)
    assert.deepEqual(idsOf(second), whole.slice(20, 40))
    // Who asks again for a page that was lost on its way gets that page.
    assert.deepEqual(idsOf(await service.next(second._scroll_id!)), whole.slice(40))
    assert.deepEqual(idsOf(await service.next(second._scroll_id!)), whole.slice(40))
  })

  it('is closed by its time, or before', async () => {
    const service = createService()
    const { _scroll_id: id = '' } = await service.begin('tx', { size: 5 })
    time += 59_000
    const { _scroll_id: next = '' } = await service.next(id, '2m')
    time += 119_000
    await service.next(next)
    time += 61_000
    await assert.rejects(service.next(next), missing)
    const { _scroll_id: other = '' } = await service.begin('tx', { size: 5 })
    assert.equal(service.close('scroll', [other], 2).length, 1)
    assert.equal((await service.next(other)).hits.hits.length, 5)
    assert.deepEqual(service.close('scroll', [other, other]), [other])
    await assert.rejects(service.next(other), missing)
    assert.deepEqual(service.close('scroll', [other]), [])
    assert.throws(() => service.close('scroll', ['garbage']), { code: 'illegal_argument_exception' })
    await service.begin('tx', { size: 5 })
    await service.begin('log', { size: 5 })
    assert.equal(service.close('scroll', 'all').length, 2)
  })

  it('refuses what Elasticsearch refuses', async () => {
    const service = createService()
    const { _scroll_id: id = '' } = await service.begin('tx', { from: 0, size: 1 })
    const cases: [() => Promise<unknown>, RegExp][] = [
      [() => service.begin('tx', { size: 0 }), /\[size\] cannot be \[0\] in a scroll context/],
      [() => service.begin('tx', { size: -1 }), /\[size\] cannot be negative/],
      [() => service.begin('tx', { from: 1 }), /using \[from\] is not allowed in a scroll context/],
      [() => service.begin('tx', { sort: 'hash', search_after: ['0x'] }), /`search_after` cannot be used in a scroll/],
      [() => service.begin('tx', { track_total_hits: false }), /disabling \[track_total_hits\]/],
      [() => service.begin('tx', {}, '25h'), /Keep alive for request \(25h\) is too large/],
      [() => service.begin('tx', {}, 'soon'), /failed to parse setting \[scroll\] with value \[soon\]/],
      [() => service.begin('tx', { slice: { id: 2, max: 2 } }), /max must be greater than id/],
      [() => service.begin('tx', { slice: { id: 0, max: 1 } }), /max must be greater than 1/],
      [() => service.begin('tx', { slice: { id: 0, max: 2_000 } }), /The number of slices \[2000\] is too large/],
      [() => service.next('garbage'), /Cannot parse scroll id/],
      [() => service.next(Buffer.from('garbage garbage').toString('base64')), /Cannot parse scroll id/],
      [() => service.next(`${id.slice(0, -3)}AAA`), /No search context found for id/],
      [() => service.next(id, '1m', 'ethereum/other/net'), /was opened on ethereum\/test\/net/],
      [
        () => service.begin('tx', { query: { terms: { hash: Array(9_000).fill(`0x${'0'.repeat(64)}`) } } }),
        /256kB of text/,
      ],
    ]
    for (const [ask, message] of cases)
      await assert.rejects(ask, error => error instanceof Error && message.test(error.message) && 'next' in error)
    assert.throws(() => answer('tx', { slice: { id: 0, max: 2 } }), /can only be used with \[scroll\]/)
  })

  it('is one of so many that an account may have', async () => {
    const service = createService({ ...DEFAULT_LIMITS, cursors: 2 })
    const { _scroll_id: id = '' } = await service.begin('tx', { size: 1 })
    const pit = await service.openPit('tx')
    await assert.rejects(service.begin('tx', { size: 1 }), { next: 'retry', code: 'es_rejected_execution_exception' })
    await assert.rejects(service.openPit('tx'), { next: 'retry' })
    await service.next(id)
    service.close('pit', [pit.id])
    await service.begin('tx', { size: 1 })
    time += 61_000
    await service.begin('tx', { size: 1 })
    await service.begin('tx', { size: 1 })
  })

  it('whose id was changed anywhere is refused, as one that nobody knows', async () => {
    const service = createService()
    const { _scroll_id: id = '' } = await service.begin('tx', { sort: 'value.padded', size: 1 })
    const { id: pit } = await service.openPit('tx')
    const bytes = Buffer.from(id, 'base64url')
    for (let at = 1; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1 << (at % 8)
      await assert.rejects(service.next(changed.toString('base64url')), missing, `byte ${at}`)
    }
    await assert.rejects(service.next(bytes.subarray(0, -1).toString('base64url')), missing)
    await assert.rejects(service.next(pit), { code: 'illegal_argument_exception' })
    assert.throws(() => service.close('scroll', [pit]), { code: 'illegal_argument_exception' })
    await service.next(id)
  })

  it('whose id another server signed is unknown to this one', async () => {
    const service = createService()
    const forged = forge(NOW + 10 ** 12)
    await assert.rejects(service.next(forged), missing)
    assert.throws(() => service.within(forge(NOW + 10 ** 12, 'pit'), {}), missing)
    const { _scroll_id: own = '' } = await service.begin('tx', { size: 1 })
    assert.deepEqual(service.close('scroll', [forged, own, forged]), [own])
    assert.deepEqual(service.close('pit', [forge(NOW, 'pit')]), [])
  })

  it('takes next to nothing to be told from forged ones', async () => {
    const service = createService()
    const forged = Buffer.from(forge(NOW + 10 ** 12), 'base64url')
    const ids = Array.from({ length: 1_000 }, (_, i) => {
      forged.writeUInt16LE(i, 1)
      return forged.toString('base64url')
    })
    const before = process.memoryUsage().heapUsed
    const cpu = process.cpuUsage()
    assert.deepEqual(service.close('scroll', ids), [])
    const { user, system } = process.cpuUsage(cpu)
    // To unpack them took ten seconds and a gigabyte.
    assert.ok((user + system) / 1e6 < 2, `${(user + system) / 1e6} s of processor time`)
    assert.ok(process.memoryUsage().heapUsed - before < 64e6)
    assert.throws(() => service.close('scroll', [...ids, 'one more']), /has more than 1000 ids of scrolls or points in/)
  })

  it('is remembered as closed in bounded memory, and for a day at most', async () => {
    const limits = { ...DEFAULT_LIMITS, cursors: 2 }
    const service = createService(limits)
    const ids: string[] = []
    for (let i = 0; i < 30; i++) {
      ids.push((await service.begin('tx', { size: 1 }, '1d'))._scroll_id!)
      assert.equal(service.close('scroll', [ids.at(-1)!]).length, 1)
    }
    // The last twenty.
    await service.next(ids[9]!)
    await assert.rejects(service.next(ids[10]!), missing)
    // A clock that was ahead when an id was given makes it last no longer than a day from now.
    const table = createCursorTable(limits, () => time)
    const ahead = { kind: 'scroll', key: 'k', network: NETWORK, until: time + 400 * 86_400_000 } as const
    table.use(1, ahead, ahead.until)
    time += 86_400_001
    assert.throws(() => table.check(1, ahead), missing)
  })
})

/** An id of the right form, with a signature of another key. */
const forge = (until: number, kind: 'scroll' | 'pit' = 'scroll', key = 'key') =>
  encodeState(
    {
      ...{ kind, key, network: NETWORK, until, keepAliveMs: 1, seen: { runs: [], marks: [] } },
      ...{ asked: { entities: 'tx' }, body: 'x'.repeat(2 ** 20), now: 1, page: 1, total: 1, after: undefined },
    } as ScrollState,
    Buffer.alloc(32, 7),
  )

describe('what a cursor shows is what its first page saw', () => {
  const kinds: readonly Kind[][] = [['tx'], ['log'], ['tx', 'log'], ['block']]
  const event = fc.oneof(
    fc.constant({ is: 'nothing' } as const),
    fc.record({ is: fc.constant('grow' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
    fc.record({
      is: fc.constant('reorganise' as const),
      depth: fc.integer({ min: 1, max: 9 }),
      blocks: fc.integer({ min: 1, max: 10 }),
    }),
  )
  for (const how of ['scroll', 'pit'] as const)
    it(`in a ${how}, whatever blocks come and go between its pages`, async () => {
      let salt = 0
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...kinds),
          fc.option(fc.integer({ min: 0, max: 1 })),
          fc.integer({ min: 3, max: 40 }),
          fc.array(event, { maxLength: 6 }),
          fc.nat(1_000),
          async (kinds, slice, size, events, seed) => {
            setUp()
            const service = createService()
            const sort = fc.sample(arbitrarySort(kinds), { numRuns: 1, seed })[0]!
            const body = { size, sort, ...(slice !== null && { slice: { id: slice, max: 2 } }) }
            const entities = kinds.join(',')
            const whole = createSearcher(store.reader).search(
              parseSearch(stringifyLossless({ ...body, size: 10_000 }), kinds, NOW, { cursor: 'shown' }),
              { deadline: Number.POSITIVE_INFINITY },
            ).hits
            const blockOf = new Map(
              whole.map(({ kind, document: { _id, _source } }) => [
                `${kind} ${_id}`,
                String(_source.blockHash ?? _source.hash),
              ]),
            )
            const ids = [...blockOf.keys()]
            const pit = how === 'pit' ? await service.openPit(entities) : undefined
            let page = pit ? service.within(pit.id, body) : await service.begin(entities, body)
            assert.equal(page.hits.total, ids.length)
            let at = 0
            for (let turn = 0; ; turn++) {
              const hashes = new Set(chain.map(({ block }) => String(block.hash)))
              const expected: string[] = []
              let next = at
              for (; next < ids.length && expected.length < size; next++)
                if (hashes.has(blockOf.get(ids[next]!)!)) expected.push(ids[next]!)
              assert.deepEqual(idsOf(page), expected)
              if (expected.length === 0) break
              at = ids.indexOf(expected.at(-1)!) + 1
              const happens = events[turn] ?? { is: 'nothing' }
              const head = Number(chain.at(-1)!.block.number)
              if (happens.is === 'grow') grow(branch(chain.at(-1)!, happens.blocks, `${++salt}`))
              if (happens.is === 'reorganise') reorganise(head - happens.depth, happens.blocks, `${++salt}`)
              page = pit
                ? service.within(page.pit_id!, { ...body, search_after: page.hits.hits.at(-1)!.sort })
                : await service.next(page._scroll_id!)
            }
          },
        ),
        { numRuns: CASES, seed: SEED },
      )
    })
})

describe('a point in time', () => {
  it('shows one sort value more in the dialect of Elasticsearch', async () => {
    const service = createService()
    const [theirs, others] = [await service.openPit('tx'), await service.openPit('tx', 'opensearch')]
    const sorts = (id: string, body: object) =>
      service.within(id, { size: 1, ...body }).hits.hits.map(({ sort }) => sort?.length)
    assert.deepEqual(sorts(theirs.id, { sort: 'gas.num' }), [2])
    assert.deepEqual(sorts(others.id, { sort: 'gas.num' }), [1])
    assert.deepEqual(sorts(theirs.id, { sort: '_shard_doc' }), [1])
    assert.deepEqual(sorts(theirs.id, {}), [undefined])
    const keys = { size: 100, sort: ['gas.num'] }
    const [first] = service.within(theirs.id, keys).hits.hits
    assert.equal(service.within(theirs.id, { ...keys, search_after: first!.sort }).hits.hits.length, 59)
    // All have the same gas.
    assert.equal(service.within(theirs.id, { ...keys, search_after: first!.sort!.slice(0, 1) }).hits.hits.length, 0)
    assert.throws(
      () => service.within(theirs.id, { ...keys, search_after: [1, 2, 3] }),
      /has 3 value\(s\) but sort has 1/,
    )
  })

  it('is closed, listed, and refused with an index', async () => {
    const service = createService()
    const { id } = await service.openPit('tx')
    const { pit_id = '' } = service.within(id, { size: 1 })
    assert.equal(decodePit(pit_id, { key: cursorKeyOf(store.reader.db)(), limits: DEFAULT_LIMITS }).until, NOW + 60_000)
    assert.deepEqual(
      service.cursors.pits({ network: NETWORK, account: 1 }).map(({ id }) => id),
      [pit_id],
    )
    assert.throws(() => answer('tx', { pit: { id } }), /\[indices\] cannot be used with point in time/)
    assert.throws(() => service.within('garbage', {}), /invalid id: \[garbage\]/)
    assert.throws(() => answer('tx', { pit: {} }, { isNamed: false }), /point in time id is not provided/)
    assert.deepEqual(service.close('pit', [id]), [id])
    assert.throws(() => service.within(id, { size: 1 }), missing)
    assert.throws(() => service.within(pit_id, { size: 1 }), missing)
    assert.deepEqual(service.close('pit', [pit_id]), [])
  })
})

describe('a reader that resumes', () => {
  /** A reader that keeps what it is given, and drops what it is told. */
  const createReader = (kinds: string, size: number) => {
    let kept: { id: string; block: number }[] = []
    let token = 'start'
    return {
      poll() {
        const page = read(answer(kinds, { resume: token, size }))
        const { reorganised_from: from = Number.POSITIVE_INFINITY } = page.resume
        kept = kept.filter(({ block }) => block < from)
        for (const hit of page.hits.hits)
          kept.push({ id: `${hit._type} ${hit._id}`, block: Math.floor(Number(hit.sort![0]) / 2 ** 22) })
        token = page.resume.token
        return page
      },
      ids: () => kept.map(({ id }) => id),
    }
  }

  it('has in the end all that is stored, once, in the order of the chain', () => {
    let salt = 0
    fc.assert(
      fc.property(
        fc.constantFrom('tx', 'log', 'tx,log', 'block,tx'),
        fc.integer({ min: 1, max: 30 }),
        fc.array(
          fc.tuple(fc.constantFrom('poll', 'poll', 'poll', 'grow', 'reorganise'), fc.integer({ min: 1, max: 8 })),
          { maxLength: 25 },
        ),
        (kinds, size, events) => {
          setUp()
          const reader = createReader(kinds, size)
          for (const [event, count] of events) {
            const head = Number(chain.at(-1)!.block.number)
            if (event === 'poll') reader.poll()
            else if (event === 'grow') grow(branch(chain.at(-1)!, count, `r${++salt}`))
            else reorganise(head - count, count + 1, `r${++salt}`)
          }
          for (let polls = 0; polls < 400 && reader.poll().hits.hits.length === size; polls++);
          assert.deepEqual(reader.ids(), idsOf(read(answer(kinds, { sort: '_doc', size: -1 }))))
        },
      ),
      { numRuns: CASES, seed: SEED },
    )
  })

  it('is told from which block on all is new, and how much there is', () => {
    const first = read(answer('tx', { resume: 'start', size: 50 }))
    assert.deepEqual([first.hits.total, first.hits.hits.length], [60, 50])
    const rest = read(answer('tx', { resume: first.resume.token, size: 50 }))
    assert.deepEqual([rest.hits.total, rest.hits.hits.length, rest.resume.reorganised_from], [10, 10, undefined])
    assert.equal(read(answer('tx', { resume: 'now', size: 10 })).hits.total, 0)
    reorganise(15, 2, 'other')
    const again = read(answer('tx', { resume: rest.resume.token, size: 50 }))
    assert.deepEqual([again.hits.total, again.resume.reorganised_from], [4, 16])
    assert.equal(read(answer('tx', { resume: again.resume.token, size: 50 })).hits.total, 0)
    // Nothing is left of what it had.
    setUp(makeChain({ from: 0, blocks: 3, salt: 'another chain' }))
    assert.equal(read(answer('tx', { resume: again.resume.token })).resume.reorganised_from, 0)
    for (const more of [{ sort: 'hash' }, { from: 1 }, { size: -1 }])
      assert.throws(() => answer('tx', { resume: 'start', ...more }), /come in chain order/)
    assert.throws(() => answer('tx', { resume: 'garbage' }), /this is not a token/)
  })
})

test('hits as lines', () => {
  const lines = (format: 'ndjson' | 'csv', entities: string, body: object): string => {
    const reply = answer(entities, body, { format })
    assert.equal(reply.format, format)
    return textOf(reply)
  }
  for (const size of [0, 3, -1]) {
    const { hits } = read(answer('tx,log', { size, sort: '_doc' })).hits
    const found = lines('ndjson', 'tx,log', { size, sort: '_doc' })
    assert.deepEqual(
      found.split('\n').flatMap(line => (line ? [parseLossless(line)] : [])),
      hits,
    )
    assert.ok(found === '' || found.endsWith('\n'))
  }
  const body = { size: 1, sort: '_doc', _source: ['value', 'hash', 'blockNumber.num', 'status', 'to'] }
  const { _id } = read(answer('tx', body)).hits.hits[0]!
  const [head, row, end] = lines('csv', 'tx', body).split('\r\n')
  assert.equal(head, '_id,value.num,value.coin,value.padded,value.raw,hash,blockNumber.num,status,to')
  assert.match(row!, new RegExp(`^${_id},0,0,0x0{64},0x0,${_id},0,true,0x[0-9a-fA-F]{40}$`))
  assert.equal(end, '')
  assert.equal(lines('csv', 'tx', { size: -1, _source: 'hash' }).split('\r\n').length, 62)
  assert.match(
    lines('csv', 'log,tx', { size: 1, sort: '_doc', _source: ['topics', 'hash'] }),
    /^_id,_type,topics,hash\r\n.*,tx,,0x/,
  )
  assert.match(lines('csv', 'log', { size: 3, sort: '_doc', _source: ['topics'] }), /"\[""0x[0-9a-f]{64}""\]"/)
  assert.throws(() => lines('csv', 'tx', { resume: 'start' }), /ask for JSON/)
})

describe('scores, aggregations and groups', () => {
  const scored = {
    query: { bool: { must: [{ match_all: {} }], should: [{ range: { 'blockNumber.num': { gte: 5, lt: 12 } } }] } },
  }

  it('are gone on with behind the last score, in a scroll and by search_after', async () => {
    const service = createService()
    const whole = idsOf(read(answer('tx', { ...scored, size: 100 })))
    const found: string[] = []
    for (let page = await service.begin('tx', { ...scored, size: 7 }); page.hits.hits.length > 0; ) {
      found.push(...idsOf(page))
      page = await service.next(page._scroll_id!)
    }
    assert.deepEqual(found, whole)
    const { id } = await service.openPit('tx')
    const paged: string[] = []
    let after: object = {}
    for (;;) {
      const { hits } = service.within(id, { ...scored, sort: ['_score'], size: 7, ...after })
      if (hits.hits.length === 0) break
      paged.push(...hits.hits.map(({ _type, _id }) => `${_type} ${_id}`))
      after = { search_after: hits.hits.at(-1)!.sort }
    }
    assert.deepEqual(paged.toSorted(), whole.toSorted())
  })

  it('see what the first page saw', async () => {
    const service = createService()
    const aggs = { aggs: { all: { value_count: { field: 'blockNumber.num' } } } }
    const { id } = await service.openPit('tx,event')
    const before = service.within(id, { ...aggs, size: 0 })
    const first = await service.begin('tx', { ...aggs, size: 5 })
    assert.ok('aggregations' in first)
    reorganise(17, 6, 'other')
    const after = service.within(id, { ...aggs, size: 0 })
    assert.ok('aggregations' in before && 'aggregations' in after)
    assert.deepEqual(after.aggregations, { all: { value: after.hits.total } })
    assert.ok(Number(after.hits.total) < Number(before.hits.total))
    assert.ok(!('aggregations' in (await service.next(first._scroll_id!))))
  })

  it('do not go with what would leave them out', async () => {
    const service = createService()
    await assert.rejects(service.begin('tx', { collapse: { field: 'from.raw' } }), /cannot use `collapse` in a scroll/)
    const bad = { collapse: { field: 'from.raw' }, sort: ['blockNumber.num'], search_after: [1] }
    assert.throws(() => answer('tx', bad), /Cannot use \[collapse\] in conjunction/)
    const aggs = { aggs: { all: { value_count: { field: 'blockNumber.num' } } } }
    assert.throws(() => answer('tx', aggs, { format: 'ndjson' }), /only JSON has aggregations/)
    assert.throws(() => answer('tx', { fields: ['hash'] }, { format: 'csv' }), /A table shows/)
    assert.throws(() => answer('', { resume: 'start' }), /no entity to follow/)
  })
})
