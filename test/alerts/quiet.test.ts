import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { RuleMatch } from '../../src/alerts/alert.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { createAlertPruning } from '../../src/alerts/marks.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { quietOf } from '../../src/rules/notify/quiet.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

type Span = { blocks: number } | { seconds: number }

const setUp = () => {
  const store = createTestStore()
  let alertStore = createAlertStore(store.db, () => 1)
  const outbox = openOutbox(store.path)
  return {
    db: store.db,
    put: (block: RawBlock, hits: readonly RuleMatch[] = []) =>
      store.writer.apply(store.prepare([block]), () => alertStore.stored({ hits })),
    late: (hits: readonly RuleMatch[]) => store.writer.also(() => alertStore.stored({ hits })),
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    restart: () => {
      alertStore = createAlertStore(store.db, () => 1)
    },
    alive: () =>
      outbox
        .alerts(1, { size: 1_000 })
        .flatMap(({ alert }) => (alert.state === 'retracted' ? [] : [`${alert.block} ${alert.entity._id}`]))
        .sort(),
    told: () => outbox.after(0, 1_000).map(({ type, alert }) => `${type} ${alert.block}`),
  }
}

const matchIn = ({ block }: RawBlock, key: string, span: Span, n = 0): RuleMatch => ({
  ...{ rule: 1, revision: 1, targetType: 'Event', confirmations: 0, notifyPending: false, receivedAt: 5, source: '{}' },
  block: Number(block.number),
  blockHash: block.hash,
  entity: { _id: `${key}_e_${n}`, _type: 'event' },
  quiet: { key, ...span },
})

const timed = (chain: readonly RawBlock[], times: readonly number[]): RawBlock[] =>
  chain.map((raw, i) => ({ ...raw, block: { ...raw.block, timestamp: `0x${times[i]!.toString(16)}` } }))

