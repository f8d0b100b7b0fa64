import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { createAlertPruning } from '../../src/alerts/marks.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { KEPT_BELOW } from '../../src/alerts/running-window.ts'
import type { WindowRows, WindowRule } from '../../src/alerts/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { salvageStore } from '../../src/engine/salvage.ts'
import { exactOf } from '../../src/query/exact.ts'
import { createEntries, type WindowEntry } from '../../src/windows/entries.ts'
import { measuresOf, type WindowSpec } from '../../src/windows/spec.ts'
import { createRuleWindow } from '../../src/windows/window.ts'
import { makeChain } from '../support/pack.ts'
import { createNaiveRepeats } from '../support/repeats.ts'
import { createTestStore } from '../support/store.ts'

const LIMITS = { keys: 100, rows: 1_000 }
const SUM: WindowSpec = {
  by: ['from'],
  within: { blocks: 100 },
  conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '4' }],
}
const EVERY_TWO = { after: { blocks: 2 } }

type Matches = Record<string, number>

const entriesOf = (spec: WindowSpec, matches: Matches): WindowEntry[] => {
  const entries = createEntries<string>(measuresOf(spec), {
    id: key => `id of ${key}`,
    values: key => [{ text: String(matches[key]), number: exactOf(BigInt(matches[key]!)), unsigned: true }],
  })
  for (const key of Object.keys(matches)) entries.add(JSON.stringify([key]), key)
  return entries.finish()
}

const rowsOf = ({ block }: RawBlock, spec: WindowSpec, matches: Matches, isMatched: boolean): WindowRows => {
  const entries = entriesOf(spec, matches)
  return {
    ...{ number: Number(block.number), time: Number(block.timestamp), hash: block.hash, receivedAt: 5 },
    own: { _id: block.hash, _type: 'block', source: '{}' },
    sources: Object.keys(matches).map(key => ({ _id: `${block.number} ${key}`, _type: 'tx', source: '{}' })),
    matched: new Map(isMatched ? [[1, 1]] : []),
    rules: [{ rule: 1, entries, lasts: entries.map((_, i) => i) }],
  }
}

const setUp = (more: Partial<WindowRule> = {}) => {
  let time = 1000
  const store = createTestStore()
  const outbox = openOutbox(store.path)
  const open = () => createAlertStore(store.db, () => time++)
  let alertStore = open()
  let rule: WindowRule = {
    ...{ rule: 1, revision: 1, start: 10, spec: SUM, targetType: 'Transaction', confirmations: 0, again: EVERY_TWO },
    ...{ notifyPending: false, notifyResolved: true, limits: LIMITS, ...more },
  }
  const tell = (changed: Partial<WindowRule> = {}) => {
    rule = { ...rule, ...changed }
    store.writer.also(() => alertStore.stored({ hits: [], windows: [rule] }))
  }
  tell()
  return {
    tell,
    /** `isMatched`: whether the block was matched with the rule. */
    put(raw: RawBlock, matches: Matches = {}, { fails = false, isMatched = true } = {}) {
      store.writer.apply(store.prepare([raw]), () => {
        alertStore.stored({ hits: [], blocks: [rowsOf(raw, rule.spec as WindowSpec, matches, isMatched)] })
        if (fails) throw new Error('the disk is full')
      })
    },
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    pause: (paused: number[]) => store.writer.also(() => alertStore.stored({ hits: [], paused })),
    remove: () => store.writer.also(() => alertStore.stored({ hits: [], gone: [1], windows: [] })),
    restart() {
      alertStore = open()
      tell()
    },
    entries: () => outbox.after(0, 1000),
    told: () =>
      outbox
        .after(0, 1000)
        .map(({ type, repeat, alert }) => `${type} ${repeat ?? alert.block} ${Object.values(alert.when!.key)}`),
    prune: (before: number) => {
      const pruning = createAlertPruning(store.db).begin({ before, taken: outbox.last() })
      for (let more = true; more; )
        store.writer.also(() => {
          more = pruning.step()
        })
    },
    outbox,
    path: store.path,
    count: (table: string, where = 'true') =>
      store.db.prepare(`SELECT count(*) FROM ${table} WHERE ${where}`).pluck().get(),
  }
}

test('a repeat has what its window had in that block, and the id of its alert', () => {
  const { put, entries, told } = setUp()
  const chain = makeChain({ blocks: 5, from: 10 })
  put(chain[0]!, { a: 4 })
  put(chain[1]!, { a: 1 })
  assert.deepEqual(told(), ['confirmed 10 a'])
  put(chain[2]!)
  put(chain[3]!)
  put(chain[4]!)
  assert.deepEqual(told(), ['confirmed 10 a', 'repeated 12 a', 'repeated 14 a'])
  const [alert, repeat] = entries()
  assert.deepEqual(
    [repeat!.alert.id, repeat!.alert.block, repeat!.alert.state, repeat!.alert.entity],
    [alert!.alert.id, 10, 'confirmed', alert!.alert.entity],
  )
  assert.ok(repeat!.alert.changedAt > alert!.alert.changedAt)
  assert.deepEqual(
    [alert!, repeat!].map(({ alert: { when } }) => [when!.window, when!.conditions[0]!.value, when!.matches]),
    [
      [{ fromBlock: 10, toBlock: 10, blocks: 100 }, '4', 1],
      [{ fromBlock: 10, toBlock: 12, blocks: 100 }, '5', 2],
    ],
  )
})

