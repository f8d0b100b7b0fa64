import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { createUnseenBlocks } from '../../src/alerts/rebuild.ts'
import type { WindowRule } from '../../src/alerts/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { exactOf } from '../../src/query/exact.ts'
import { createEntries, type WindowEntry } from '../../src/windows/entries.ts'
import { measuresOf, reachOf, type WindowSpan, type WindowSpec } from '../../src/windows/spec.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const KEYS = ['a', 'b', 'c']
const SPECS: readonly WindowSpec[] = [
  {
    ...{ by: ['from'], within: { blocks: 7 } },
    conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '6' }],
  },
  {
    ...{ by: ['from'], keys: KEYS, within: { seconds: 60 } },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  },
  {
    within: { blocks: 9 },
    conditions: [
      { aggregate: 'Average', name: 'value', operator: 'Greater', value: '2' },
      { aggregate: 'Distinct', name: 'value', operator: 'Less or Equal', value: '3' },
    ],
  },
]
const FROM = 10
const BEGIN = 30

interface Value {
  key: string
  value: number
}

const setUp = (spec: WindowSpec, start: number, limits = { keys: 100, rows: 1_000 }) => {
  const store = createTestStore()
  const rule: WindowRule = {
    ...{ rule: 1, revision: 1, start, spec, targetType: 'Transaction', confirmations: 0 },
    ...{ notifyPending: false, notifyResolved: true, limits },
  }
  const open = () => {
    const alertStore = createAlertStore(store.db)
    store.writer.also(() => alertStore.stored({ hits: [], windows: [rule] }))
    return alertStore
  }
  let alertStore = open()
  const unseen = (...asked: [number, number, WindowSpan]) => createUnseenBlocks(store.db)(...asked)
  const matched = new Map<string, Value[]>()
  const entriesOf = (values: readonly Value[]): WindowEntry[] => {
    const entries = createEntries<Value>(measuresOf(spec), {
      id: ({ key, value }) => `${key} ${value}`,
      values: ({ value }) => [{ text: String(value), number: exactOf(BigInt(value)), unsigned: true }],
    })
    for (const one of values) entries.add(JSON.stringify(spec.by ? [one.key] : []), one)
    return entries.finish()
  }
  const chain = new Map<number, string>()
  return {
    put(raw: RawBlock, values: Value[]) {
      const { block } = raw
      matched.set(block.hash, values)
      chain.set(Number(block.number), block.hash)
      const entries = entriesOf(values)
      const source = { _type: 'tx' as const, source: '{}' }
      store.writer.apply(store.prepare([raw]), () =>
        alertStore.stored({
          hits: [],
          blocks: [
            {
              ...{ number: Number(block.number), time: Number(block.timestamp), hash: block.hash, receivedAt: 5 },
              own: { _id: block.hash, _type: 'block', source: '{}' },
              sources: [{ _id: 'tx', ...source }],
              matched: new Map([[1, 1]]),
              rules: [{ rule: 1, entries, lasts: entries.map(() => 0) }],
            },
          ],
        }),
      )
    },
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    restart() {
      alertStore = open()
    },
    gap: () => unseen(1, 1, reachOf(spec)),
    /** Fills so many blocks below those that are known; `fails`: the write is undone. */
    fill(most: number, { fails = false, hash }: { fails?: boolean; hash?: string } = {}) {
      const gap = unseen(1, 1, reachOf(spec))
      if (!gap) return
      const from = Math.max(gap.from, gap.to - most + 1)
      const numbers = Array.from({ length: gap.to - from + 1 }, (_, i) => from + i)
      const rows = numbers
        .map(number => ({ number, entries: entriesOf(matched.get(chain.get(number)!)!) }))
        .filter(({ entries }) => entries.length > 0)
      const earlier = [
        { rule: 1, revision: 1, from, to: gap.to, hash: hash ?? gap.hash, rows, isLast: from === gap.from },
      ]
      store.writer.also(() => {
        alertStore.stored({ hits: [], earlier })
        if (fails) throw new Error('the disk is full')
      })
    },
    open: () => store.db.prepare<[], string>('SELECT key FROM episode WHERE ended IS NULL ORDER BY key').pluck().all(),
    alerts: () => {
      const outbox = openOutbox(store.path)
      const all = outbox.alerts(1, { size: 1_000 }).map(({ alert }) => alert.block)
      outbox.close()
      return all
    },
  }
}

