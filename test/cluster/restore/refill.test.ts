import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { createOffloadedReader } from '../../../src/engine/shipping/restore-offloaded.ts'
import { verifyContents } from '../../../src/engine/verify.ts'
import { CONTENTS } from '../../answers/stores.ts'
import { emptyStore, refill } from '../../support/returning.ts'
import { documentsIn } from '../../support/ship.ts'
import type { TestStore } from '../../support/store.ts'

for (const content of ['odd', 'full', 'calls', 'redecoded', 'scenario'])
  test(`documents come back as they were: ${content}`, async t => {
    const [open] = Object.values(CONTENTS[content]!)
    const store = await open!()
    t.after(() => {
      store.reader.close()
      store.endWriting()
      rmSync(dirname(store.path), { recursive: true })
    })
    const before = documentsIn(store)
    const contents = contentsOf(store)
    emptyStore(store)
    assert.ok(createOffloadedReader(store.db).left().emptied > 0)
    refill(store, before, 200)
    assert.deepEqual(documentsIn(store), before)
    assert.deepEqual(contentsOf(store), contents)
    store.endWriting()
    assert.deepEqual(
      faultsOf(store.path).filter(fault => !MADE_UP.test(fault)),
      [],
    )
  })

/** Blocks that do not link, and an event whose name no search finds. */
const MADE_UP = /names another parent than|is not found by its event\.raw$/

/** What stays in a store as it is. */
const contentsOf = ({ db }: TestStore) =>
  Object.fromEntries(
    ['contract', 'token', 'link', 'upgrade', 'code'].map(table => [table, db.prepare(`SELECT * FROM ${table}`).all()]),
  )

const faultsOf = (path: string): string[] => {
  for (const steps = verifyContents(path, true); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
