import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { createRandom } from '../../scripts/demo/random.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { KEPT_BELOW } from '../../src/alerts/running-window.ts'
import type { SequenceRule } from '../../src/alerts/sequences.ts'
import type { WindowRows } from '../../src/alerts/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { salvageStore } from '../../src/engine/salvage.ts'
import { createRuleSequence, type SequenceShape, type StepMatch, UNTIL } from '../../src/windows/sequence.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const LIMITS = { keys: 100, rows: 1_000 }
const PAIR: SequenceShape = { steps: 2, isMissing: false, hasUntil: true, within: { blocks: 4 } }
const LEFT: SequenceShape = { ...PAIR, isMissing: true, hasUntil: false }

/** `0a 1b ~a`: first step of a, second of b, `until` of a; in their order. */
const matchesOf = (text: string, block: number): StepMatch[] =>
  (text.match(/\S+/g) ?? []).map((one, at) => ({
    key: JSON.stringify([one.slice(1)]),
    step: one.startsWith('~') ? UNTIL : Number(one[0]),
    at,
    id: `${block} ${one} ${at}`,
  }))

const rowsOf = ({ block }: RawBlock, text: string, revision: number, rules: readonly number[]): WindowRows => {
  const matches = matchesOf(text, Number(block.number))
  return {
    ...{ number: Number(block.number), time: Number(block.timestamp), hash: block.hash, receivedAt: 5 },
    own: { _id: block.hash, _type: 'block', source: '{}' },
    sources: matches.map(({ id }) => ({ _id: id, _type: 'event', source: '{}' })),
    matched: new Map(revision === 0 ? [] : rules.map(rule => [rule, revision])),
    rules: [],
    steps: rules.map(rule => ({ rule, matches, lasts: matches.map((_, i) => i) })),
  }
}

const setUp = (shape: SequenceShape, more: Partial<SequenceRule> = {}) => {
  let time = 1000
  const store = createTestStore()
  const outbox = openOutbox(store.path)
  const open = () => createAlertStore(store.db, () => time++)
  let alertStore = open()
  const rule: SequenceRule = {
    ...{ rule: 1, revision: 1, start: 10, shape, by: ['address'], targetType: 'Event', confirmations: 0 },
    ...{ notifyPending: false, notifyResolved: false, limits: LIMITS, account: 1, most: 1_000, ...more },
  }
  const tell = (sequences: readonly SequenceRule[] = [rule]) =>
    store.writer.also(() => alertStore.stored({ hits: [], windows: [], sequences }))
  tell()
  return {
    rule,
    tell,
    /** `revision`: of the rule when the block was matched; 0: it was not matched with the rule. */
    put(raw: RawBlock, text = '', { fails = false, revision = 1, rules = [1] } = {}) {
      store.writer.apply(store.prepare([raw]), () => {
        alertStore.stored({ hits: [], blocks: [rowsOf(raw, text, revision, rules)] })
        if (fails) throw new Error('the disk is full')
      })
    },
    remove: () => store.writer.also(() => alertStore.stored({ hits: [], gone: [1], windows: [], sequences: [] })),
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    restart() {
      alertStore = open()
      tell()
    },
    notes: () => [...alertStore.notes().values()],
    told: () =>
      outbox.after(0, 1000).map(({ type, alert }) => `${type} ${alert.block} ${Object.values(alert.when!.key)}`),
    all: () => [1, 2, 3].flatMap(rule => outbox.alerts(rule, { size: 1000 }).map(({ alert }) => alert)),
    path: store.path,
    count: (table: string) => store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  }
}

test('a sequence is one alert with its steps, in the block of the last one', () => {
  const { put, told, all } = setUp(PAIR)
  const chain = makeChain({ blocks: 7, from: 10 })
  for (const [i, text] of ['0a 0b', '0a 1c', '~b', '1a 1b 1a', '0c', '', ''].entries()) put(chain[i]!, text)
  assert.deepEqual(told(), ['confirmed 13 a'])
  const [alert] = all()
  assert.deepEqual(alert!.entity, { _id: '13 1a 0', _type: 'event' })
  assert.deepEqual(alert!.when, {
    key: { address: 'a' },
    window: { fromBlock: 11, toBlock: 13, blocks: 4 },
    conditions: [],
    matches: 2,
    entities: ['11 0a 0', '13 1a 0'],
    steps: [
      { block: 11, _id: '11 0a 0' },
      { block: 13, _id: '13 1a 0' },
    ],
    late: false,
  })
})