test('a repeat is told once it is as deep as the rule asks for, and before the end of its alert', () => {
  const { put, told } = setUp({ confirmations: 2, spec: { ...SUM, within: { blocks: 3 } } })
  const chain = makeChain({ blocks: 6, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1, 4)) put(raw)
  assert.deepEqual(told(), ['confirmed 10 a'])
  put(chain[4]!)
  assert.deepEqual(told(), ['confirmed 10 a', 'repeated 12 a'])
  put(chain[5]!)
  assert.deepEqual(told(), ['confirmed 10 a', 'repeated 12 a', 'resolved 10 a'])
})

test('what a reorganisation undoes was never repeated, and the wait begins at what was told before', () => {
  const { put, back, restart, told, count } = setUp({ confirmations: 1 })
  const chain = makeChain({ blocks: 6, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1, 4)) put(raw)
  assert.deepEqual(told(), ['confirmed 10 a', 'repeated 12 a'])
  // One that is told, and one that would be next.
  put(chain[4]!)
  back(11)
  assert.deepEqual([told(), count('repeat')], [['confirmed 10 a'], 0])
  restart()
  const other = makeChain({ blocks: 3, parent: chain[1]!, salt: 'other' })
  for (const raw of other) put(raw)
  assert.deepEqual(told(), ['confirmed 10 a', 'repeated 12 a'])
  // The alert itself goes, with all that was told.
  back(9)
  assert.deepEqual([told(), count('repeat')], [['confirmed 10 a', 'retracted 10 a'], 0])
})

test('a changed again holds from the next block, and counts from what was told last', () => {
  const { put, tell, told } = setUp({ again: undefined })
  const chain = makeChain({ blocks: 12, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1, 4)) put(raw)
  assert.deepEqual(told(), ['confirmed 10 a'])
  tell({ again: { after: { blocks: 3 } } })
  assert.deepEqual(told(), ['confirmed 10 a'])
  put(chain[4]!)
  tell({ again: { after: { blocks: 2 }, worse: ['Greater or Equal'] } })
  put(chain[5]!)
  put(chain[6]!)
  put(chain[7]!, { a: 1 })
  assert.deepEqual(told(), ['confirmed 10 a', 'repeated 14 a', 'repeated 17 a'])
  tell({ again: undefined })
  for (const raw of chain.slice(8)) put(raw, { a: 1 })
  assert.deepEqual(told().length, 3)
})

test('after a pause what was due is told, and a deleted or changed rule repeats nothing', () => {
  const paused = setUp({ confirmations: 1 })
  const chain = makeChain({ blocks: 8, from: 10 })
  paused.put(chain[0]!, { a: 4 })
  paused.put(chain[1]!)
  paused.put(chain[2]!)
  paused.pause([1])
  paused.put(chain[3]!, {}, { isMatched: false })
  assert.deepEqual(paused.told(), ['confirmed 10 a'])
  paused.pause([])
  assert.deepEqual(paused.told(), ['confirmed 10 a', 'repeated 12 a'])

  for (const change of ['remove', 'revision'] as const) {
    const { put, told, tell, remove, count } = setUp({ confirmations: 1 })
    put(chain[0]!, { a: 4 })
    for (const raw of chain.slice(1, 5)) put(raw)
    if (change === 'remove') remove()
    else tell({ revision: 2 })
    for (const raw of chain.slice(5)) put(raw, {}, { isMatched: false })
    assert.deepEqual(told(), ['confirmed 10 a', 'repeated 12 a'], change)
    assert.equal(count('repeat', 'told IS NULL'), 0)
  }
})

test('of repeats of long ago the last one is kept, while its alert is open', () => {
  const { put, back, told, count, prune, remove } = setUp({
    spec: { ...SUM, within: { blocks: 4_000 } },
    again: { after: { blocks: 100 } },
  })
  const chain = makeChain({ blocks: KEPT_BELOW + 800, from: 10, txs: 0 })
  for (const raw of chain) put(raw, raw === chain[0] ? { a: 4 } : {})
  const top = 10 + chain.length - 1
  // Rules are pruned in turns.
  const below = top - ((top + 1) % 256) - KEPT_BELOW
  const kept = Math.floor((top - 10) / 100) - Math.floor((below - 11) / 100) + 1
  assert.deepEqual([count('repeat'), count('outbox', 'repeat IS NOT NULL')], [kept, kept])
  assert.equal(told()[1], `repeated ${10 + Math.floor((below - 11) / 100) * 100} a`)
  // What was told last before the fork is still known.
  back(top - 750)
  const before = told().at(-1)!
  const other = makeChain({ blocks: 100, parent: chain.at(-751)!, txs: 0, salt: 'other' })
  for (const raw of other) put(raw)
  assert.deepEqual(told().slice(-2), [before, `repeated ${Number(before.split(' ')[1]) + 100} a`])
  prune(Number.MAX_SAFE_INTEGER)
  assert.ok(Number(count('repeat')) > 0)
  // Of an alert that is forgotten nothing is left.
  remove()
  prune(Number.MAX_SAFE_INTEGER)
  assert.deepEqual([count('alert'), count('repeat'), count('outbox')], [0, 0, 0])
})

