import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { RawBlock } from '../../src/chain/wire.ts'
import { tokensIn } from '../../src/documents/tokens.ts'
import { blockOf } from '../../src/engine/schema.ts'
import { createWriter } from '../../src/engine/writer.ts'
import type { ChainsieveError } from '../../src/lib/errors.ts'
import {
  assertSame,
  checkSegments,
  contentsOf,
  documentsOf,
  events,
  neighbours,
  numberOf,
  queriesOn,
  using,
} from '../support/contents.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore, demoBlocks, type TestStore } from '../support/store.ts'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}` as const
const DOLLAR = '0x252bfe6ba05b239912fe0f8f514b3564f40a7a96'

describe('segments', () => {
  it('hold the same in whatever order and in whatever runs the blocks came', () => {
    const blocks = neighbours(40)
    // With holes, as a sparse import leaves them.
    const some = blocks.filter((_, i) => i !== 9 && i !== 30 && i !== 31)
    const whole = createTestStore(some, { events, run: 100 })
    const queries = queriesOn(whole, 40)
    using([whole], () => {
      const oneByOne = createTestStore(some, { events, run: 1 })
      using([oneByOne], () => assertSame(oneByOne, whole, queries))
      const newestFirst = createTestStore(some.toReversed(), { events, run: 1 })
      using([newestFirst], () => assertSame(newestFirst, whole, queries))
      fc.assert(
        fc.property(
          fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
          fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
          (sizes, ranks) => {
            const runs: RawBlock[][] = []
            for (let at = 0, i = 0; at < some.length; i++) {
              const size = sizes[i % sizes.length]!
              runs.push(some.slice(at, at + size))
              at += size
            }
            const shuffled = runs
              .map(run => ({ run, rank: ranks.next().value as number }))
              .sort((a, b) => a.rank - b.rank)
              .map(({ run }) => run)
            const store = createTestStore([], { events, run: 9 })
            using([store], () => {
              for (const run of shuffled) {
                store.add(run)
                checkSegments(store)
              }
              assertSame(
                store,
                whole,
                queries.filter((_, i) => i % 5 === 0),
              )
            })
          },
        ),
        { numRuns: 6, seed: 3 },
      )
    })
  })

  const sizesOf = (store: TestStore) =>
    store.read(() => store.reader.segments().map(({ first, last }) => last - first + 1))

  it('are merged as they come, one by one from either end of the chain, into few', () => {
    const blocks = makeChain({ blocks: 600, txs: 1, logs: 1 })
    const sizes = [blocks, blocks.toReversed()].map(order => {
      const store = createTestStore(order, { run: 1 })
      try {
        checkSegments(store)
        return sizesOf(store).sort((a, b) => a - b)
      } finally {
        store.close()
      }
    })
    assert.deepEqual(sizes[0], sizes[1])
    assert.ok(sizes[0]!.length < 20 && sizes[0]!.at(-1)! >= 256, `${sizes[0]}`)
  })

  it('are not joined over a hole, until it is filled', () => {
    const blocks = makeChain({ blocks: 33, txs: 1, logs: 1 })
    const store = createTestStore(
      blocks.filter((_, i) => i !== 8),
      { run: 1 },
    )
    using([store], () => {
      const spans = () => store.read(() => store.reader.segments().map(({ first, last }) => [first, last]))
      assert.ok(spans().every(([first, last]) => first! > 8 || last! < 8))
      assert.ok(spans().length < 20)
      checkSegments(store)
      store.add([blocks[8]!])
      checkSegments(store)
      assert.equal(store.evaluate('log', { op: 'all' }).counted, 33)
    })
  })

  it('are seen as they are by a reader that saw others under the same number', () => {
    const blocks = neighbours(34)
    const store = createTestStore([], { events, run: 1 })
    using([store], () => {
      for (const [i, block] of blocks.entries()) {
        store.add([block])
        const { positions, counted } = store.evaluate('tx', { op: 'all' })
        assert.deepEqual([positions, counted], [store.positions('tx'), positions.length], `after ${i + 1} blocks`)
      }
    })
  })

  it('refuse blocks that are stored already', () => {
    const blocks = makeChain({ blocks: 6 })
    const store = createTestStore(blocks.slice(1, 4), { run: 3 })
    using([store], () => {
      const before = contentsOf(store)
      for (const [from, to] of [
        [0, 2],
        [2, 3],
        [3, 6],
        [0, 6],
      ] as const) {
        assert.throws(() => store.writer.apply(store.prepare(blocks.slice(from, to))), {
          next: 'stop',
          code: 'block_stored',
          message: `blocks ${from} to ${to - 1} overlap the stored blocks 1 to 3`,
        })
        assert.deepEqual(contentsOf(store), before)
      }
      store.add([blocks[0]!, ...blocks.slice(4)])
      assert.equal(store.evaluate('block', { op: 'all' }).counted, 6)
    })
  })
})

