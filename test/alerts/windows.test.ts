import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { createRandom } from '../../scripts/demo/random.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
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
import { createTestStore } from '../support/store.ts'

const LIMITS = { keys: 100, rows: 1_000 }
const SUM: WindowSpec = {
  by: ['from'],
  within: { blocks: 3 },
  conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '4' }],
}

const ruleOf = (spec: WindowSpec, more: Partial<WindowRule> = {}): WindowRule => ({
  ...{ rule: 1, revision: 1, start: 10, spec, targetType: 'Transaction', confirmations: 0 },
  ...{ notifyPending: false, notifyResolved: true, limits: LIMITS, ...more },
})

type Matches = Record<string, number>

const entriesOf = (spec: WindowSpec, matches: Matches): WindowEntry[] => {
  const entries = createEntries<string>(measuresOf(spec), {
    id: key => `id of ${key}`,
    values: key => [{ text: String(matches[key]), number: exactOf(BigInt(matches[key]!)), unsigned: true }],
  })
  for (const key of Object.keys(matches)) entries.add(JSON.stringify([key]), key)
  return entries.finish()
}

const rowsOf = ({ block }: RawBlock, spec: WindowSpec, matches: Matches, revision: number): WindowRows => {
  const entries = entriesOf(spec, matches)
  const source = { _type: 'tx' as const, source: '{}' }
  return {
    ...{ number: Number(block.number), time: Number(block.timestamp), hash: block.hash, receivedAt: 5 },
    own: { _id: block.hash, _type: 'block', source: '{}' },
    sources: Object.keys(matches).map(key => ({ _id: `${block.number} ${key}`, ...source })),
    matched: new Map(revision === 0 ? [] : [[1, revision]]),
    rules: [{ rule: 1, entries, lasts: entries.map((_, i) => i) }],
  }
}

const setUp = (spec: WindowSpec, more: Partial<WindowRule> = {}) => {
  let time = 1000
  const store = createTestStore()
  const outbox = openOutbox(store.path)
  const open = () => createAlertStore(store.db, () => time++)
  let alertStore = open()
  const rule = ruleOf(spec, more)
  const tell = (rules: readonly WindowRule[] = [rule]) =>
    store.writer.also(() => alertStore.stored({ hits: [], windows: rules }))
  tell()
  return {
    rule,
    tell,
    /** `revision`: of the rule when the block was matched; 0: it was not matched with the rule. */
    put(raw: RawBlock, matches: Matches = {}, { fails = false, revision = 1 } = {}) {
      store.writer.apply(store.prepare([raw]), () => {
        alertStore.stored({ hits: [], blocks: [rowsOf(raw, spec, matches, revision)] })
        if (fails) throw new Error('the disk is full')
      })
    },
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    restart() {
      alertStore = open()
      tell()
    },
    notes: () => [...alertStore.notes().values()],
    told: () =>
      outbox.after(0, 1000).map(({ type, alert }) => `${type} ${alert.block} ${Object.values(alert.when!.key)}`),
    all: () => outbox.alerts(1, { size: 1000 }).map(({ alert }) => alert),
    path: store.path,
    count: (table: string) => store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  }
}

test('an episode is one alert with what its window had, and its end has the same id', () => {
  const { put, told, all, count } = setUp(SUM)
  const chain = makeChain({ blocks: 8, from: 10 })
  put(chain[0]!, { a: 1 })
  put(chain[1]!, { b: 3 })
  put(chain[2]!, { a: 3, b: 1 })
  assert.deepEqual(told(), ['confirmed 12 a', 'confirmed 12 b'])
  put(chain[3]!, { a: 2 })
  put(chain[4]!)
  assert.deepEqual(told().slice(2), ['resolved 12 b'])
  put(chain[5]!)
  put(chain[6]!)
  assert.deepEqual(told().slice(3), ['resolved 12 a'])
  assert.deepEqual(all().at(-1)!.when, {
    key: { from: 'a' },
    window: { fromBlock: 10, toBlock: 12, blocks: 3 },
    conditions: [{ aggregate: 'Sum', name: 'value', value: '4' }],
    matches: 2,
    entities: ['id of a', 'id of a'],
    late: false,
    ended: { block: 15, conditions: [{ aggregate: 'Sum', name: 'value', value: '2' }] },
  })
  assert.equal(count('episode'), 2)
})