test('a step that is missing is told once the time is over, of each first step', () => {
  const { put, told, all } = setUp(LEFT)
  const chain = makeChain({ blocks: 9, from: 10 })
  for (const [i, text] of ['0a 0b', '0a', '', '1b', '1a', '', '', '', ''].entries()) put(chain[i]!, text)
  assert.deepEqual(told(), ['confirmed 14 a'])
  const [alert] = all()
  assert.equal(alert!.entity._type, 'block')
  assert.deepEqual(alert!.when!.steps, [{ block: 10, _id: '10 0a 0' }, { missing: true }])
})

test('a reorganisation retracts a sequence, and what the other branch completes is another alert', () => {
  const { put, back, told, all } = setUp(PAIR, { confirmations: 1, notifyPending: true })
  const chain = makeChain({ blocks: 4, from: 10 })
  for (const [i, text] of ['0a', '', '1a', ''].entries()) put(chain[i]!, text)
  assert.deepEqual(told(), ['pending 12 a', 'confirmed 12 a'])
  back(11)
  const other = makeChain({ blocks: 3, parent: chain[1]!, salt: 'other' })
  for (const [i, text] of ['', '1a', ''].entries()) put(other[i]!, text)
  assert.deepEqual(told().slice(2), ['retracted 12 a', 'pending 13 a', 'confirmed 13 a'])
  assert.equal(new Set(all().map(({ id }) => id)).size, 2)
})

test('over blocks that are missing, a step is never taken for missing, and what could be ended is forgotten', () => {
  const chain = makeChain({ blocks: 14, from: 10 })
  const left = setUp(LEFT)
  left.put(chain[0]!, '0a')
  left.put(chain[2]!)
  assert.deepEqual(left.notes(), ['Its sequences begin at block 12: what had begun before makes no alert.'])
  // It comes late, and changes nothing.
  left.put(chain[1]!, '1a')
  for (const raw of chain.slice(3, 8)) left.put(raw)
  assert.deepEqual([left.told(), left.notes()], [[], []])

  for (const [hasUntil, told] of [
    [true, []],
    [false, ['confirmed 12 a']],
  ] as const) {
    const pair = setUp({ ...PAIR, hasUntil })
    pair.put(chain[0]!, '0a')
    pair.put(chain[2]!, '1a')
    assert.deepEqual(pair.told(), told)
  }
  // Neither is a block that the rule did not look at, since it was paused or another one.
  const paused = setUp(LEFT)
  paused.put(chain[0]!, '0a')
  paused.put(chain[1]!, '', { revision: 0 })
  for (const raw of chain.slice(2, 8)) paused.put(raw)
  assert.deepEqual(paused.told(), [])
})

test('at its limits a rule refuses first steps, and says so', () => {
  const { put, told, notes, restart } = setUp(PAIR, { limits: { keys: 2, rows: 1_000 } })
  const chain = makeChain({ blocks: 2, from: 10 })
  put(chain[0]!, '0a 0b 0c')
  restart()
  put(chain[1]!, '1a 1c')
  assert.deepEqual(told(), ['confirmed 11 a'])
  assert.match(notes()[0]!, /^Its sequences hold 1 keys in 3 rows, of at most 2 and 1000: 1 first steps were left out/)
})

