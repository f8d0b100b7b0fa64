import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RuleMatch } from '../../src/alerts/alert.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { createMarks, type FinalityMarks, type MarkedBlock } from '../../src/alerts/marks.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createCoverageWriter } from '../../src/engine/coverage.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const RULES = [
  { rule: 1, confirmations: 'safe' },
  { rule: 2, confirmations: 'finalized' },
  { rule: 3, confirmations: 1 },
] as const

const numberOf = ({ block }: RawBlock) => Number(block.number)
const markOf = (raw: RawBlock): MarkedBlock => ({ number: numberOf(raw), hash: raw.block.hash })

const hitsIn = ({ block }: RawBlock): RuleMatch[] =>
  RULES.map(rule => ({
    ...rule,
    revision: 1,
    targetType: 'Block',
    notifyPending: false,
    block: Number(block.number),
    blockHash: block.hash,
    entity: { _id: block.hash, _type: 'block' },
    source: '{}',
    receivedAt: 5,
  }))

const setUp = () => {
  const store = createTestStore()
  const alertStore = createAlertStore(store.db)
  const outbox = openOutbox(store.path)
  return {
    put: (block: RawBlock) =>
      store.writer.apply(store.prepare([block]), () => alertStore.stored({ hits: hitsIn(block) })),
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    tell: (marks: FinalityMarks) => store.writer.also(() => alertStore.stored({ hits: [], marks })),
    /** Blocks whose alerts have fired, of one rule. */
    fired: (rule: number) =>
      outbox
        .alerts(rule, { size: 1000, state: 'confirmed' })
        .map(({ alert }) => alert.blockHash)
        .reverse(),
    one: () => outbox.alerts(2, { size: 1 })[0]!.alert,
    /** Notes a header that was looked at for scopes, and that holds nothing. */
    look: ({ block }: RawBlock) => {
      const looked = [{ number: Number(block.number), hash: block.hash, parentHash: block.parentHash }]
      store.writer.also(() => createCoverageWriter(store.db).note({ covered: [], looked, children: [] }))
    },
    outbox,
  }
}

test('alerts that wait for a mark fire for all blocks up to it, and say so', () => {
  const { put, tell, fired, one } = setUp()
  const chain = makeChain({ blocks: 6, from: 10 })
  const hashes = chain.map(({ block }) => block.hash)
  for (const block of chain) put(block)
  assert.deepEqual([fired(1), fired(2), fired(3)], [[], [], hashes.slice(0, 5)])
  assert.deepEqual([one().confirmations, one().state], ['finalized', 'pending'])
  tell({ safe: markOf(chain[3]!), finalized: markOf(chain[1]!), depth: 1 })
  assert.deepEqual([fired(1), fired(2)], [hashes.slice(0, 4), hashes.slice(0, 2)])
  tell({ safe: markOf(chain[5]!), finalized: markOf(chain[5]!), depth: 1 })
  assert.deepEqual([fired(1), fired(2)], [hashes, hashes])
})

test('a mark of another branch, or above what is stored, confirms nothing until its block is the stored one', () => {
  const { put, back, tell, fired } = setUp()
  const chain = makeChain({ blocks: 4, from: 10 })
  const other = makeChain({ blocks: 4, parent: chain[1]!, salt: 'other' })
  for (const block of chain) put(block)
  tell({ safe: markOf(other[3]!), finalized: markOf(other[0]!), depth: 1 })
  assert.deepEqual([fired(1), fired(2)], [[], []])
  back(11)
  for (const block of other.slice(0, 3)) put(block)
  const hashes = [...chain.slice(0, 2), ...other].map(({ block }) => block.hash)
  assert.deepEqual([fired(1), fired(2)], [hashes.slice(0, 3), hashes.slice(0, 3)])
  put(other[3]!)
  assert.deepEqual([fired(1), fired(2)], [hashes, hashes.slice(0, 3)])
})

