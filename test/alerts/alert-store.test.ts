import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OutboxEntry, RuleMatch } from '../../src/alerts/alert.ts'
import { alertId, createAlertStore, OF_STATE, readScans } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const hitIn = ({ block }: RawBlock, rest: Partial<RuleMatch> = {}): RuleMatch => ({
  rule: 1,
  revision: 1,
  targetType: 'Block',
  confirmations: 0,
  notifyPending: false,
  block: Number(block.number),
  blockHash: block.hash,
  entity: { _id: block.hash, _type: 'block' },
  source: `{"hash":"${block.hash}"}`,
  receivedAt: 5,
  ...rest,
})

const setUp = () => {
  let time = 1000
  const store = createTestStore()
  const alertStore = createAlertStore(store.db, () => time++)
  const outbox = openOutbox(store.path)
  return {
    ...store,
    chain: store.db.prepare("SELECT value FROM meta WHERE key = 'chain_id'").pluck(),
    alertStore,
    outbox,
    put(block: RawBlock, hits: readonly RuleMatch[] = [], update = {}) {
      const batch = store.prepare([block])
      store.writer.apply(batch, () => alertStore.stored({ hits, ...update }))
    },
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    also: (update: Parameters<typeof alertStore.stored>[0]) => store.writer.also(() => alertStore.stored(update)),
    told: () => outbox.after(0, 1000).map(({ type, alert }) => `${type} ${alert.block}/${alert.rule}`),
    states: (rule = 1) =>
      outbox
        .alerts(rule, { size: 1000 })
        .map(({ alert }) => `${alert.block} ${alert.state}`)
        .reverse(),
  }
}

/** Another branch on the same parent. */
const branch = (parent: RawBlock, count: number, seed: number): RawBlock[] =>
  makeChain({ blocks: count, parent, salt: `branch ${seed}` })

test('an alert that asks for no confirmation fires with its block, and is told whole', () => {
  const { put, outbox, chain } = setUp()
  const [block] = makeChain({ blocks: 1 }) as [RawBlock]
  const hit = hitIn(block)
  put(block, [hit])
  const { notifyPending: _, ...kept } = hit
  assert.deepEqual(outbox.after(0, 10), [
    { n: 1, type: 'confirmed', alert: { ...kept, id: alertId(hit, chain.get()), state: 'confirmed', changedAt: 1000 } },
  ] satisfies OutboxEntry[])
  assert.deepEqual(outbox.after(1, 10), [])
})

test('an alert waits for the blocks above it that its rule asks for', () => {
  const { put, told, states } = setUp()
  const chain = makeChain({ blocks: 5, from: 10 })
  put(chain[0]!, [hitIn(chain[0]!, { confirmations: 3 })])
  put(chain[1]!)
  put(chain[2]!)
  assert.deepEqual([told(), states()], [[], ['10 pending']])
  put(chain[3]!)
  assert.deepEqual([told(), states()], [['confirmed 10/1'], ['10 confirmed']])
  put(chain[4]!)
  assert.deepEqual(told(), ['confirmed 10/1'])
})

test('a pending alert whose block is lost never fires, one that fired is retracted, and the new branch is matched anew', () => {
  const { put, back, told, states } = setUp()
  const chain = makeChain({ blocks: 3, from: 10 })
  put(chain[0]!, [hitIn(chain[0]!)])
  put(chain[1]!, [hitIn(chain[1]!), hitIn(chain[1]!, { rule: 2, confirmations: 2 })])
  put(chain[2]!)
  back(10)
  assert.deepEqual(states(), ['10 confirmed', '11 retracted'])
  assert.deepEqual(states(2), ['11 withdrawn'])
  for (const block of branch(chain[0]!, 3, 77)) put(block, [hitIn(block, { rule: 2, confirmations: 2 })])
  assert.deepEqual(told(), ['confirmed 10/1', 'confirmed 11/1', 'retracted 11/1', 'confirmed 11/2'])
  assert.deepEqual(states(2), ['11 withdrawn', '11 confirmed', '12 pending', '13 pending'])
})

test('when the chain comes back to a block that it had left, its alerts live again under their ids', () => {
  const { put, back, told, outbox } = setUp()
  const chain = makeChain({ blocks: 3, from: 10 })
  put(chain[0]!)
  put(chain[1]!, [hitIn(chain[1]!), hitIn(chain[1]!, { rule: 2, confirmations: 1 })])
  const before = outbox.alerts(1, { size: 1 })[0]!.alert.id
  back(10)
  put(chain[1]!, [hitIn(chain[1]!), hitIn(chain[1]!, { rule: 2, confirmations: 1 })])
  put(chain[2]!)
  assert.deepEqual(told(), ['confirmed 11/1', 'retracted 11/1', 'confirmed 11/1', 'confirmed 11/2'])
  assert.equal(outbox.alerts(1, { size: 1 })[0]!.alert.id, before)
})

