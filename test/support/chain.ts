import assert from 'node:assert/strict'
import type { Document } from '../../src/documents/document.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import type { Node } from '../../src/query/ast.ts'
import { compilePredicate } from '../../src/query/predicate.ts'
import { oddBlocks, oddEvents } from './odd.ts'
import {
  createTestStore,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
  type TestStore,
  type TestStoreOptions,
} from './store.ts'

/** A store with all of its documents, by which searches of it are checked. */
export interface Chain {
  store: TestStore
  documents: Record<Kind, Document[]>
  positions: Record<Kind, number[]>
}

export const chainOf = (store: TestStore): Chain => {
  const each = <T>(read: (kind: Kind) => T) =>
    Object.fromEntries(KINDS.map(kind => [kind, read(kind)])) as Record<Kind, T>
  return { store, documents: each(store.all), positions: each(store.positions) }
}

/** Blocks of the demo chain, odd ones with a hole among them, and blocks that are stored in part. */
export const mixedStore = (
  options: TestStoreOptions,
  { demo, odd, hole, parts = 8 }: { demo: number; odd: number; hole?: number; parts?: number },
): TestStore => {
  const store = createTestStore(demoBlocks().slice(0, demo), { events: [...oddEvents, ...demoEvents()], ...options })
  const more = oddBlocks(odd, 1000)
  store.add(more.slice(0, hole))
  if (hole !== undefined) store.add(more.slice(hole + 1))
  store.add(generatedBlocks(parts).map((raw, i) => excerptOf(raw, index => index % 13 === i)))
  return store
}

/** What the store finds, and counts, is what the predicate holds for; returns how many documents these are. */
export const checkFound = (
  { store, documents, positions }: Chain,
  kind: Kind,
  node: Node,
  { holds = compilePredicate(kind, node), what = '' }: { holds?: (document: Document) => boolean; what?: string } = {},
): { count: number; asked: number } => {
  const expected = positions[kind].filter((_, i) => holds(documents[kind][i]!))
  const found = store.evaluate(kind, node)
  assert.deepStrictEqual(found.positions, expected, what || undefined)
  assert.equal(found.counted, expected.length, `count of ${what}`)
  return { count: expected.length, asked: found.asked }
}