test('the end is told only once it is as deep as the rule asks for, after the alert itself', () => {
  const { put, told } = setUp(SUM, { confirmations: 2, notifyPending: true })
  const chain = makeChain({ blocks: 9, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1, 4)) put(raw)
  assert.deepEqual(told(), ['pending 10 a', 'confirmed 10 a'])
  put(chain[4]!)
  assert.deepEqual(told().length, 2)
  put(chain[5]!)
  assert.deepEqual(told().slice(2), ['resolved 10 a'])
})

test('a rule that does not ask for it is not told of the end', () => {
  const { put, told, all } = setUp(SUM, { notifyResolved: false })
  const chain = makeChain({ blocks: 5, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1)) put(raw)
  assert.deepEqual(told(), ['confirmed 10 a'])
  assert.deepEqual(
    all().map(({ state }) => state),
    ['resolved'],
  )
})

test('over blocks that are missing, absence never fires, and what is too much already does', () => {
  const spec: WindowSpec = {
    ...{ by: ['from'], keys: ['a'], within: { blocks: 3 } },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  }
  const chain = makeChain({ blocks: 12, from: 10 })
  const absent = setUp(spec)
  for (const raw of chain.slice(0, 3)) absent.put(raw, { a: 1 })
  // Three blocks are missing; a whole window has to be seen again.
  for (const raw of chain.slice(6, 8)) absent.put(raw)
  assert.deepEqual(absent.told(), [])
  assert.match(absent.notes()[0]!, /^Its windows begin at block 16:/)
  // They come late, and change nothing.
  absent.put(chain[4]!, { a: 1 })
  absent.put(chain[8]!)
  assert.deepEqual([absent.told(), absent.notes()], [['confirmed 18 a'], []])

  const much = setUp(SUM)
  much.put(chain[0]!, { a: 1 })
  much.put(chain[5]!, { a: 4 })
  assert.deepEqual(much.told(), ['confirmed 15 a'])
})

const HELD: WindowSpec = { ...SUM, hold: { blocks: 2 } }

test('with hold an episode opens once its conditions have held for so long, also where no match arrives', () => {
  const { put, told, all, count } = setUp(HELD)
  const chain = makeChain({ blocks: 12, from: 10 })
  put(chain[0]!, { a: 5, b: 1 })
  put(chain[1]!)
  assert.deepEqual(told(), [])
  put(chain[2]!)
  assert.deepEqual(told(), ['confirmed 12 a'])
  const { when, entity } = all()[0]!
  assert.deepEqual([when!.window, entity._type], [{ fromBlock: 10, toBlock: 12, blocks: 3 }, 'block'])
  put(chain[3]!)
  assert.deepEqual(told().slice(1), ['resolved 12 a'])
  // One block short of it, twice.
  for (let i = 0; i < 2; i++) {
    put(chain[4 + i * 4]!, { b: 2 })
    put(chain[5 + i * 4]!, { b: 2 })
    put(chain[6 + i * 4]!)
    put(chain[7 + i * 4]!)
  }
  assert.deepEqual([told().length, count('held')], [2, 3])
})

test('with hold in seconds it is the time of blocks that counts', () => {
  const { put, told } = setUp({ ...SUM, within: { blocks: 100 }, hold: { seconds: 30 } })
  const chain = makeChain({ blocks: 5, from: 10 })
  const at = chain.map(({ block }) => Number(block.timestamp))
  put(chain[0]!, { a: 5 })
  for (const raw of chain.slice(1)) put(raw)
  const first = at.findIndex(time => time >= at[0]! + 30)
  assert.ok(first > 0)
  assert.deepEqual(told(), [`confirmed ${10 + first} a`])
})

test('what holds survives a restart and a reorganisation, and begins anew over missing blocks', () => {
  const chain = makeChain({ blocks: 8, from: 10 })
  const { put, back, restart, told } = setUp({ ...HELD, within: { blocks: 100 } })
  put(chain[0]!, { a: 5 })
  restart()
  put(chain[1]!)
  put(chain[2]!)
  // It had opened; before that it held since block 10.
  back(11)
  restart()
  put(makeChain({ blocks: 1, parent: chain[1]!, salt: 'other' })[0]!)
  assert.deepEqual(told(), ['confirmed 12 a', 'retracted 12 a', 'confirmed 12 a'])

  const gap = setUp({ ...HELD, within: { blocks: 100 } })
  gap.put(chain[0]!, { a: 5 })
  gap.put(chain[3]!)
  gap.put(chain[4]!)
  gap.restart()
  assert.deepEqual(gap.told(), [])
  gap.put(chain[5]!)
  assert.deepEqual(gap.told(), ['confirmed 15 a'])

  const emptied = setUp(HELD)
  emptied.put(chain[0]!, { a: 5 })
  emptied.put(chain[6]!)
  emptied.restart()
  emptied.put(chain[7]!, { a: 5 })
  assert.deepEqual(emptied.told(), [])
})