test('what is salvaged of a store has its repeats, and their numbers go on', () => {
  const { put, path } = setUp()
  const chain = makeChain({ blocks: 4, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1)) put(raw)
  salvageStore(path, `${path}-salvage`, [])
  const salvaged = openOutbox(`${path}-salvage`)
  assert.deepEqual(
    salvaged.after(0, 10).map(({ type, repeat }) => [type, repeat]),
    [
      ['confirmed', undefined],
      ['repeated', 12],
    ],
  )
  salvaged.close()
})

const CASES = Number(process.env.CASES ?? 60)

test(`stored repeats are those of the chain in the end: ${CASES} histories with kills, failed writes, gaps and reorganisations`, () => {
  let count = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const within = { blocks: int(2, 8) }
    const spec = pick<WindowSpec>([
      { ...SUM, within },
      { ...SUM, within, resolve: [{ aggregate: 'Count', operator: 'Less', value: '2' }] },
      { ...SUM, within, hold: { blocks: 1 } },
      { ...SUM, within, keys: ['a', 'b'], conditions: [{ aggregate: 'Count', operator: 'Less', value: '3' }] },
    ])
    const again = {
      after: pick([{ blocks: int(1, 4) }, { seconds: int(10, 40) }]),
      ...(int(0, 1) === 0 && { worse: spec.conditions.map(({ operator }) => operator) }),
    }
    const confirmations = int(0, 2)
    // What was known before a gap is forgotten if a reorganisation goes below it.
    const hasGaps = int(0, 1) === 0
    const { put, back, restart, entries } = setUp({ spec, again, confirmations })
    let chain: { raw: RawBlock; matches: Matches; isMatched: boolean }[] = []
    const mine = (isMatched = true) => {
      const last = chain.at(-1)?.raw
      const [raw] = makeChain({
        ...{ blocks: 1, txs: 1, logs: 0, salt: `${seed}/${int(0, 1e9)}` },
        ...(last ? { parent: last } : { from: 10 }),
      })
      const matches = Object.fromEntries(['a', 'b', 'c'].filter(() => int(0, 2) === 0).map(key => [key, int(0, 5)]))
      if (int(0, 7) === 0) assert.throws(() => put(raw!, { ...matches, d: 9 }, { fails: true }), /full/)
      put(raw!, matches, { isMatched })
      chain.push({ raw: raw!, matches, isMatched })
    }
    for (let i = 0; i < 30; i++) {
      const what = int(0, 9)
      if (what === 0) restart()
      else if (what === 1 && chain.length > 1 && !hasGaps) {
        chain = chain.slice(0, Math.max(1, chain.length - int(1, 5)))
        back(Number(chain.at(-1)!.raw.block.number))
      } else mine(what > 1 || !hasGaps || chain.length === 0)
    }
    for (let i = 0; i < 3; i++) mine()

    const window = createRuleWindow(spec, LIMITS)
    const naive = createNaiveRepeats(again)
    const top = Number(chain.at(-1)!.raw.block.number)
    const expected: string[] = []
    const opened = new Map<string, string>()
    for (const [i, { raw, matches, isMatched }] of chain.entries()) {
      if (!isMatched) continue
      const now = { number: Number(raw.block.number), time: Number(raw.block.timestamp) }
      if (i > 0 && !chain[i - 1]!.isMatched) window.setSince(now)
      const step = window.step(now, entriesOf(spec, matches))
      for (const key of naive(now, step, window))
        if (now.number + confirmations <= top)
          expected.push(`${opened.get(key)} ${now.number} ${JSON.stringify(window.show(key))}`)
      for (const key of step.opened) opened.set(key, `${JSON.parse(key)} ${raw.block.hash}`)
    }
    const found = entries().flatMap(({ repeat, alert: { when, blockHash } }) => {
      if (repeat === undefined) return []
      const { key, conditions, matches } = when!
      return [`${Object.values(key)} ${blockHash} ${repeat} ${JSON.stringify({ conditions, matches })}`]
    })
    assert.deepEqual(found.sort(), expected.sort(), `seed ${seed}`)
    count += expected.length
  }
  assert.ok(count > CASES)
})
