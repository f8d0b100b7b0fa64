import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readShippedBlocks } from '../../../src/cluster/visibility.ts'
import { NO_NOTES } from '../../../src/engine/coverage.ts'
import { openForWriting } from '../../../src/engine/open.ts'
import { seenOf, stillThere } from '../../../src/engine/query/snapshot.ts'
import { openReader, readingIn } from '../../../src/engine/reader.ts'
import { createReplica } from '../../../src/engine/shipping/replica.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import type { Range } from '../../../src/lib/ranges.ts'
import { filterFor, filterText } from '../../../src/scopes/filter.ts'
import { coverageHeader, coverageIn } from '../../../src/search/coverage.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

const openMirror = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-mirror-'))
  const path = join(folder, 'mirror.sqlite')
  const db = openForWriting(path)
  const { take } = createReplica(db)
  const reader = openReader(path)
  t.after(() => {
    reader.close()
    db.close()
    rmSync(folder, { recursive: true })
  })
  return { db, take, reader }
}

const shelve = ({ db, writer }: TestStore, blocks: Range) => {
  const { shelf } = writer
  let batch!: ReturnType<typeof shelf.begin>
  db.transaction(() => {
    batch = shelf.begin(blocks)
  })()
  return () => db.transaction(() => shelf.commit(batch, blocks, 0))()
}

test('a mirror shows what the store does whose state it takes', t => {
  const store = createTestStore()
  t.after(() => store.close())
  const { db, take, reader } = openMirror(t)
  const told = () => createShippedReader(store.db).shared()
  const shown = () => createShippedReader(db).visible()
  const unheard = (committed: number) => ({
    batches: { from: committed + 1, to: Number.MAX_SAFE_INTEGER },
    ...{ above: -1, butTokens: true },
  })
  store.add(demoBlocks().slice(0, 120))
  take(told())
  assert.deepEqual(shown(), { ranges: [], hidden: [unheard(0)] })

  shelve(store, { from: 0, to: 79 })()
  const end = shelve(store, { from: 80, to: 99 })
  take(told())
  const { committed } = told()
  assert.deepEqual(shown().ranges, [{ from: 0, to: 79 }])
  assert.deepEqual(shown().hidden, createShippedReader(store.db).visible().hidden)
  end()
  take(told())
  assert.deepEqual(shown(), { ranges: [{ from: 0, to: 99 }], hidden: [unheard(committed)] })

  // Cursors go by the hashes of blocks, which the mirror knows as the store does.
  const seenBy = (of: typeof reader) => {
    of.begin()
    try {
      return seenOf([[0, 99]], of)
    } finally {
      of.end()
    }
  }
  const seen = seenBy(reader)
  assert.deepEqual(seen, seenBy(store.reader))

  store.rollback(90)
  take(told())
  assert.deepEqual(shown().ranges, [{ from: 0, to: 90 }])
  reader.begin()
  assert.deepEqual(stillThere(seen, reader), [[0, 90]])
  reader.end()
})

test('a store that holds blocks becomes no mirror', t => {
  const store = createTestStore()
  t.after(() => store.close())
  store.add(demoBlocks().slice(0, 3))
  assert.throws(() => createReplica(store.db), { code: 'store_not_mirror', next: 'stop' })
})

test('a mirror shows what scopes cover as the store does, where it is told', t => {
  const chain = demoBlocks()
  const store = createTestStore(chain.slice(0, 3))
  t.after(() => store.close())
  const partial = chain.slice(3, 6).map(raw => ({ ...raw, partial: true as const }))
  const covered = [
    { filter: filterText(filterFor(['0xAA', '0xbb'], [])), from: 0, to: 9 },
    { filter: filterText(filterFor(['0xaa'], ['0x01'])), from: 4, to: 7 },
  ]
  const notes = { ...NO_NOTES, covered }
  store.writer.replace({ batches: [store.prepare(partial)], replaces: [], notes })
  shelve(store, { from: 0, to: 5 })()
  const { take, reader } = openMirror(t)
  const told = createShippedReader(store.db).shared()
  assert.deepEqual(told.whole, [{ from: 0, to: 2 }])
  // As an older version tells it.
  assert.throws(() => take({ ...told, whole: undefined }), { code: 'cluster_scopes' })
  take({ ...told, coverage: coverageIn(store) })

  const shelved = [{ from: 0, to: 5 }]
  const shown = (of: typeof reader) => [readingIn(of)(() => coverageHeader(of)), readShippedBlocks(of, shelved)]
  assert.deepEqual(shown(reader), shown(store.reader))
  assert.equal(shown(reader)[0], 'partial; whole=0-2; filters=2; looked=0-9')
  take({ ...told, ranges: [{ from: 0, to: 2 }], isPartial: undefined, whole: undefined })
  assert.deepEqual(shown(reader), [undefined, { ranges: [{ from: 0, to: 2 }] }])
})