test('a window is compared with the mean of those before, once all of them were seen, also after a reorganisation', () => {
  // Five times as many as in the twelve windows before, and twenty at least.
  const spec: WindowSpec = {
    within: { seconds: 300 },
    conditions: [
      { aggregate: 'Sum', name: 'value', operator: 'Greater', value: '5', relativeTo: { windows: 12 } },
      { aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '20' },
    ],
  }
  // 25 blocks of 12 seconds are a window: 48 in the hour before are a mean of 4.
  const chain = makeChain({ blocks: 700, from: 10, txs: 0 })
  const { put, back, told, notes } = setUp(spec)
  for (const [i, raw] of chain.slice(0, 640).entries()) put(raw, i >= 300 && i < 600 && i % 25 < 4 ? { '': 1 } : {})
  const other = makeChain({ blocks: 1, parent: chain[609]!, txs: 0, salt: 'other' })
  for (const [value, alerts] of [
    [20, []],
    [21, ['confirmed 620 ']],
  ] as const) {
    back(619)
    put(other[0]!, { '': value })
    assert.deepEqual(told(), alerts)
  }
  assert.deepEqual(notes(), [])

  const young = setUp(spec)
  for (const raw of chain.slice(0, 320)) young.put(raw)
  young.put(chain[320]!, { '': 99 })
  assert.deepEqual(young.told(), [])
  assert.match(young.notes()[0]!, /^Its windows begin at block 10:/)
})

test('an alert whose end a reorganisation undid says nothing of an end', () => {
  const { put, back, told, all } = setUp(SUM)
  const chain = makeChain({ blocks: 4, from: 10 })
  put(chain[0]!, { a: 4 })
  for (const raw of chain.slice(1)) put(raw)
  assert.equal(all()[0]!.when!.ended!.block, 13)
  back(12)
  assert.deepEqual(told(), ['confirmed 10 a', 'resolved 10 a', 'reopened 10 a'])
  assert.deepEqual(
    all().map(({ when }) => [when!.matches, when!.ended]),
    [[1, undefined]],
  )
})

test('an alert that comes back with its block says nothing of the end that it had before', () => {
  const { put, back, told, all } = setUp(SUM)
  const chain = makeChain({ blocks: 6, from: 10 })
  put(chain[0]!)
  put(chain[1]!, { a: 4 })
  for (const raw of chain.slice(2, 5)) put(raw)
  back(10)
  put(makeChain({ blocks: 1, parent: chain[0]!, salt: 'other' })[0]!)
  back(10)
  put(chain[1]!, { a: 4 })
  assert.deepEqual(told(), ['confirmed 11 a', 'resolved 11 a', 'retracted 11 a', 'confirmed 11 a'])
  assert.equal(all()[0]!.when!.ended, undefined)
})

test('an end that a deep reorganisation undoes is told to be undone', () => {
  const average: WindowSpec = {
    ...{ by: ['from'], within: { blocks: 2_000 } },
    conditions: [{ aggregate: 'Average', name: 'value', operator: 'Greater', value: '4' }],
  }
  const { put, back, told } = setUp(average)
  const chain = makeChain({ blocks: 3_200, from: 10, txs: 0 })
  for (const raw of chain) {
    const number = Number(raw.block.number)
    put(raw, number === 2_050 ? { a: 6 } : number === 2_110 ? { a: 1 } : {})
  }
  assert.deepEqual(told(), ['confirmed 2050 a', 'resolved 2050 a'])
  back(2_100)
  put(makeChain({ blocks: 1, parent: chain[2_090]!, txs: 0, salt: 'other' })[0]!)
  assert.deepEqual(told().slice(2), ['reopened 2050 a'])
})