const valuesIn = (random: ReturnType<typeof createRandom>): Value[] =>
  Array.from({ length: random.chance(0.5) ? 0 : random.int(1, 2) }, () => ({
    ...{ key: random.pick(KEYS), value: random.int(1, 4) },
  }))

test('windows that are filled while blocks come are those of a rule from the beginning', () => {
  let compared = 0
  let opened = 0
  for (let seed = 1; seed <= 12; seed++) {
    const random = createRandom(seed)
    const spec = SPECS[seed % SPECS.length]!
    const [whole, late] = [setUp(spec, FROM), setUp(spec, BEGIN)]
    const chain = makeChain({ blocks: 1, from: FROM, txs: 1, logs: 0 })
    let salt = 0
    const put = (raw: RawBlock) => {
      const values = valuesIn(random)
      const isWhole = late.gap() === undefined
      const number = Number(raw.block.number)
      for (const one of [whole, late]) one.put(raw, values)
      // The window of this block was known before it came, and its first one too.
      if (!isWhole || number <= BEGIN || late.gap() !== undefined) return
      assert.deepEqual(late.open(), whole.open(), `seed ${seed}, block ${number}`)
      compared++
      opened += late.open().length
    }
    put(chain[0]!)
    const grow = () => {
      const [raw] = makeChain({ blocks: 1, parent: chain.at(-1)!, txs: 1, logs: 0, salt: String(salt++) }) as [RawBlock]
      chain.push(raw)
      put(raw)
    }
    while (chain.length < 22) grow()
    for (let step = 0; step < 60; step++) {
      const what = random.int(0, 9)
      if (what < 4) grow()
      else if (what < 6) late.fill(random.int(1, 5))
      else if (what === 6) late.restart()
      else if (what === 7)
        assert.throws(() => (late.gap() ? late.fill(3, { fails: true }) : assert.fail('disk')), /disk/)
      else if (what === 8) late.fill(2, { hash: `0x${'00'.repeat(32)}` })
      else {
        const depth = random.int(1, 6)
        chain.length -= depth
        for (const one of [whole, late]) one.back(Number(chain.at(-1)!.block.number))
        for (let i = 0; i <= depth; i++) grow()
      }
    }
    assert.ok(late.alerts().every(block => block >= BEGIN))
  }
  assert.ok(compared > 80 && opened > 30, `${compared} blocks, ${opened} open episodes`)
})

test('blocks that are not stored end what is filled, and so does the limit of rows', () => {
  const spec = SPECS[0]!
  const chain = makeChain({ blocks: 30, from: FROM, txs: 1, logs: 0 })
  const holed = setUp(spec, BEGIN)
  for (const raw of chain) if (Number(raw.block.number) !== 27) holed.put(raw, [{ key: 'a', value: 1 }])
  // The newest block is 39: the window of the next one begins at 34, so all that it needs is known.
  assert.equal(holed.gap(), undefined)
  const early = setUp(spec, 38)
  for (const raw of chain) if (Number(raw.block.number) !== 36) early.put(raw, [{ key: 'a', value: 1 }])
  assert.deepEqual([early.gap()!.from, early.gap()!.to], [37, 37])
  early.fill(10)
  assert.equal(early.gap(), undefined)
  const full = setUp(spec, 38, { keys: 100, rows: 5 })
  for (const raw of chain) full.put(raw, [{ key: 'a', value: 1 }])
  full.fill(2)
  assert.deepEqual(full.gap()!.to, 35)
  // Also of several parts between two blocks.
  full.fill(1)
  full.restart()
  full.fill(1)
  assert.deepEqual(full.gap()!.to, 35)
})

test('a reorganisation takes nothing from windows that were filled', () => {
  const spec: WindowSpec = {
    within: { seconds: 12 * 2_300 },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  }
  const { put, fill, gap, back } = setUp(spec, 2_300)
  const chain = makeChain({ blocks: 2_500, from: FROM, txs: 1, logs: 0 })
  for (const raw of chain) put(raw, [])
  assert.ok(gap())
  fill(10_000)
  assert.equal(gap(), undefined)
  back(Number(chain.at(-2)!.block.number))
  put(makeChain({ blocks: 1, parent: chain.at(-2)!, txs: 1, logs: 0, salt: 'other' })[0]!, [])
  assert.equal(gap(), undefined)
})