test('the rules of an account with steps make so many alerts in a block as matches may, and say so', () => {
  const { put, tell, rule, all, notes } = setUp(PAIR, { most: 2 })
  tell([rule, { ...rule, rule: 2 }, { ...rule, rule: 3, account: 2 }])
  const made = (number: number) => {
    const alerts = all().filter(({ block }) => block === number)
    return alerts.map(({ rule, when }) => `${rule} ${Object.values(when!.key)}`).sort()
  }
  const chain = makeChain({ blocks: 4, from: 10 })
  for (const [i, text] of ['0a 0b 0c', '1a 1b 1c', '0a', '1a'].entries()) put(chain[i]!, text, { rules: [1, 2, 3] })
  assert.deepEqual(made(11), ['1 a', '1 b', '3 a', '3 b'])
  assert.deepEqual(made(13), ['1 a', '2 a', '3 a'])
  const note = (count: number) =>
    `Sequences of the account make at most 2 alerts in one block: ${count} of this rule made none.`
  assert.deepEqual(notes(), [note(1), note(3), note(1)])
})

test('a changed rule begins anew, a deleted one leaves nothing, and rows below a window go', () => {
  const { put, tell, rule, told, count } = setUp(PAIR)
  const chain = makeChain({ blocks: KEPT_BELOW + 344, from: 10, txs: 0 })
  put(chain[0]!, '0a')
  tell([{ ...rule, revision: 2 }])
  put(chain[1]!, '1a', { revision: 2 })
  assert.deepEqual([told(), count('rule_rows')], [[], 0])
  put(chain[2]!, '0a', { revision: 2 })
  for (const raw of chain.slice(3)) put(raw, '', { revision: 2 })
  assert.equal(count('rule_rows'), 0)
  const gone = setUp(PAIR)
  gone.put(chain[0]!, '0a')
  assert.equal(gone.count('rule_rows'), 1)
  gone.remove()
  assert.deepEqual([gone.count('rule_rows'), gone.count('rule_window')], [0, 0])
})

test('what is salvaged of a store has its sequences', () => {
  const { put, path } = setUp(PAIR)
  const chain = makeChain({ blocks: 2, from: 10 })
  put(chain[0]!, '0a')
  put(chain[1]!, '1a 0b')
  salvageStore(path, `${path}-salvage`, [])
  const db = new Database(`${path}-salvage`, { readonly: true })
  const counts = ['rule_window', 'rule_rows', 'alert'].map(table =>
    db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  )
  db.close()
  assert.deepEqual(counts, [1, 2, 1])
})

const CASES = Number(process.env.CASES ?? 60)

test(`stored sequences are those of the chain in the end: ${CASES} histories with kills, failed writes and reorganisations`, () => {
  let alerts = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const shape = { ...pick([PAIR, LEFT]), steps: int(2, 3), within: pick([{ blocks: 6 }, { seconds: 70 }]) }
    const confirmations = int(0, 2)
    const { put, back, restart, all } = setUp(shape, { confirmations })
    let chain: { raw: RawBlock; text: string }[] = []
    const mine = () => {
      const last = chain.at(-1)?.raw
      const from = last ? { parent: last } : { from: 10 }
      const [raw] = makeChain({ blocks: 1, ...from, txs: 1, logs: 0, salt: `${seed}/${int(0, 1e9)}` }) as [RawBlock]
      const one = () => `${shape.hasUntil && int(0, 9) === 0 ? '~' : int(0, shape.steps - 1)}${pick(['a', 'b'])}`
      const text = Array.from({ length: int(0, 3) }, one).join(' ')
      if (int(0, 7) === 0) assert.throws(() => put(raw, `0a 0b ${text} 1a 1b`, { fails: true }), /full/)
      put(raw, text)
      chain.push({ raw, text })
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

    const sequence = createRuleSequence(shape, LIMITS)
    const top = Number(chain.at(-1)!.raw.block.number)
    const expected = chain.flatMap(({ raw: { block }, text }) => {
      const now = { number: Number(block.number), time: Number(block.timestamp) }
      const state = now.number + confirmations <= top ? 'confirmed' : 'pending'
      return sequence
        .step(now, matchesOf(text, now.number))
        .found.map(({ steps }) => `${state} ${block.hash} ${steps.map(({ id }) => id)}`)
    })
    const found = all()
      .filter(({ state }) => state !== 'retracted' && state !== 'withdrawn')
      .map(({ when, blockHash, state }) => `${state} ${blockHash} ${when!.entities}`)
    assert.deepEqual(found.sort(), expected.sort(), `seed ${seed}`)
    alerts += expected.length
  }
  assert.ok(alerts > CASES)
})