test('after a reorganisation a window decides as before, however long it is and however few its matches are', () => {
  for (const within of [{ blocks: 300 }, { seconds: 3600 }]) {
    const spec: WindowSpec = { within, conditions: [{ aggregate: 'First', name: 'from' }] }
    const { put, back, told, notes, count } = setUp(spec)
    const chain = makeChain({ blocks: KEPT_BELOW + 514, from: 10, txs: 0 })
    for (const raw of chain) put(raw, raw === chain[2] ? { '': 1 } : {})
    // Rows below a window, and below what a reorganisation may need, go.
    assert.equal(count('rule_rows'), 0)
    const last = 10 + chain.length - 1
    back(last - 1)
    const other = makeChain({ blocks: 2, parent: chain.at(-2)!, txs: 0, salt: 'other' })
    put(other[0]!)
    put(other[1]!, { '': 1 })
    assert.deepEqual([told(), notes()], [[`confirmed ${last + 1} 1`], []], JSON.stringify(within))
  }
})

test('after a reorganisation a window is compared with all of those before, though they are long and empty', () => {
  const relativeTo = { windows: 49 }
  const more = { aggregate: 'Sum', name: 'value', operator: 'Greater', value: '5', relativeTo } as const
  const { put, back, told } = setUp({ within: { blocks: 10 }, conditions: [more] })
  const chain = makeChain({ blocks: 770, from: 10, txs: 0 })
  for (const raw of chain) put(raw)
  back(778)
  put(makeChain({ blocks: 1, parent: chain[768]!, txs: 0, salt: 'other' })[0]!, { '': 1 })
  assert.deepEqual(told(), ['confirmed 779 '])
})

test('after a reorganisation to blocks whose rows are gone, absence is decided once a whole window was seen', () => {
  const { put, back, told } = setUp({
    ...{ by: ['from'], keys: ['a'], within: { blocks: 3 } },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  })
  const chain = makeChain({ blocks: KEPT_BELOW + 514, from: 10, txs: 0 })
  for (const raw of chain) put(raw, { a: 1 })
  back(400)
  const other = makeChain({ blocks: 3, parent: chain[390]!, txs: 0, salt: 'other' })
  for (const raw of other.slice(0, 2)) put(raw)
  assert.deepEqual(told(), [])
  put(other[2]!)
  assert.deepEqual(told(), ['confirmed 403 a'])
})

test('a changed rule takes over no rows that a reorganisation below a gap has left', () => {
  const { put, back, tell, rule, told } = setUp(SUM)
  const chain = makeChain({ blocks: 4, from: 10 })
  put(chain[0]!, { a: 3 })
  // The window begins anew after the gap, and a reorganisation goes below it.
  put(chain[1]!, { a: 3 }, { revision: 0 })
  put(chain[2]!)
  back(11)
  tell([{ ...rule, revision: 2 }])
  put(makeChain({ blocks: 1, parent: chain[1]!, salt: 'other' })[0]!, { a: 3 }, { revision: 2 })
  assert.deepEqual(told(), [])
})

test('an episode goes on where nothing was known for a while, also after a restart', () => {
  for (const restarts of [false, true]) {
    const { put, back, restart, told } = setUp(SUM)
    const chain = makeChain({ blocks: 3, from: 10 })
    put(chain[0]!, { a: 4 })
    put(chain[1]!, {}, { revision: 0 })
    put(chain[2]!, { a: 4 })
    back(11)
    if (restarts) restart()
    const other = makeChain({ blocks: 5, parent: chain[1]!, salt: 'other' })
    put(other[0]!, { a: 4 })
    for (const raw of other.slice(1)) put(raw)
    assert.deepEqual(told(), ['confirmed 10 a', 'resolved 10 a'], `restarts: ${restarts}`)
  }
})

test('at its limits a rule goes on with the keys that it has, and says so', () => {
  const { put, told, notes } = setUp(SUM, { limits: { keys: 2, rows: 1_000 } })
  const chain = makeChain({ blocks: 3, from: 10 })
  put(chain[0]!, { a: 1, b: 1, c: 9 })
  put(chain[1]!, { a: 3, c: 9 })
  assert.deepEqual(told(), ['confirmed 11 a'])
  assert.match(notes()[0]!, /^Its windows hold 2 keys in 3 rows, of at most 2 and 1000: 2 times, /)
})

