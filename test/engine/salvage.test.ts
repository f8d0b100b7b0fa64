import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import { createRandom } from '../../scripts/lib/random.ts'
import { salvageStore } from '../../src/engine/salvage.ts'
import { blockOf } from '../../src/engine/schema.ts'
import { verifyContents } from '../../src/engine/verify.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { holds } from '../../src/lib/ranges.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { checkPages } from '../../src/sqlite/verify-pages.ts'
import { documentsOf } from '../support/contents.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const PAGE = 4096

const damagedPages = (path: string): number[] => {
  for (const steps = checkPages(path); ; ) {
    const { done, value } = steps.next()
    if (done) return value!.damaged
  }
}

const faultsOf = (path: string): string[] => {
  for (const steps = verifyContents(path, true); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const closed = async (t: TestContext) => {
  const path = await (await tempFolder(t))('network.sqlite', '')
  const store = createTestStore([], { path })
  // In segments of six blocks, which are not merged.
  for (let at = 0; at < 60; at += 6) {
    const batch = store.prepare(demoBlocks().slice(at, at + 6))
    store.writer.apply(batch)
    store.preparer.committed(batch.added)
  }
  const documents = documentsOf(store)
  const positions = new Map(KINDS.map(kind => [kind, store.positions(kind)]))
  store.close()
  return { path, documents, positions }
}

type Closed = Awaited<ReturnType<typeof closed>>

/** Salvages a store, and holds what is left against the documents that it had. */
const outcomeOf = (path: string, documents: Closed['documents'], positions: Closed['positions']) => {
  const made = `${path}-salvage`
  try {
    const { lost } = salvageStore(path, made, damagedPages(path))
    assert.deepEqual(faultsOf(made), [])
    const store = createTestStore([], { path: made })
    try {
      for (const kind of KINDS) {
        const kept = documents[kind]!.filter((_, i) => !holds(lost, blockOf(positions.get(kind)![i]!)))
        assert.deepEqual(store.all(kind), kept)
      }
    } finally {
      store.close()
    }
    return 'salvaged'
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.code === 'store_lost')) throw error
    assert.ok(error.message.startsWith(`${path}: nothing can be salvaged`))
    return 'refused'
  } finally {
    assert.equal(existsSync(`${made}-source`), false)
  }
}

describe('what is salvaged of a damaged store', () => {
  it('is all that is whole, and each document as it was, whichever page is damaged', async t => {
    const { path, documents, positions } = await closed(t)
    const whole = readFileSync(path)
    const random = createRandom()
    random.seek(31, 0, 0, 0)
    const outcomes = { salvaged: 0, refused: 0 }
    for (let round = 0; round < 8; round++) {
      const bytes = Buffer.from(whole)
      const page = 1 + random.below(whole.length / PAGE)
      for (let i = 0; i < 40; i++) bytes[(page - 1) * PAGE + random.below(PAGE)]! ^= 1 + random.below(255)
      writeFileSync(path, bytes)
      outcomes[outcomeOf(path, documents, positions)]++
    }
    t.diagnostic(JSON.stringify(outcomes))
    assert.ok(outcomes.salvaged > 2)
  })

  it('is the same of one that was cut, whose end is missing', async t => {
    const { path, documents, positions } = await closed(t)
    const whole = readFileSync(path)
    const outcomes = { salvaged: 0, refused: 0 }
    for (const bytes of [1, PAGE, PAGE + 1, 3 * PAGE, 12 * PAGE, whole.length >> 1, whole.length - PAGE]) {
      writeFileSync(path, whole.subarray(0, whole.length - bytes))
      outcomes[outcomeOf(path, documents, positions)]++
    }
    t.diagnostic(JSON.stringify(outcomes))
    assert.ok(outcomes.salvaged > 2)
  })

  it('lacks only the segment that a damaged page belongs to', async t => {
    const { path } = await closed(t)
    const db = new Database(path, { readonly: true })
    const pages = db
      .prepare("SELECT pageno FROM dbstat WHERE name = 'post' AND pagetype <> 'internal'")
      .pluck()
      .all() as number[]
    const segments = db.prepare('SELECT count(*) FROM segment').pluck().get() as number
    db.close()
    const bytes = readFileSync(path)
    bytes[(pages[pages.length >> 1]! - 1) * PAGE + 2000]! ^= 1
    writeFileSync(path, bytes)
    const { lost, lostAlerts } = salvageStore(path, `${path}-salvage`, damagedPages(path))
    assert.ok(lost.length >= 1 && lost.length <= 2 && segments > 4)
    assert.equal(lostAlerts, 0)
  })

  const pagesOf = (path: string, name: string): number[] => {
    const db = new Database(path, { readonly: true })
    try {
      return db
        .prepare<[string], number>("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'")
        .pluck()
        .all(name)
    } finally {
      db.close()
    }
  }
  const damage = (path: string, pages: readonly number[]) => {
    const bytes = readFileSync(path)
    for (const page of pages) bytes[(page - 1) * PAGE + 2000]! ^= 1
    writeFileSync(path, bytes)
  }
  /** What is there is as it was, and the rest is named. */
  const salvaged = ({ path, documents, positions }: Awaited<ReturnType<typeof closed>>) => {
    const made = `${path}-salvage`
    const { lost } = salvageStore(path, made, damagedPages(path))
    assert.deepEqual(faultsOf(made), [])
    const store = createTestStore([], { path: made })
    try {
      for (const kind of KINDS) {
        const kept = documents[kind]!.filter((_, i) => !holds(lost, blockOf(positions.get(kind)![i]!)))
        assert.deepEqual(store.all(kind), kept, kind)
      }
    } finally {
      store.close()
    }
    return lost
  }

  it('has every address and name, whichever one page of these is damaged', async t => {
    for (const table of ['address', 'name']) {
      const store = await closed(t)
      for (const page of [pagesOf(store.path, table)[1]!, pagesOf(store.path, `sqlite_autoindex_${table}_1`)[0]!]) {
        const whole = readFileSync(store.path)
        damage(store.path, [page])
        assert.deepEqual(salvaged(store), [], `page ${page} of ${table}`)
        writeFileSync(store.path, whole)
      }
    }
  })

  it('lacks the segments that name what is lost of a dictionary, and names these', async t => {
    const all = { from: 0, to: 59 }
    const outcomes: Record<string, number> = {}
    for (const [name, pages] of [
      ['signature', (path: string) => [pagesOf(path, 'signature').at(-1)!]],
      ['first signatures', (path: string) => [pagesOf(path, 'signature')[0]!]],
      ['code', (path: string) => pagesOf(path, 'code')],
      [
        'addresses twice',
        (path: string) => [pagesOf(path, 'address').at(-1)!, ...pagesOf(path, 'sqlite_autoindex_address_1')],
      ],
      ['names twice', (path: string) => [pagesOf(path, 'name').at(-1)!, ...pagesOf(path, 'sqlite_autoindex_name_1')]],
    ] as const) {
      const store = await closed(t)
      damage(store.path, pages(store.path))
      const lost = salvaged(store)
      assert.ok(lost.length > 0, `${name}: nothing is lost`)
      assert.ok(lost.every(({ from, to }) => from >= all.from && to <= all.to))
      outcomes[name] = lost.reduce((sum, { from, to }) => sum + to - from + 1, 0)
    }
    t.diagnostic(JSON.stringify(outcomes))
    assert.ok(Object.values(outcomes).some(blocks => blocks < 60))
  })
})