describe('a token', () => {
  it('keeps what its contract answered when a lower block comes that was decoded before', () => {
    const blocks = demoBlocks().slice(0, 60)
    const store = createTestStore()
    using([store], () => {
      const both = blocks.flatMap(raw => (tokensIn(raw).has(DOLLAR) ? [raw] : []))
      const [higher, lower] = [store.prepare([both[1]!]), store.prepare([both[0]!])]
      const { id } = higher.sights.find(({ id }) => lower.sights.some(sight => sight.id === id))!
      const answer = { id, decimals: 7, name: higher.sights[0]!.standard, symbol: null, standard: null, error: null }
      const unknown = { decimals: null, name: null, symbol: null, error: null }
      for (const sight of lower.sights) Object.assign(sight, unknown)
      higher.added.tokens = [answer]
      store.writer.receive(lower)
      store.writer.apply(higher)
      const before = store.db.prepare('SELECT * FROM token WHERE id = ?').get(id) as object
      store.writer.apply(lower)
      const { position } = lower.sights.find(sight => sight.id === id)!
      const { change } = store.db.prepare('SELECT max(change) AS change FROM token WHERE id = ?').get(id) as {
        change: number
      }
      assert.deepEqual(store.db.prepare('SELECT * FROM token WHERE id = ?').get(id), {
        ...before,
        pos: position,
        change,
      })
      assert.equal((before as { decimals: number }).decimals, 7)
    })
  })

  it('has the standard that its lowest block shows, in whatever order blocks come', () => {
    const blocks = makeChain({ blocks: 3, txs: 1, logs: 1 })
    const topics = (count: number) => [TRANSFER, ...Array.from({ length: count }, (_, i) => word(i))]
    for (const [i, { receipts }] of blocks.entries()) receipts[0]!.logs[0]!.topics = topics(i === 0 ? 3 : 2)
    const stores = [blocks, blocks.toReversed()].map(order => createTestStore(order, { run: 1 }))
    using(stores, () => {
      const [oldest, newest] = stores.map(store => store.all('token'))
      assert.equal(oldest![0]!._source.standard, 'ERC-721')
      assert.deepEqual(newest, oldest)
    })
  })
})

