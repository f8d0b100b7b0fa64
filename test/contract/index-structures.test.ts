import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SegmentBatch } from '../../src/engine/documents/batch.ts'
import { decodeColumn } from '../../src/engine/index/column-codec.ts'
import { createColumnStructure, describeColumn } from '../../src/engine/index/columns-structure.ts'
import { readPointColumn } from '../../src/engine/index/points.ts'
import { createPointStructure } from '../../src/engine/index/points-structure.ts'
import { createPostingsReader } from '../../src/engine/index/postings-reader.ts'
import { createPostingStructure } from '../../src/engine/index/postings-structure.ts'
import { FULL_LEVEL } from '../../src/engine/index/segments.ts'
import type { IndexStructure, Ordinals, SegmentPart } from '../../src/engine/index/structure.ts'
import { byKind, COUNTED_KINDS } from '../../src/mapping/index.ts'
import type { Db } from '../../src/sqlite/database.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

/** What every structure of the index does, with its own way to read back what a segment holds. */
const STRUCTURES: Record<string, { create(db: Db): IndexStructure; contents(db: Db, segment: number): unknown[] }> = {
  postings: {
    create: createPostingStructure,
    contents(db, segment) {
      const reader = createPostingsReader(db)
      reader.keep([{ id: segment, revised: 0 }])
      return reader.within(segment, 0, Number.MAX_SAFE_INTEGER).map(posting => {
        const { term, fingerprint, n } = posting
        return { term, fingerprint, n, ordinals: [...reader.ordinals(posting)] }
      })
    },
  },
  points: {
    create: createPointStructure,
    contents: (db, segment) =>
      (
        db.prepare('SELECT field, vals, ords FROM num WHERE segment = ? ORDER BY field').raw().all(segment) as Row[]
      ).map(([field, values, ordinals]) => {
        const column = readPointColumn(field, values, ordinals!)
        // Documents with the same value stand in any order.
        const pairs = [...column.ordinals].map((ordinal, i) => [column.values[i]!, ordinal] as const)
        return { field, pairs: pairs.sort(([a, i], [b, j]) => (a < b ? -1 : a > b ? 1 : i - j)) }
      }),
  },
  columns: {
    create: createColumnStructure,
    contents: (db, segment) =>
      (db.prepare('SELECT field, data FROM col WHERE segment = ? ORDER BY field').raw().all(segment) as Row[]).map(
        ([field, bytes]) => {
          const { data: _, ...column } = { data: undefined, ...decodeColumn(bytes, describeColumn(field)) }
          return { field, ...column }
        },
      ),
  },
}
type Row = [field: number, first: Buffer, second?: Buffer]

const countsOf = (batch: SegmentBatch): Ordinals =>
  byKind(COUNTED_KINDS, kind => (kind === 'block' ? batch.last - batch.first + 1 : batch[kind]))

const demo = demoBlocks()
const busy = demo.findIndex(({ block }) => block.transactions.length > 3)
const blocks = demo.slice(busy, busy + 40)
const NONE = byKind(COUNTED_KINDS, () => 0)
const [FIRST, SECOND, BOTH] = [blocks.slice(0, 15), blocks.slice(15), blocks]

for (const [name, { create, contents }] of Object.entries(STRUCTURES))
  describe(`${name}, as every structure of the index`, () => {
    const open = (t: { after(fn: () => void): void }) => {
      // Its dictionaries have all that the blocks need, and its own segments have numbers below those of the tests.
      const store = createTestStore(BOTH)
      t.after(store.close)
      const structure = create(store.db)
      const write = (segment: number, some: typeof blocks) => {
        const batch = store.prepare(some)
        structure.build(batch)(segment)
        return countsOf(batch)
      }
      return { structure, write, holds: (segment: number) => contents(store.db, segment) }
    }

    test('holds something of a segment, under its number alone', t => {
      const { write, holds } = open(t)
      write(101, FIRST)
      assert.ok(holds(101).length > 0)
      assert.deepEqual(holds(102), [])
    })

    test('a merged segment holds what one of all blocks holds', t => {
      const { structure, write, holds } = open(t)
      const [first, second] = [write(101, FIRST), write(102, SECOND)]
      const part = (id: number, counts: Ordinals, offset: Ordinals): SegmentPart => ({
        ...{ id, offset, ...counts, level: FULL_LEVEL, events: 0, scoped: 0 },
        ...{ first: offset.block, last: offset.block + counts.block - 1 },
      })
      const run = [part(101, first, NONE), part(102, second, first)]
      for (const _ of structure.merge(103, run));
      write(104, BOTH)
      assert.deepEqual(holds(103), holds(104))
    })

    test('a truncated segment holds what one of the first blocks holds', t => {
      const { structure, write, holds } = open(t)
      const kept = write(101, FIRST)
      write(102, BOTH)
      structure.truncate(102, 103, kept)
      assert.deepEqual(holds(103), holds(101))
    })

    test('a removed segment leaves nothing, and others alone', t => {
      const { structure, write, holds } = open(t)
      write(101, FIRST)
      write(102, SECOND)
      const before = holds(102)
      while (structure.remove(101));
      assert.deepEqual(holds(101), [])
      assert.deepEqual(holds(102), before)
    })
  })