test('a token is told of once, whichever block turns out to have shown it first', () => {
  const { put, back, told, states, outbox } = setUp()
  const chain = makeChain({ blocks: 9, from: 10 })
  const seenIn = (block: RawBlock, rest: Partial<RuleMatch> = {}) =>
    hitIn(block, { targetType: 'Token', entity: { _id: '0x70', _type: 'token' }, ...rest })
  const both = (block: RawBlock) => [seenIn(block), seenIn(block, { rule: 2, confirmations: 3 })]
  put(chain[8]!, both(chain[8]!))
  put(chain[2]!, both(chain[2]!))
  put(chain[5]!, both(chain[5]!))
  assert.deepEqual(told(), ['confirmed 12/1', 'confirmed 12/2'])
  assert.deepEqual([states(), states(2)], [['12 confirmed'], ['12 confirmed']])
  const { alert } = outbox.alerts(1, { size: 1 })[0]!
  assert.deepEqual([alert.blockHash, alert.source], [chain[2]!.block.hash, seenIn(chain[2]!).source])
  // It is on the chain still when the block that it was first found in is not.
  back(15)
  assert.deepEqual(states(), ['12 confirmed'])
  back(11)
  assert.deepEqual([states(), states(2)], [['12 retracted'], ['12 retracted']])
  const [other] = branch(chain[1]!, 1, 5) as [RawBlock]
  put(other, both(other))
  assert.deepEqual([states(), states(2)], [['12 confirmed'], ['12 pending']])
  assert.equal(outbox.alerts(1, { size: 1 })[0]!.alert.blockHash, other.block.hash)
})

test('the same hit found again, as by a look back into history, is the same alert', () => {
  const { put, also, told, states } = setUp()
  const [block] = makeChain({ blocks: 1, from: 10 }) as [RawBlock]
  put(block, [hitIn(block)])
  also({ hits: [hitIn(block)], scans: [{ rule: 1, start: 10, next: 11, last: 10 }] })
  assert.deepEqual([told(), states()], [['confirmed 10/1'], ['10 confirmed']])
})

test('what was found in a block that is no longer stored is not taken up', () => {
  const { put, also, told, states } = setUp()
  const [block] = makeChain({ blocks: 1, from: 10 }) as [RawBlock]
  put(block)
  also({ hits: [hitIn(block, { blockHash: `0x${'ab'.repeat(32)}` }), hitIn(block, { block: 11 })] })
  assert.deepEqual([told(), states()], [[], []])
})

test('a paused rule keeps its pending alerts and fires them when it goes on; a reorganisation takes them still', () => {
  const { put, back, told, states } = setUp()
  const chain = makeChain({ blocks: 6, from: 10 })
  const wait = { confirmations: 1 }
  put(chain[0]!, [hitIn(chain[0]!, wait)], { paused: [1] })
  put(chain[1]!)
  put(chain[2]!, [hitIn(chain[2]!, wait)])
  put(chain[3]!, [hitIn(chain[3]!, { ...wait, rule: 2 })])
  assert.deepEqual(states(), ['10 pending', '12 pending'])
  back(11)
  assert.deepEqual(states(), ['10 pending', '12 withdrawn'])
  put(branch(chain[1]!, 1, 5)[0]!, [], { paused: [] })
  assert.deepEqual([told(), states()], [['confirmed 10/1'], ['10 confirmed', '12 withdrawn']])
})

test('the pending alerts of a rule that is no more are withdrawn without a word', () => {
  const { put, told, states } = setUp()
  const chain = makeChain({ blocks: 3, from: 10 })
  const wait = { confirmations: 1, notifyPending: true }
  put(chain[0]!, [hitIn(chain[0]!, wait), hitIn(chain[0]!, { ...wait, rule: 2 })])
  put(chain[1]!, [], { gone: [1] })
  assert.deepEqual(
    [told(), states(), states(2)],
    [['pending 10/1', 'pending 10/2', 'confirmed 10/2'], ['10 withdrawn'], ['10 confirmed']],
  )
})