test('at its limit of rows it decides only what the matches that were left out could not change', () => {
  const { put, told, notes, count } = setUp(
    {
      by: ['from'],
      keys: ['a'],
      within: { blocks: 4 },
      conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
    },
    { limits: { keys: 10, rows: 3 } },
  )
  const chain = makeChain({ blocks: 12, from: 10 })
  for (const raw of chain.slice(0, 3)) put(raw, { b: 1 })
  put(chain[3]!, { a: 1, b: 1 })
  assert.match(notes()[0]!, /3 rows, of at most 10 and 3: 2 times, /)
  put(chain[4]!, { b: 1 })
  for (const raw of chain.slice(5, 7)) put(raw)
  assert.deepEqual(told(), [])
  put(chain[7]!)
  assert.deepEqual(told(), ['confirmed 17 a'])
  assert.equal(count('rule_rows'), 4)
})

test('what its limits left out is known after a restart and a reorganisation, until the rule changes', () => {
  const { put, tell, rule, back, restart, notes } = setUp(SUM, { limits: { keys: 1, rows: 100 } })
  const chain = makeChain({ blocks: 6, from: 10 })
  put(chain[0]!, { a: 1, b: 1 })
  put(chain[1]!, { a: 1, b: 1, c: 1 })
  restart()
  put(chain[2]!, { a: 1 })
  assert.match(notes()[0]!, /: 3 times, /)
  back(11)
  for (const raw of makeChain({ blocks: 1, parent: chain[1]!, salt: 'other' })) put(raw, { a: 1, b: 1 })
  assert.match(notes()[0]!, /: 4 times, /)
  tell([{ ...rule, revision: 2 }])
  assert.deepEqual(notes(), [])
})

test('rows of rules that find the same are stored once, also after a failed write, until none needs them', () => {
  const store = createTestStore()
  const alerts = createAlertStore(store.db)
  const windows = [1, 2].map(rule => ruleOf(SUM, { rule }))
  const count = (table: string) => store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  store.writer.also(() => alerts.stored({ hits: [], windows }))
  const chain = makeChain({ blocks: 3, from: 10 })
  for (const raw of chain) {
    const rows = rowsOf(raw, SUM, { a: 3 }, 1)
    const blocks = [{ ...rows, matched: new Map([1, 2].map(rule => [rule, 1])) }]
    blocks[0]!.rules = [1, 2].map(rule => ({ ...rows.rules[0]!, rule }))
    const put = (end: () => void) =>
      store.writer.apply(store.prepare([raw]), () => {
        alerts.stored({ hits: [], blocks })
        end()
      })
    assert.throws(() => put(() => assert.fail('the disk is full')))
    put(() => {})
  }
  assert.deepEqual([count('rule_rows'), count('row_list'), count('episode')], [6, 3, 2])
  store.writer.rollback(11, () => alerts.retractAbove(11))
  assert.deepEqual([count('rule_rows'), count('row_list')], [4, 2])
  store.writer.also(() => alerts.stored({ hits: [], gone: [1] }))
  assert.deepEqual([count('rule_rows'), count('row_list')], [2, 2])
  store.writer.also(() => alerts.stored({ hits: [], gone: [2] }))
  assert.deepEqual([count('rule_rows'), count('row_list')], [0, 0])
})

test('a changed rule begins anew, a deleted one leaves nothing', () => {
  const { put, tell, rule, told, count } = setUp(SUM)
  const chain = makeChain({ blocks: 5, from: 10 })
  put(chain[0]!, { a: 3 })
  tell([{ ...rule, revision: 2 }])
  // Matched by the rule as it was.
  put(chain[1]!, { a: 3 })
  assert.deepEqual([told(), count('rule_rows')], [[], 0])
  const gone = setUp(SUM)
  gone.put(chain[0]!, { a: 5 })
  gone.tell([])
  gone.put(chain[1]!, { a: 5 })
  assert.deepEqual([gone.count('rule_rows'), gone.count('episode')], [1, 1])
})

test('blocks that a rule did not look at, though they come after it, are missing to its windows', () => {
  const silence: WindowSpec = {
    ...{ by: ['from'], keys: ['a'], within: { blocks: 3 } },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  }
  const chain = makeChain({ blocks: 12, from: 10 })
  // Matched before it was changed, and before there was such a rule or while it was paused.
  for (const revision of [1, 0]) {
    const { put, tell, rule, told } = setUp(silence)
    for (const raw of chain.slice(0, 3)) put(raw, { a: 1 })
    const changed = { ...rule, revision: 2 }
    tell([changed])
    for (const raw of chain.slice(3, 7)) put(raw, {}, { revision })
    assert.deepEqual(told(), [], `matched with revision ${revision}`)
    for (const raw of chain.slice(7, 10)) put(raw, {}, { revision: 2 })
    assert.deepEqual(told(), ['confirmed 19 a'])
  }
  const { put, told } = setUp(silence)
  put(chain[0]!, { a: 1 })
  for (const raw of chain.slice(1, 5)) put(raw, {}, { revision: 0 })
  put(chain[5]!)
  assert.deepEqual(told(), [])
})