describe('merging in steps', () => {
  it('shows the same between any two of them, whatever happens there, and leaves nothing behind', () => {
    const blocks = neighbours(24)
    const whole = createTestStore(blocks, { events, run: 100 })
    const step = fc.record({ merges: fc.nat(9), event: fc.constantFrom('', '', '', 'restart', 'rollback', 'fail') })
    let unfinished = 0
    using([whole], () =>
      fc.assert(
        fc.property(fc.array(step, { minLength: 30, maxLength: 30 }), steps => {
          const store = createTestStore([], { events })
          using([store], () => {
            let at = 0
            const add = () => {
              const batch = store.prepare(blocks.slice(at, at + 1))
              store.writer.apply(batch)
              store.preparer.committed(batch.added)
              at++
            }
            for (const { merges, event } of steps) {
              if (at < blocks.length) add()
              for (let i = 0; i < merges; i++) store.writer.merge(Number(blocks[at - 1 - (i % 4)]?.block.number ?? 0))
              if (store.db.prepare('SELECT 1 FROM dropped').get() !== undefined) unfinished++
              if (event === 'restart') store.writer = createWriter(store.db)
              if (event === 'fail') {
                store.db.exec(
                  "CREATE TEMP TRIGGER fails BEFORE INSERT ON post BEGIN SELECT RAISE(ABORT, 'no more'); END",
                )
                try {
                  store.writer.merge(Number(blocks[at - 1]!.block.number))
                } catch {
                  // The next step begins anew.
                }
                store.db.exec('DROP TRIGGER fails')
              }
              if (event === 'rollback' && at > 4) {
                at -= 3
                store.rollback(Number(blocks[at]!.block.number) - 1)
              }
              checkSegments(store)
            }
            while (at < blocks.length) add()
            assertSame(store, whole)
            for (const first of store.writer.small()) while (store.writer.merge(first));
            assertSame(store, whole)
            const rest = { post: 'id >> 20', num: 'segment', col: 'segment' }
            for (const [table, segment] of Object.entries(rest))
              assert.equal(
                store.db
                  .prepare(`SELECT count(*) FROM ${table} WHERE ${segment} NOT IN (SELECT id FROM segment)`)
                  .pluck()
                  .get(),
                0,
                table,
              )
          })
        }),
        { numRuns: 12, seed: 1 },
      ),
    )
    assert.ok(unfinished > 20, `${unfinished}`)
  })
})

describe('a rollback', () => {
  it('leaves a store that never saw the blocks, wherever it cuts', () => {
    const blocks = neighbours(24)
    const whole = createTestStore(blocks, { events, run: 50 })
    const queries = queriesOn(whole, 12)
    using([whole], () => {
      for (const [run, cuts] of [
        [1, [99, 100, 107, 114, 115, 116, 121, 122, 123, 500]],
        [
          [5, 3],
          [98, 103, 104, 106, 120],
        ],
        [50, [100, 110, 122]],
      ] as const)
        for (const to of cuts) {
          const store = createTestStore(blocks, { events, run })
          const left = blocks.filter(block => numberOf(block) <= to)
          const never = createTestStore(left, { events, run: 7 })
          using([store, never], () => {
            store.rollback(to)
            assertSame(store, never, queries)
            store.add(blocks.slice(left.length))
            assertSame(store, whole)
          })
        }
    })
  })

  it('makes room for another branch', () => {
    const trunk = makeChain({ blocks: 20 })
    const branch = makeChain({ blocks: 12, parent: trunk[9]!, salt: 'branch', txs: 3 })
    const store = createTestStore(trunk, { run: 1 })
    const straight = createTestStore([...trunk.slice(0, 10), ...branch], { run: 4 })
    using([store, straight], () => {
      // What is known of the trunk must not be taken for the branch's.
      documentsOf(store)
      store.rollback(9)
      store.add(branch)
      assertSame(store, straight, queriesOn(straight, 10))
      assert.deepEqual(
        store.all('block').map(({ _id }) => _id),
        [...trunk.slice(0, 10), ...branch].map(({ block }) => block.hash),
      )
    })
  })
})