test('who is told of pending alerts is told when they are lost', () => {
  const { put, back, told } = setUp()
  const chain = makeChain({ blocks: 2, from: 10 })
  put(chain[0]!)
  put(chain[1]!, [hitIn(chain[1]!, { confirmations: 5, notifyPending: true })])
  back(10)
  assert.deepEqual(told(), ['pending 11/1', 'retracted 11/1'])
})

test('alerts are listed by rule, the newest first, page by page and by state', () => {
  const { put, outbox } = setUp()
  const chain = makeChain({ blocks: 4, from: 10 })
  for (const block of chain) put(block, [hitIn(block, { confirmations: 2 }), hitIn(block, { rule: 2 })])
  const blocks = (page: Parameters<typeof outbox.alerts>[1]) => outbox.alerts(1, page).map(({ alert }) => alert.block)
  assert.deepEqual(blocks({ size: 3 }), [13, 12, 11])
  const last = outbox.alerts(1, { size: 3 }).at(-1)!.n
  assert.deepEqual(blocks({ size: 3, before: last }), [10])
  assert.deepEqual(blocks({ size: 9, state: 'pending' }), [13, 12])
  assert.deepEqual(blocks({ size: 9, state: 'retracted' }), [])
})

test('random branches and hits: what was told last of each alert is what the chain says', () => {
  // A hit of rule r is in every block whose number is divisible by r.
  const rules = [1, 2, 3].map(rule => ({ rule, confirmations: rule - 1, notifyPending: rule === 3 }))
  const steps = fc.array(
    fc.record({ back: fc.integer({ min: 0, max: 4 }), forth: fc.integer({ min: 0, max: 5 }), seed: fc.nat(3) }),
    { minLength: 1, maxLength: 8 },
  )
  fc.assert(
    fc.property(steps, steps => {
      const { put, back, outbox, chain: id } = setUp()
      const chain: RawBlock[] = []
      const hits = (block: RawBlock) =>
        rules.filter(({ rule }) => Number(block.block.number) % rule === 0).map(rule => hitIn(block, rule))
      // What fired stays so while its block is there, even when the head falls back to less than it asked for.
      const fired = new Set<string>()
      const grow = (block: RawBlock) => {
        put(block, hits(block))
        chain.push(block)
        const head = Number(block.block.number)
        for (const hit of chain.flatMap(hits))
          if (hit.block + Number(hit.confirmations) <= head) fired.add(alertId(hit, id.get()))
      }
      for (const block of makeChain({ blocks: 3, from: 1 })) grow(block)
      for (const step of steps) {
        if (step.back > 0 && step.back < chain.length) {
          for (const hit of chain.splice(-step.back).flatMap(hits)) fired.delete(alertId(hit, id.get()))
          back(Number(chain.at(-1)!.block.number))
        }
        for (const block of branch(chain.at(-1)!, step.forth, step.seed)) grow(block)
      }
      const last = new Map(outbox.after(0, 10_000).map(({ type, alert }) => [alert.id, type]))
      const ending = (wanted: OutboxEntry['type']) =>
        new Set([...last].filter(([, type]) => type === wanted).map(([id]) => id))
      assert.deepEqual(ending('confirmed'), fired)
      const told = chain.flatMap(hits).filter(({ notifyPending }) => notifyPending)
      const waiting = told.map(hit => alertId(hit, id.get())).filter(id => !fired.has(id))
      assert.deepEqual(ending('pending'), new Set(waiting))
    }),
    { numRuns: 60, seed: 11 },
  )
})

test('a reorganisation takes back where a rule reads state, and what is told late of a lost block moves it nowhere', () => {
  const { put, back, also, db } = setUp()
  const chain = makeChain({ blocks: 3, from: 10 }) as [RawBlock, RawBlock, RawBlock]
  for (const block of chain) put(block)
  const nextOf = () => [...readScans(db).values()].map(({ rule, next }) => `${rule} ${next}`)
  const readTo = (block: RawBlock) => {
    const number = Number(block.block.number)
    const read = { block: number, hash: block.block.hash }
    also({ hits: [], scans: [{ rule: 1, start: 10, next: number + 1, last: OF_STATE, read }] })
  }
  also({ hits: [], scans: [{ rule: 2, start: 10, next: 13, last: 12 }] })
  for (const block of chain) readTo(block)
  assert.deepEqual(nextOf(), ['1 13', '2 13'])
  back(10)
  assert.deepEqual(nextOf(), ['1 11', '2 13'])
  put(branch(chain[0], 1, 1)[0]!)
  readTo(chain[1])
  assert.deepEqual(nextOf(), ['1 11', '2 13'])
})