test('where no node tells a mark, blocks wait for the depth', () => {
  const { put, tell, fired } = setUp()
  const chain = makeChain({ blocks: 6, from: 10 })
  for (const block of chain) put(block)
  tell({ safe: null, finalized: null, depth: 4 })
  assert.deepEqual([fired(1).length, fired(2).length], [2, 2])
  // What is not safe yet is not final, and what is final is safe.
  tell({ safe: markOf(chain[2]!), finalized: null, depth: 1 })
  assert.deepEqual([fired(1).length, fired(2).length], [3, 3])
  tell({ safe: null, finalized: markOf(chain[5]!), depth: 4 })
  assert.deepEqual([fired(1).length, fired(2).length], [6, 6])
})

test('random branches and marks: a mark reaches all blocks that were marked while they were there', () => {
  const mark = fc.option(fc.record({ of: fc.nat(9), other: fc.boolean() }))
  const steps = fc.array(
    fc.record({
      back: fc.integer({ min: 0, max: 3 }),
      forth: fc.integer({ min: 0, max: 4 }),
      told: fc.option(fc.record({ safe: mark, finalized: mark })),
    }),
    { minLength: 1, maxLength: 12 },
  )
  const DEPTH = 2
  fc.assert(
    fc.property(steps, steps => {
      /** Hashes of the stored blocks, from block 0 on; each is made once. */
      const chain: string[] = []
      let made = 0
      const newest = () => chain.length - 1
      const marks = createMarks({ blocks: { hash: number => chain[number], floor: () => 0 }, newest })
      let told: FinalityMarks | undefined
      const bySafe = new Set<string>()
      const byFinalized = new Set<string>()
      const isIn = {
        safe: (hash: string, isDeep: boolean): boolean =>
          (told!.safe ? bySafe.has(hash) : isDeep) || isIn.finalized(hash, isDeep),
        finalized: (hash: string, isDeep: boolean): boolean =>
          told!.finalized ? byFinalized.has(hash) : isDeep && (!told!.safe || bySafe.has(hash)),
      }
      const compare = () => {
        const reached = marks.reached()
        if (!told) return assert.deepEqual(reached, [])
        for (const [tag, set] of [
          ['safe', bySafe],
          ['finalized', byFinalized],
        ] as const)
          for (const hash of chain.slice(0, chain.indexOf(told[tag]?.hash ?? '') + 1)) set.add(hash)
        for (const tag of ['safe', 'finalized'] as const) {
          const height = reached.find(([name]) => name === tag)?.[1] ?? -1
          const expected = chain.filter((hash, i) => isIn[tag](hash, i <= newest() - DEPTH))
          assert.deepEqual(chain.slice(0, height + 1), expected, tag)
        }
      }
      for (const step of steps) {
        if (step.back > 0) {
          for (const hash of chain.splice(-step.back)) for (const set of [bySafe, byFinalized]) set.delete(hash)
          marks.lost(newest())
        }
        for (let i = 0; i < step.forth; i++) {
          chain.push(`block ${made++}`)
          compare()
        }
        if (!step.told) continue
        const toMark = (asked: { of: number; other: boolean } | null): MarkedBlock | null =>
          asked && { number: asked.of, hash: asked.other ? 'another branch' : (chain[asked.of] ?? 'not there yet') }
        told = { safe: toMark(step.told.safe), finalized: toMark(step.told.finalized), depth: DEPTH }
        marks.tell(told)
        compare()
      }
    }),
    { numRuns: 2_000, seed: 5 },
  )
})

test('a mark holds for a block of which scopes want nothing: its header was looked at', () => {
  const { put, look, tell, fired } = setUp()
  const [wanted, empty] = makeChain({ blocks: 2 }) as [RawBlock, RawBlock]
  const [other] = makeChain({ blocks: 1, parent: wanted, salt: 'other' }) as [RawBlock]
  put(wanted)
  look(empty)
  const finalized = (raw: RawBlock) => tell({ safe: markOf(raw), finalized: markOf(raw), depth: 64 })
  finalized(other)
  assert.deepEqual(fired(2), [])
  finalized(empty)
  assert.deepEqual(fired(2), [wanted.block.hash])
})