test('what is salvaged of a store has its windows', () => {
  const { put, path } = setUp(HELD)
  const chain = makeChain({ blocks: 4, from: 10 })
  put(chain[0]!, { a: 2 })
  put(chain[1]!, { a: 2, b: 4 })
  put(chain[2]!, { a: 2 })
  put(chain[3]!, { a: 2 })
  salvageStore(path, `${path}-salvage`, [])
  const db = new Database(`${path}-salvage`, { readonly: true })
  const counts = ['rule_window', 'rule_rows', 'row_list', 'episode', 'held'].map(table =>
    db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  )
  const windows = db.prepare('SELECT windows FROM alert').pluck().all() as string[]
  db.close()
  assert.deepEqual(
    [counts, windows.map(it => (JSON.parse(it) as { matches: number }).matches)],
    [
      [1, 4, 4, 2, 2],
      [3, 1],
    ],
  )
})

const CASES = Number(process.env.CASES ?? 60)

test(`stored windows are those of the chain in the end: ${CASES} histories with kills, failed writes and reorganisations`, () => {
  let alerts = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const spec = pick<WindowSpec>([
      SUM,
      { ...SUM, resolve: [{ aggregate: 'Count', operator: 'Less', value: '2' }] },
      HELD,
      {
        ...SUM,
        conditions: [{ ...SUM.conditions[0]!, operator: 'Greater', value: '1.5', relativeTo: { windows: 2 } }],
      },
      { ...SUM, hold: { seconds: 20 }, resolve: [{ aggregate: 'Count', operator: 'Less', value: '2' }] },
      { ...SUM, keys: ['a', 'b'], conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }] },
    ])
    const confirmations = int(0, 2)
    const { put, back, restart, all } = setUp(spec, { confirmations })
    let chain: { raw: RawBlock; matches: Matches }[] = []
    const mine = () => {
      const last = chain.at(-1)?.raw
      const [raw] = makeChain({
        blocks: 1,
        ...(last ? { parent: last } : { from: 10 }),
        txs: 1,
        logs: 0,
        salt: `${seed}/${int(0, 1e9)}`,
      })
      const matches = Object.fromEntries(['a', 'b', 'c'].filter(() => int(0, 2) === 0).map(key => [key, int(0, 5)]))
      if (int(0, 7) === 0) assert.throws(() => put(raw!, { ...matches, d: 9 }, { fails: true }), /full/)
      put(raw!, matches)
      chain.push({ raw: raw!, matches })
    }
    for (let i = 0; i < 25; i++) {
      const what = int(0, 9)
      if (what === 0) restart()
      else if (what === 1 && chain.length > 1) {
        chain = chain.slice(0, Math.max(1, chain.length - int(1, 5)))
        back(Number(chain.at(-1)!.raw.block.number))
      } else mine()
    }
    for (let i = 0; i < 3; i++) mine()

    const window = createRuleWindow(spec, LIMITS)
    const top = Number(chain.at(-1)!.raw.block.number)
    const expected = new Map<string, string>()
    const open = new Map<string, string>()
    for (const { raw, matches } of chain) {
      const now = { number: Number(raw.block.number), time: Number(raw.block.timestamp) }
      const { opened, ended } = window.step(now, entriesOf(spec, matches))
      for (const key of opened) {
        open.set(key, `${JSON.parse(key)} ${raw.block.hash}`)
        expected.set(open.get(key)!, now.number + confirmations <= top ? 'confirmed' : 'pending')
      }
      for (const key of ended) if (now.number + confirmations <= top) expected.set(open.get(key)!, 'resolved')
    }
    const found = all()
      .filter(({ state }) => state !== 'retracted' && state !== 'withdrawn')
      .map(({ when, blockHash, state }): [string, string] => [`${Object.values(when!.key)} ${blockHash}`, state])
    assert.deepEqual(new Map(found.sort()), new Map([...expected].sort()), `seed ${seed}`)
    alerts += expected.size
  }
  assert.ok(alerts > CASES)
})