describe('a write that fails', () => {
  const blocks = neighbours(16)

  it('leaves nothing behind, wherever it stops, and goes well the next time', () => {
    const whole = createTestStore(blocks, { events, run: 1 })
    using([whole], () => {
      for (const table of [
        'address',
        'name',
        'signature',
        'block',
        'tx',
        'log',
        'trace',
        'call',
        'segment',
        'post',
        'num',
        'col',
      ])
        for (const last of [false, true]) {
          const store = createTestStore(blocks.slice(0, 15), { events, run: 1 })
          using([store], () => {
            const before = contentsOf(store)
            const batch = store.prepare(blocks.slice(15))
            // With the sixteenth block others can be merged.
            let applied = false
            const write = () => {
              if (!applied) store.writer.apply(batch)
              applied = true
              while (store.writer.merge(batch.first));
            }
            const when = last ? `WHEN NEW.rowid = (SELECT max(rowid) FROM "${table}")` : ''
            const moment = last ? 'AFTER' : 'BEFORE'
            if (last && ['post', 'num', 'col'].includes(table)) return
            store.db.exec(
              `CREATE TEMP TRIGGER fails ${moment} INSERT ON "${table}" ${when} BEGIN SELECT RAISE(ABORT, 'no more'); END`,
            )
            let failed = false
            try {
              write()
            } catch (error) {
              failed = true
              assert.match((error as Error).message, /no more/)
              assert.deepStrictEqual(contentsOf(store), applied ? contentsOf(whole) : before, table)
            }
            store.db.exec('DROP TRIGGER fails')
            if (failed) write()
            // The last block brings no new names, and has no traces.
            assert.ok(failed || ['name', 'signature', 'address', 'trace'].includes(table), table)
            assertSame(store, whole)
          })
        }
    })
  })

  it('for want of space says so, loses nothing, and goes on when there is some', () => {
    const whole = createTestStore(blocks, { events, run: 4 })
    const store = createTestStore(blocks.slice(0, 4), { events, run: 4 })
    using([store, whole], () => {
      const pages = store.db.pragma('page_count', { simple: true }) as number
      store.db.pragma(`max_page_count = ${pages + 2}`)
      let at = 4
      const refusals: ChainsieveError[] = []
      for (let tries = 0; at < blocks.length && tries < 60; tries++) {
        const before = contentsOf(store)
        const batch = store.prepare(blocks.slice(at, at + 4))
        while (refusals.length < 200) {
          try {
            store.writer.apply(batch)
            at += 4
            break
          } catch (error) {
            refusals.push(error as ChainsieveError)
            assert.deepStrictEqual(contentsOf(store), before)
            store.db.pragma(`max_page_count = ${pages + 2 + 3 * refusals.length}`)
          }
        }
      }
      assert.ok(refusals.length > 3, `${refusals.length} refusals`)
      for (const { next, code, message, retryAfterMs } of refusals)
        assert.deepEqual(
          { next, code, message, retryAfterMs },
          {
            next: 'retry',
            code: 'disk_full',
            message: 'the disk of the data folder is full: free some space, and indexing continues by itself',
            retryAfterMs: 5000,
          },
        )
      assertSame(store, whole)
    })
  })

  it('for want of permission says whose fault it is', () => {
    const store = createTestStore(blocks.slice(0, 2), { events })
    using([store], () => {
      const batch = store.prepare(blocks.slice(2, 4))
      store.db.pragma('query_only = ON')
      const refusal = { next: 'stop', code: 'store_readonly', message: /cannot be written to: check its owner/ }
      assert.throws(() => store.writer.apply(batch), refusal)
      assert.throws(() => store.rollback(100), refusal)
      store.db.pragma('query_only = OFF')
      store.writer.apply(batch)
      assert.equal(store.evaluate('block', { op: 'all' }).counted, 4)
    })
  })
})

describe('a reader', () => {
  it('sees one state of the store while it is written to', () => {
    const blocks = makeChain({ blocks: 20 })
    const store = createTestStore(blocks.slice(0, 15), { run: 1 })
    using([store], () => {
      store.reader.begin()
      const before = store.reader.segments()
      store.add(blocks.slice(15))
      store.rollback(3)
      const seen = before.flatMap(segment => [...store.reader.header(segment).times])
      assert.deepEqual(
        seen,
        blocks.slice(0, 15).map(({ block }) => Number(block.timestamp)),
      )
      const documents = store.documents.load('block', [blockOf(0), 14 * 2 ** 22])
      assert.deepEqual(
        documents.map(document => document!._id),
        [blocks[0]!.block.hash, blocks[14]!.block.hash],
      )
      store.reader.end()
      assert.equal(store.evaluate('block', { op: 'all' }).counted, 4)
    })
  })
})