describe('quiet', () => {
  it('lets one alert of a key through, and the next when so many blocks have gone by', () => {
    const { put, alive } = setUp()
    for (const block of makeChain({ blocks: 8, from: 10 }))
      put(block, [matchIn(block, 'a', { blocks: 3 }), matchIn(block, 'a', { blocks: 3 }, 1)])
    assert.deepEqual(alive(), ['10 a_e_0', '13 a_e_0', '16 a_e_0'])
  })

  it('counts seconds of the chain, and each key and rule by itself', () => {
    const { put, alive } = setUp()
    const chain = timed(makeChain({ blocks: 5, from: 10 }), [100, 130, 159, 160, 400])
    const span = { seconds: 60 }
    for (const [i, block] of chain.entries())
      put(block, [matchIn(block, 'a', span), ...(i === 2 ? [matchIn(block, 'b', span)] : [])])
    assert.deepEqual(alive(), ['10 a_e_0', '12 b_e_0', '13 a_e_0', '14 a_e_0'])
  })

  it('begins anew for a rule that matches otherwise', () => {
    const { put, late, alive } = setUp()
    const [block] = makeChain({ blocks: 1, from: 10 }) as [RawBlock]
    put(block, [matchIn(block, 'a', { blocks: 3 })])
    late([{ ...matchIn(block, 'a', { blocks: 3 }, 1), revision: 2 }])
    assert.deepEqual(alive(), ['10 a_e_0', '10 a_e_1'])
  })

  it('takes back nothing for a match that is found late', () => {
    const { put, late, alive, told } = setUp()
    const chain = makeChain({ blocks: 10, from: 10 })
    for (const [i, block] of chain.entries()) put(block, i === 5 ? [matchIn(block, 'a', { blocks: 3 })] : [])
    late([2, 3, 4, 6].map(i => matchIn(chain[i]!, 'a', { blocks: 3 })))
    late([0, 1].map(i => matchIn(chain[i]!, 'a', { blocks: 3 })))
    assert.deepEqual(alive(), ['12 a_e_0', '15 a_e_0'])
    assert.deepEqual(told(), ['confirmed 15', 'confirmed 12'])
  })

  it('is the same whatever the chain and the program went through', () => {
    const place = fc.record({
      keys: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
      passes: fc.constantFrom(0, 1, 5, 12, 60),
    })
    const step = fc.record({
      back: fc.integer({ min: 0, max: 4 }),
      forth: fc.array(place, { maxLength: 5 }),
      seed: fc.nat(2),
      restarts: fc.boolean(),
      again: fc.boolean(),
    })
    const span = fc.oneof(
      fc.integer({ min: 1, max: 5 }).map(blocks => ({ blocks })),
      fc.constantFrom(1, 5, 13, 60).map(seconds => ({ seconds })),
    )
    fc.assert(
      fc.property(span, fc.array(step, { minLength: 1, maxLength: 8 }), (span, steps) => {
        const { put, back, late, restart, alive } = setUp()
        const chain: { raw: RawBlock; time: number; hits: RuleMatch[] }[] = []
        const grow = (bare: RawBlock, keys: readonly string[], time: number) => {
          const [raw] = timed([bare], [time]) as [RawBlock]
          const hits = keys.map((key, n) => matchIn(raw, key, span, n))
          put(raw, hits)
          chain.push({ raw, time, hits })
        }
        grow(makeChain({ blocks: 1, from: 1 })[0]!, ['a'], 100)
        for (const { back: count, forth, seed, restarts, again } of steps) {
          if (count > 0 && count < chain.length) {
            chain.splice(-count)
            back(Number(chain.at(-1)!.raw.block.number))
          }
          if (restarts) restart()
          for (const { keys, passes } of forth) {
            const { raw, time } = chain.at(-1)!
            grow(makeChain({ blocks: 1, parent: raw, salt: `branch ${seed}` })[0]!, keys, time + passes)
          }
          // History may be searched for what was matched already.
          if (again) late(chain.flatMap(({ hits }) => hits))
        }
        const expected: string[] = []
        const last = new Map<string, { block: number; time: number }>()
        for (const { raw, time, hits } of chain)
          for (const { entity, quiet } of hits) {
            const [block, before] = [Number(raw.block.number), last.get(quiet!.key)]
            const since = before && ('blocks' in span ? block - before.block : time - before.time)
            if (since !== undefined && since < ('blocks' in span ? span.blocks : span.seconds)) continue
            last.set(quiet!.key, { block, time })
            expected.push(`${block} ${entity._id}`)
          }
        assert.deepEqual(alive(), expected.sort())
      }),
      { numRuns: 150, seed: 5 },
    )
  })

  it('forgets what no rule can be quiet for', () => {
    const { put, db } = setUp()
    const chain = timed(makeChain({ blocks: 2, from: 10 }), [100, 200])
    for (const block of chain) put(block, [matchIn(block, 'a', { blocks: 1 })])
    const count = db.prepare('SELECT count(*) FROM quiet').pluck()
    const prune = () => {
      const pruning = createAlertPruning(db).begin({ before: 0, taken: 0 })
      while (pruning.step());
    }
    prune()
    assert.equal(count.get(), 2)
    db.prepare('UPDATE quiet SET block = block - 1000000, time = time - 2592000 WHERE block = 10').run()
    prune()
    assert.equal(count.get(), 1)
  })
})

describe('the key of a match', () => {
  const source = JSON.stringify({
    address: '0xAb',
    args: [
      { name: 'to', pos: 0, value: '0xFf' },
      { name: 'id', pos: 1, value: { hex: `0x${'f'.repeat(64)}`, type: 'uint256' } },
    ],
  })
  const keyOf = (by?: string[]) =>
    quietOf(
      { targetType: 'Event', targetMap: [], alerts: [], notify: { quiet: { ...(by && { by }), blocks: 5 } } },
      source,
    )

  it('has the values of its fields, exactly', () => {
    assert.deepEqual(keyOf(['args.to', 'address']), { key: '["0xFf","0xAb"]', blocks: 5, seconds: undefined })
    assert.equal(keyOf(['args.id'])!.key, JSON.stringify([String(2n ** 256n - 1n)]))
    assert.equal(keyOf(['args.none'])!.key, '[""]')
    assert.equal(keyOf()!.key, '[]')
  })

  it('is asked for by rules with quiet alone', () => {
    assert.equal(quietOf({ targetType: 'Event', targetMap: [], alerts: [] }, source), undefined)
    assert.equal(quietOf({ targetType: 'Event', targetMap: [], alerts: [], notify: {} }, source), undefined)
  })
})
