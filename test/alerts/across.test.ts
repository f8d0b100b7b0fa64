import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { createRandom } from '../../scripts/demo/random.ts'
import { createAcrossDecision } from '../../src/alerts/across-decision.ts'
import { createAcrossReader } from '../../src/alerts/across-reader.ts'
import type { DecidedRule } from '../../src/alerts/across-running.ts'
import type { AcrossChange, AcrossRule } from '../../src/alerts/across-store.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { WindowRows } from '../../src/alerts/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { openForReading } from '../../src/engine/open.ts'
import { createPruning } from '../../src/engine/prune.ts'
import { salvageStore } from '../../src/engine/salvage.ts'
import type { WindowEntry } from '../../src/windows/entries.ts'
import { createRuleSequence, type SequenceShape, type StepMatch, UNTIL } from '../../src/windows/sequence.ts'
import type { WindowSpec } from '../../src/windows/spec.ts'
import { createRuleWindow } from '../../src/windows/window.ts'
import { hex, makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const LIMITS = { keys: 1_000, rows: 10_000 }
const MANY: WindowSpec = {
  ...{ by: ['from'], within: { seconds: 60 } },
  conditions: [{ aggregate: 'Count', operator: 'Greater or Equal', value: '3' }],
}
const SUM: WindowSpec = {
  ...{ by: ['from'], within: { seconds: 80 } },
  conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater', value: '12' }],
  resolve: [{ aggregate: 'Sum', name: 'value', operator: 'Less', value: '4' }],
}
const NONE: WindowSpec = {
  within: { seconds: 50 },
  conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
}
const HELD: WindowSpec = { ...MANY, hold: { seconds: 30 } }
const QUIET: WindowSpec = { ...NONE, hold: { seconds: 25 } }
const NEW: WindowSpec = { ...MANY, conditions: [{ aggregate: 'First', name: 'value' }] }
const TWICE: WindowSpec = {
  ...{ by: ['from'], within: { seconds: 40 } },
  conditions: [{ aggregate: 'Count', operator: 'Greater', value: '2', relativeTo: { windows: 2 } }],
}
const PAIR: SequenceShape = { steps: 2, isMissing: false, hasUntil: true, within: { seconds: 70 } }
const THREE: SequenceShape = { ...PAIR, steps: 3, hasUntil: false, within: { seconds: 120 } }
const LEFT: SequenceShape = { ...PAIR, isMissing: true }

interface Mined {
  raw: RawBlock
  text: string
  /** Whether the rule did not look at it. */
  isUnseen?: boolean
}
const timeOf = ({ raw: { block } }: Mined) => Number(block.timestamp)
const numberOf = ({ raw: { block } }: Mined) => Number(block.number)

/** `0a 1b ~a`: steps, as in the tests of sequences. */
const matchesOf = (text: string, id: string): StepMatch[] =>
  (text.match(/\S+/g) ?? []).map((one, at) => ({
    key: JSON.stringify([one.slice(1)]),
    step: one.startsWith('~') ? UNTIL : Number(one[0]),
    at,
    id: `${id} ${one} ${at}`,
  }))

/** `5a 3b`: values of keys. */
const entriesOf = (spec: WindowSpec, text: string, id: string): (WindowEntry & { last: string })[] => {
  const [condition] = spec.conditions
  const of = spec.by ? (text.match(/\S+/g) ?? []) : text === '' ? [] : [text]
  const keys = Map.groupBy(of, one => (spec.by ? JSON.stringify([one.slice(1)]) : '[]'))
  return [...keys].map(([key, all]) => {
    const sum = all.reduce((sum, one) => sum + Number.parseInt(one, 10), 0)
    const part =
      condition!.aggregate === 'Sum'
        ? ([String(sum), 0, all.length, 0] as [string, number, number, 0])
        : { of: [...new Set(all.map(one => one[0]!))] }
    const ids = all.map((one, i) => `${id} ${one} ${i}`)
    return { key, count: all.length, ids, parts: condition!.aggregate === 'Count' ? [] : [part], last: ids.at(-1)! }
  })
}

const textOf = ({ text, isUnseen }: Mined) => (isUnseen ? '' : text)
const isWindow = (of: WindowSpec | SequenceShape): of is WindowSpec => 'conditions' in of

interface Options {
  of: WindowSpec | SequenceShape
  networks: number
  confirmations?: DecidedRule['confirmations']
  keptBelow?: number
  most?: number
  deep?: number
  part?: number
}

/** Networks `a`, `b`… with a store each, which decide one rule over all of them. */
const setUp = ({ of, networks: count, confirmations = 0, most = 1_000, ...depths }: Options) => {
  const names = Array.from({ length: count }, (_, i) => `ethereum/test/${'abc'[i]}`)
  const rule: AcrossRule = { rule: 1, revision: 1, start: 10, notifyResolved: true, limits: LIMITS }
  let at = 1_000
  const networks = names.map(name => {
    const store = createTestStore()
    const outbox = openOutbox(store.path)
    const reader = createAcrossReader(openForReading(store.path))
    let decided: DecidedRule = {
      ...{ rule: 1, revision: 1, own: name, networks: names, of, by: isWindow(of) ? (of.by ?? []) : ['from'] },
      ...{ targetType: 'Event', kind: 'event', confirmations, notifyPending: false, most },
    }
    let revision = 1
    let alertStore = createAlertStore(store.db, () => at++)
    let decision = createAcrossDecision(decided, depths)
    const tell = (across: readonly AcrossRule[] = [rule]) =>
      store.writer.also(() => alertStore.stored({ hits: [], windows: [], sequences: [], across }))
    tell()
    return {
      ...{ name, reader, store, outbox, tell },
      /** Another rule, other networks. */
      change({
        limits = LIMITS,
        ...changes
      }: Partial<Pick<DecidedRule, 'revision' | 'networks'> & Pick<AcrossRule, 'limits'>>) {
        decided = { ...decided, ...changes }
        revision = decided.revision
        decision = createAcrossDecision(decided, depths)
        tell([{ ...rule, revision, limits }])
      },
      remove: () => store.writer.also(() => alertStore.stored({ hits: [], gone: [1], across: [] })),
      pause: (paused: number[]) =>
        store.writer.also(() => alertStore.stored({ hits: [], paused, across: paused.length > 0 ? [] : [rule] })),
      mark: (number: number) =>
        store.writer.also(() =>
          alertStore.stored({
            hits: [],
            marks: { safe: null, finalized: { number, hash: reader.hash(number)! }, depth: 64 },
          }),
        ),
      notes: () => [...alertStore.notes().values()],
      chain: [] as Mined[],
      highest: 0,
      put(mined: Mined, fails = false) {
        const { raw, text, isUnseen } = mined
        const number = Number(raw.block.number)
        const id = `${name} ${number}`
        const matches = isWindow(of) ? [] : matchesOf(text, id)
        const entries = isWindow(of) ? entriesOf(of, text, id) : []
        const rows: WindowRows = {
          ...{ number, time: Number(raw.block.timestamp), hash: raw.block.hash, receivedAt: 5 },
          own: { _id: raw.block.hash, _type: 'block', source: '{}' },
          sources: entries.map(({ last }) => ({ _id: last, _type: 'event', source: '{}' })),
          matched: new Map(isUnseen ? [] : [[1, revision]]),
          rules: isWindow(of)
            ? [{ rule: 1, entries: entries.map(({ last: _, ...entry }) => entry), lasts: entries.map((_, i) => i) }]
            : [],
          steps: isWindow(of) ? [] : [{ rule: 1, matches, lasts: [] }],
        }
        store.writer.apply(store.prepare([raw]), () => {
          alertStore.stored({ hits: [], blocks: [rows] })
          if (fails) throw new Error('the disk is full')
        })
        this.chain.push(mined)
        this.highest = Math.max(this.highest, number)
      },
      back(to: number) {
        store.writer.rollback(to, () => alertStore.retractAbove(to))
        this.chain = this.chain.filter(one => numberOf(one) <= to)
      },
      restart() {
        alertStore = createAlertStore(store.db, () => at++)
        decision = createAcrossDecision(decided, depths)
        tell()
      },
      /** `lost`: killed before anything is written; `fails`: it cannot be written; `part`: no more than one part of it. */
      look(how: 'lost' | 'fails' | 'part' | 'written' = 'written'): string | undefined {
        const { change, note, goesOn } = decision.look(new Map(networks.map(one => [one.name, one.reader])), 5)
        if (change && how !== 'lost') {
          const opened = change.opened.map(one => ({ ...one, match: { ...one.match, source: '{}' } }))
          const whole: AcrossChange = { ...change, opened }
          const write = () =>
            store.writer.also(() => {
              alertStore.stored({ hits: [], acrossChanges: [whole] })
              if (how === 'fails') throw new Error('the disk is full')
            })
          if (how === 'fails') assert.throws(write, /full/)
          else write()
        }
        if (how === 'lost' || how === 'fails') decision = createAcrossDecision(decided, depths)
        return goesOn && how === 'written' ? this.look() : note
      },
      /** Prunes blocks with so many above them, by whole segments. */
      prune(keepBlocks: number) {
        const pruning = createPruning(store.db)
        store.writer.also(() => {
          while (pruning.hide({ keepBlocks }));
          while (pruning.sweep());
        })
      },
      alerts: () => outbox.alerts(1, { size: 10_000 }).map(({ alert }) => alert),
      told: () => outbox.after(0, 10_000).map(({ type, alert }) => ({ type, alert })),
      count: (table: string) => store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
    }
  })
  return {
    networks,
    mine(network: number, text: string, time: number, { salt = '', fails = false, isUnseen = false } = {}) {
      const one = networks[network]!
      const last = one.chain.at(-1)?.raw
      const [raw] = makeChain({
        ...{ blocks: 1, ...(last ? { parent: last } : { from: 10 }), txs: 1, logs: 0, salt: `${network} ${salt}` },
      }) as [RawBlock]
      Object.assign(raw.block, { timestamp: hex(time) })
      if (fails) {
        const before = one.chain
        one.chain = [...before]
        assert.throws(() => one.put({ raw, text: '9a 9a 0a 1a' }, true), /full/)
        one.chain = before
      }
      one.put({ raw, text, isUnseen })
    },
    look: () => networks.map(one => one.look()),
    /** What is alive, as `network block key`. */
    alive: () =>
      networks.flatMap(({ name, alerts }) =>
        alerts()
          .filter(({ state }) => state !== 'withdrawn' && state !== 'retracted')
          .map(({ block, state, when }) => `${state} ${name.at(-1)} ${block} ${Object.values(when!.key)}`),
      ),
    told: () =>
      networks.map(({ told }) =>
        told().map(({ type, alert }) => `${type} ${alert.block} ${Object.values(alert.when!.key)}`),
      ),
  }
}

test('steps in two networks are one alert, in the block of the last one, once both have passed it', () => {
  const { mine, look, alive, networks } = setUp({ of: PAIR, networks: 2 })
  mine(0, '', 1_000)
  mine(1, '', 1_001)
  mine(0, '0a 0b', 1_010)
  mine(1, '1a', 1_030)
  mine(0, '', 1_030)
  look()
  assert.deepEqual(alive(), [])
  mine(0, '', 1_040)
  look()
  // Network b may have another block of that second.
  assert.deepEqual(alive(), [])
  mine(1, '1b', 1_082)
  look()
  assert.deepEqual(alive(), ['confirmed b 11 a'])
  const [alert] = networks[1]!.alerts()
  assert.deepEqual(alert!.entity, { _id: 'ethereum/test/b 11 1a 0', _type: 'event' })
  assert.deepEqual(alert!.when, {
    key: { from: 'a' },
    window: { fromTime: 1_010, toTime: 1_030, seconds: 70 },
    conditions: [],
    matches: 2,
    entities: ['ethereum/test/a 11 0a 0', 'ethereum/test/b 11 1a 0'],
    steps: [
      { network: 'ethereum/test/a', block: 11, _id: 'ethereum/test/a 11 0a 0' },
      { network: 'ethereum/test/b', block: 11, _id: 'ethereum/test/b 11 1a 0' },
    ],
    late: false,
  })
})

test('a reorganisation of the first network takes the alert of the second back, and it comes again', () => {
  const { mine, look, told, networks } = setUp({ of: PAIR, networks: 2 })
  mine(0, '', 1_000)
  mine(1, '', 1_000)
  mine(0, '0a', 1_010)
  mine(1, '1a', 1_020)
  mine(0, '', 1_030)
  mine(1, '', 1_031)
  look()
  const before = networks[0]!.chain.slice(1)
  networks[0]!.back(10)
  mine(0, '', 1_010, { salt: 'other' })
  mine(0, '', 1_030, { salt: 'other' })
  look()
  assert.deepEqual(told(), [[], ['confirmed 11 a', 'retracted 11 a']])
  networks[0]!.back(10)
  for (const one of before) networks[0]!.put(one)
  look()
  assert.deepEqual(told(), [[], ['confirmed 11 a', 'retracted 11 a', 'confirmed 11 a']])
  assert.equal(new Set(networks[1]!.alerts().map(({ id }) => id)).size, 1)
})

test('a reorganisation that goes and comes back between two looks loses no alert', () => {
  const { mine, look, told, networks } = setUp({ of: PAIR, networks: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a', 1_010)
  mine(1, '1a', 1_020)
  for (const i of [0, 1]) mine(i, '', 1_030)
  look()
  const before = networks[1]!.chain.slice(1)
  networks[1]!.back(10)
  mine(1, '', 1_021, { salt: 'other' })
  networks[1]!.back(10)
  for (const one of before) networks[1]!.put(one)
  look()
  assert.deepEqual(told()[1], ['confirmed 11 a', 'retracted 11 a', 'confirmed 11 a'])
})

test('an alert is confirmed once its block and those of the other networks are deep enough', () => {
  const { mine, look, alive } = setUp({ of: MANY, networks: 2, confirmations: 2 })
  mine(0, '', 1_000)
  mine(1, '', 1_000)
  mine(0, '1a 1a', 1_010)
  mine(1, '1a', 1_020)
  for (const time of [1_030, 1_040]) mine(1, '', time)
  mine(0, '', 1_041)
  look()
  assert.deepEqual(alive(), ['pending b 11 a'])
  mine(0, '', 1_042)
  look()
  assert.deepEqual(alive(), ['confirmed b 11 a'])
})

test('a step that another one takes the place of after a reorganisation is shown', () => {
  const { mine, look, networks } = setUp({ of: THREE, networks: 2, confirmations: 1 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a', 1_010)
  mine(1, '', 1_020)
  mine(0, '1a 2a', 1_030)
  for (const i of [1, 0]) mine(i, '', 1_040)
  look()
  const steps = () => networks[0]!.alerts().map(({ id, when }) => [id, when!.steps!.map(it => 'block' in it && it._id)])
  const [[id, before]] = steps() as [[string, string[]]]
  assert.equal(before[1], 'ethereum/test/a 12 1a 0')
  networks[1]!.back(10)
  for (const time of [1_020, 1_050]) mine(1, time === 1_020 ? '1a' : '', time, { salt: 'other' })
  look()
  assert.deepEqual(steps(), [[id, [before[0], 'ethereum/test/b 11 1a 0', before[2]]]])
})

test('an end shows the block that has its time after a reorganisation', () => {
  const { mine, look, networks } = setUp({ of: MANY, networks: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  for (const i of [0, 1]) mine(i, '', 1_080)
  mine(0, '1a 1a 1a', 1_090)
  mine(1, '', 1_100)
  for (const time of [1_155, 1_170]) mine(1, '', time)
  mine(0, '', 1_180)
  for (let i = 0; i < 2; i++) look()
  const shown = () => networks[0]!.alerts().map(({ state, when }) => [state, when!.ended!.block])
  assert.deepEqual(shown(), [['resolved', 13]])
  networks[1]!.back(11)
  for (const time of [1_110, 1_120, 1_155, 1_190]) mine(1, '', time, { salt: 'other' })
  look()
  assert.deepEqual(shown(), [['resolved', 14]])
})

test('with a tag, an alert is confirmed once all networks are final up to it', () => {
  const { mine, look, alive, networks } = setUp({ of: MANY, networks: 2, confirmations: 'finalized' })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '1a 1a', 1_010)
  mine(1, '1a', 1_020)
  for (const i of [0, 1]) mine(i, '', 1_040)
  networks[1]!.mark(11)
  networks[0]!.mark(10)
  look()
  look()
  assert.deepEqual(alive(), ['pending b 11 a'])
  networks[0]!.mark(11)
  look()
  assert.deepEqual(alive(), ['confirmed b 11 a'])
})

test('what a rule waits for is said, and how far back it knows', () => {
  const { mine, look, networks } = setUp({ of: PAIR, networks: 2 })
  mine(0, '', 1_000)
  const unseen = 'It waits for ethereum/test/b, of which it has seen no block: nothing is decided before.'
  assert.deepEqual(look(), [unseen, unseen])
  mine(1, '', 1_010)
  const begins = 'Its sequences begin at 1970-01-01T00:16:50.000Z: steps before that are not known.'
  assert.deepEqual(look(), [begins, begins])
  mine(0, '', 1_400)
  const waits =
    'It waits for ethereum/test/b, whose newest block is of 1970-01-01T00:16:50.000Z: nothing after that is decided.'
  assert.deepEqual(look(), [waits, waits])
  mine(1, '', 1_390)
  assert.deepEqual(look(), [undefined, undefined])
  networks[0]!.change({ limits: { keys: 1, rows: 1 } })
  mine(0, '0a 0b', 1_410)
  assert.deepEqual(networks[0]!.notes(), [
    'It keeps 1 rows of this network, of at most 1: 1 times, matches in a block were left out.',
  ])
})

test('sequences make so many alerts in a block as matches may, and the rule says so', () => {
  const { mine, look, alive } = setUp({ of: PAIR, networks: 2, most: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a 0b 0c', 1_010)
  mine(1, '1a 1b 1c', 1_020)
  for (const i of [0, 1]) mine(i, '', 1_080)
  const note = 'Its sequences make at most 2 alerts in one block: 1 of this network made none.'
  assert.deepEqual(look(), [undefined, note])
  assert.deepEqual(alive(), ['confirmed b 11 b', 'confirmed b 11 a'])
})

test('a changed rule begins anew, and what is told of it before waits for no other network', () => {
  const { mine, look, alive, networks } = setUp({ of: PAIR, networks: 2, confirmations: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a 0b', 1_010)
  mine(1, '1a', 1_020)
  for (const time of [1_021, 1_022]) for (const i of [0, 1]) mine(i, '', time)
  look()
  assert.deepEqual(alive(), ['confirmed b 11 a'])
  mine(1, '1b', 1_023)
  mine(0, '', 1_024)
  for (const time of [1_030, 1_031]) mine(1, '', time)
  look()
  assert.deepEqual(alive(), ['pending b 14 b', 'confirmed b 11 a'])
  for (const one of networks) one.change({ revision: 2 })
  assert.deepEqual(alive(), ['confirmed b 14 b', 'confirmed b 11 a'])
  for (const i of [0, 1]) mine(i, '', 1_040)
  mine(1, '1b', 1_041)
  for (const i of [0, 1]) mine(i, '', 1_050)
  look()
  assert.equal(alive().length, 2)
  assert.equal(networks[0]!.count('rule_rows'), 0)
})

test('a deleted rule leaves nothing, and its pending alerts are withdrawn', () => {
  const { mine, look, networks } = setUp({ of: PAIR, networks: 2, confirmations: 5 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a', 1_010)
  mine(1, '1a', 1_020)
  for (const i of [0, 1]) mine(i, '', 1_030)
  look()
  for (const one of networks) one.remove()
  assert.deepEqual(
    networks.map(({ alerts }) => alerts().map(({ state }) => state)),
    [[], ['withdrawn']],
  )
  for (const table of ['rule_rows', 'rule_window', 'across', 'across_alert'])
    assert.deepEqual(
      networks.map(({ count }) => count(table)),
      [0, 0],
    )
})

test('a rule that is decided here no longer leaves no alert pending, nor does the loss of what is known of it', () => {
  for (const how of ['edited', 'lost']) {
    const { mine, look, alive, networks } = setUp({ of: PAIR, networks: 2, confirmations: 2 })
    for (const i of [0, 1]) mine(i, '', 1_000)
    mine(0, '0a', 1_010)
    mine(1, '1a', 1_020)
    for (const i of [0, 1]) mine(i, '', 1_030)
    look()
    assert.deepEqual(alive(), ['pending b 11 a'])
    for (const { tell, store } of networks) {
      if (how === 'lost') store.db.exec('DELETE FROM across_alert')
      tell(how === 'lost' ? undefined : [])
    }
    for (const time of [1_040, 1_050]) mine(1, '', time)
    assert.deepEqual(alive(), ['confirmed b 11 a'])
    if (how === 'edited') assert.equal(networks[1]!.count('rule_rows'), 0)
  }
})

test('a paused rule begins anew where it goes on, and tells then what was pending', () => {
  const { mine, look, alive, networks } = setUp({ of: PAIR, networks: 2, confirmations: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a 0b', 1_010)
  mine(1, '1a', 1_020)
  for (const time of [1_019, 1_021]) mine(0, '', time)
  for (const time of [1_025, 1_026]) mine(1, '', time)
  look()
  assert.deepEqual(alive(), ['pending b 11 a'])
  for (const one of networks) one.pause([1])
  for (const i of [0, 1]) mine(i, i === 1 ? '1b' : '', 1_030)
  assert.deepEqual(alive(), ['pending b 11 a'])
  for (const one of networks) one.pause([])
  for (const i of [0, 1]) mine(i, '', 1_040)
  // It may have been ended meanwhile.
  mine(1, '1b', 1_045)
  mine(0, '0b', 1_046)
  mine(1, '1b', 1_047)
  for (const time of [1_050, 1_060]) for (const i of [0, 1]) mine(i, '', time)
  look()
  assert.deepEqual(alive(), ['confirmed b 17 b', 'confirmed b 11 a'])
})

test('where a paused rule goes on, what another network has reorganised away meanwhile is taken back', () => {
  for (const confirmations of [0, 3]) {
    const { mine, look, told, alive, networks } = setUp({ of: PAIR, networks: 2, confirmations })
    for (const i of [0, 1]) mine(i, '', 1_000)
    mine(0, '0a', 1_010)
    mine(1, '1a', 1_020)
    for (const i of [0, 1]) mine(i, '', 1_030)
    look()
    assert.equal(alive().length, 1)
    for (const one of networks) one.pause([1])
    networks[0]!.back(10)
    for (const time of [1_011, 1_030, 1_040]) mine(0, '', time, { salt: 'other' })
    mine(1, '', 1_040)
    for (const one of networks) one.pause([])
    for (const time of [1_050, 1_060, 1_070]) for (const i of [0, 1]) mine(i, '', time)
    look()
    assert.deepEqual(alive(), [])
    assert.deepEqual(told()[1], confirmations === 0 ? ['confirmed 11 a', 'retracted 11 a'] : [])
  }
})

test('what was found before blocks that the rule did not see is told all the same, and is taken back with its blocks', () => {
  const { mine, look, alive, networks } = setUp({ of: PAIR, networks: 2, confirmations: 9 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '0a 0b', 1_010)
  mine(1, '1a', 1_020)
  mine(0, '', 1_030)
  mine(1, '', 1_031, { isUnseen: true })
  for (const i of [0, 1]) mine(i, '', 1_040)
  mine(1, '1b', 1_041)
  for (const i of [0, 1]) mine(i, '', 1_050)
  look()
  // What was not seen may have ended the other one.
  assert.deepEqual(alive(), ['pending b 11 a'])
  networks[0]!.back(10)
  for (const time of [1_011, 1_060, 1_070, 1_080])
    for (const i of [0, 1]) mine(i, '', Math.max(time, 1_051), { salt: 'other' })
  look()
  assert.deepEqual(alive(), [])
})

test('blocks that the rule did not see may end a sequence also where they begin before all networks are seen', () => {
  const { mine, look, alive } = setUp({ of: PAIR, networks: 2 })
  mine(0, '', 1_000)
  mine(1, '', 1_005)
  mine(0, '', 1_010, { isUnseen: true })
  mine(1, '0a', 1_020)
  mine(1, '1a', 1_030)
  mine(0, '', 1_040)
  mine(1, '', 1_050)
  mine(0, '', 1_060)
  look()
  assert.deepEqual(alive(), [])
})

test('a gap of one network that ends before that of another one does not end that', () => {
  const { mine, look, alive } = setUp({ of: NEW, networks: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  for (const i of [0, 1]) mine(i, '', 1_100)
  mine(0, '', 1_110, { isUnseen: true })
  mine(1, '', 1_120)
  mine(1, '', 1_125, { isUnseen: true })
  mine(1, '', 1_130)
  mine(0, '', 1_200)
  mine(1, '1a', 1_210)
  mine(0, '', 1_270)
  mine(1, '2a', 1_280)
  for (const i of [0, 1]) mine(i, '', 1_300)
  look()
  assert.deepEqual(alive(), ['confirmed b 16 a,2'])
})

test('silence is none while a network has blocks that the rule did not see', () => {
  const { mine, look, alive } = setUp({ of: NONE, networks: 2 })
  for (const i of [0, 1]) mine(i, '5', 1_000)
  for (const i of [0, 1]) mine(i, '5', 1_040)
  mine(0, '', 1_060, { isUnseen: true })
  mine(1, '', 1_095)
  mine(0, '', 1_100)
  mine(1, '', 1_149)
  mine(0, '', 1_150)
  look()
  assert.deepEqual(alive(), [])
  for (const i of [0, 1]) mine(i, '', 1_160)
  look()
  assert.deepEqual(alive().length, 1)
})

test('at its limit of rows, a rule still decides what it has', () => {
  const { mine, look, alive, networks } = setUp({ of: MANY, networks: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  networks[0]!.change({ limits: { keys: 1_000, rows: 2 } })
  mine(0, '1a 1b', 1_010)
  mine(1, '1a', 1_015)
  mine(0, '1a 1b', 1_020)
  mine(1, '1a', 1_025)
  for (const i of [0, 1]) mine(i, '', 1_030)
  look()
  assert.deepEqual(alive(), ['confirmed b 12 a'])
})

test('what was not decided yet where a network comes or goes is decided all the same', () => {
  for (const shape of [MANY, THREE, PAIR, HELD]) {
    const text = isWindow(shape) ? ['1a 1a 1a', ''] : shape === THREE ? ['0a', '1a 2a'] : ['0a', '1a']
    const open = (networks: number[]) => {
      const set = setUp({ of: shape, networks: 3, part: 1 })
      const names = set.networks.map(({ name }) => name)
      const use = (all: number[]) => {
        for (const one of set.networks) one.change({ networks: all.map(i => names[i]!) })
      }
      use(networks)
      return { ...set, use, lookAt: (all: number[]) => all.map(i => set.networks[i]!.look()) }
    }
    // The last one stands still, and is taken out.
    const left = open([0, 1, 2])
    for (const i of [0, 1, 2]) left.mine(i, '', 1_000)
    for (const i of [0, 1, 2]) left.mine(i, '', 1_100)
    left.look()
    left.mine(0, text[0]!, 1_110)
    left.mine(1, text[1]!, 1_120)
    for (const time of [1_150, 1_400]) for (const i of [0, 1]) left.mine(i, '', time)
    left.lookAt([0, 1])
    assert.deepEqual(left.alive(), [])
    left.use([0, 1])
    for (let i = 0; i < 3; i++) left.lookAt([0, 1])
    assert.equal(left.alive().length, 1, JSON.stringify(shape))

    // One comes while another one stands still.
    const joined = open([0, 1])
    for (const i of [0, 1]) joined.mine(i, '', 1_000)
    for (const i of [0, 1]) joined.mine(i, '', 1_100)
    joined.lookAt([0, 1])
    joined.mine(0, text[0]!, 1_110)
    joined.use([0, 1, 2])
    joined.mine(2, '', 1_350)
    joined.mine(1, text[1]!, 1_120)
    for (const time of [1_150, 1_340]) for (const i of [0, 1]) joined.mine(i, '', time)
    for (let i = 0; i < 3; i++) joined.look()
    assert.equal(joined.alive().length, 1, JSON.stringify(shape))
    joined.mine(0, text[0]!, 1_360)
    joined.mine(2, text[1]!, 1_370)
    for (const time of [1_395, 1_800]) for (const i of [0, 1, 2]) joined.mine(i, '', time)
    for (let i = 0; i < 3; i++) joined.look()
    assert.equal(joined.alive().length, 2, JSON.stringify(shape))
  }
})

test('where networks come and go, what is told stays, and the rule goes on', () => {
  const { mine, look, alive, told, networks } = setUp({ of: PAIR, networks: 3 })
  const names = networks.map(({ name }) => name)
  for (const i of [0, 1]) {
    networks[i]!.change({ networks: names.slice(0, 2) })
    mine(i, '', 1_000)
  }
  mine(0, '0a', 1_010)
  mine(1, '1a', 1_020)
  for (const i of [0, 1]) mine(i, '', 1_030)
  const lookAt = (all: number[]) => all.map(i => networks[i]!.look())
  lookAt([0, 1])
  for (const one of networks) one.change({ networks: names })
  mine(2, '0a', 1_035)
  for (const i of [0, 1, 2]) mine(i, '', 1_040)
  look()
  for (const i of [0, 1, 2]) mine(i, '', 1_045)
  look()
  mine(2, '0b', 1_050)
  mine(1, '1b', 1_060)
  for (const i of [0, 1, 2]) mine(i, '', 1_070)
  look()
  assert.deepEqual(alive(), ['confirmed b 15 b', 'confirmed b 11 a'])
  for (const i of [0, 1]) networks[i]!.change({ networks: names.slice(0, 2) })
  lookAt([0, 1])
  for (const i of [0, 1]) mine(i, '', 1_080)
  lookAt([0, 1])
  mine(0, '0a', 1_090)
  mine(1, '1a', 1_100)
  for (const i of [0, 1]) mine(i, '', 1_110)
  lookAt([0, 1])
  assert.deepEqual(told()[1], ['confirmed 11 a', 'confirmed 15 b', 'confirmed 18 a'])
})

test('rows and alerts that no network needs any more are forgotten, and a salvaged store has the others', () => {
  const { mine, look, alive, networks } = setUp({ of: PAIR, networks: 2, keptBelow: 4 })
  for (let i = 0; i < 40; i++) {
    mine(0, '0a', 1_000 + i * 20)
    mine(1, '1a', 1_005 + i * 20)
    look()
  }
  assert.equal(alive().length, 38)
  for (const { count } of networks) assert.ok((count('rule_rows') as number) < 20, String(count('rule_rows')))
  assert.ok((networks[1]!.count('across_alert') as number) < 20)
  const { path } = networks[1]!.store
  salvageStore(path, `${path}-salvage`, [])
  const db = new Database(`${path}-salvage`, { readonly: true })
  for (const table of ['rule_rows', 'across', 'across_alert'])
    assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), networks[1]!.count(table))
  db.close()
})

test('a backlog is decided in parts, each with a few rows, and a kill between them loses nothing', () => {
  const { mine, alive, networks } = setUp({ of: PAIR, networks: 2, part: 300 })
  for (let i = 0; i < 60; i++) {
    mine(0, '0a', 1_000 + i * 20)
    mine(1, '1a', 1_005 + i * 20)
  }
  const [, second] = networks as [unknown, (typeof networks)[0]]
  for (let i = 0; i < 5; i++) second.look('part')
  const found = alive().length
  assert.ok(found > 0 && found < 20, `${found} alerts`)
  second.restart()
  second.look()
  assert.equal(alive().length, 58)
})

test('what opened in pruned blocks stays as it is told, also where it is decided again', () => {
  const { mine, look, told, networks } = setUp({ of: MANY, networks: 2 })
  for (const i of [0, 1]) mine(i, '', 1_000)
  mine(0, '1a 1a', 1_010)
  mine(1, '1a', 1_020)
  for (let i = 0; i < 200; i++) for (const n of [0, 1]) mine(n, '', 1_100 + i * 10)
  for (let i = 0; i < 2; i++) look()
  const before = told()
  assert.deepEqual(before[1], ['confirmed 11 a', 'resolved 11 a'])
  for (const one of networks) {
    one.prune(64)
    one.restart()
  }
  for (const i of [0, 1]) mine(i, '', 5_000)
  look()
  assert.deepEqual(told(), before)
})

test('rows are forgotten also where fewer blocks are kept than may be reorganised', () => {
  const { mine, look, networks } = setUp({ of: HELD, networks: 2, keptBelow: 100 })
  for (let i = 0; i < 300; i++) {
    mine(0, '1a', 1_100 + i * 10)
    mine(1, '', 1_100 + i * 10)
    if (i % 10 > 0) continue
    look()
    for (const one of networks) one.prune(64)
  }
  const rows = networks[0]!.count('rule_rows') as number
  assert.ok(rows < 200, `${rows} rows`)
})

test('where blocks that a hold reaches back to are pruned, a rule says so after a start, and tells what opens later', () => {
  const { mine, look, networks, told } = setUp({ of: { ...NONE, hold: { seconds: 300 } }, networks: 2 })
  let time = 1_000
  const pass = (seconds: number) => {
    for (const end = time + seconds; time < end; time += 2) {
      for (const i of [0, 1]) mine(i, time === 1_000 ? '5' : '', time)
      if (time % 20 > 0) continue
      for (const one of networks) one.prune(64)
      look()
    }
  }
  pass(200)
  for (const one of networks) one.restart()
  const [note] = look()
  assert.match(
    note!,
    /^Blocks that its hold reaches back to are pruned: of what opens before 1970-01-01T00:2\d:\d\d.000Z, it tells nothing.$/,
  )
  pass(400)
  assert.deepEqual([told().flat().length, look()[0]], [1, undefined])
})

const CASES = Number(process.env.CASES ?? 12)

/** What is alive in the end, computed at once from all blocks. */
const expectedOf = (
  of: WindowSpec | SequenceShape,
  chains: readonly (readonly Mined[])[],
  names: readonly string[],
  confirmations: number,
): string[] => {
  const all = chains
    .flatMap((chain, i) =>
      chain.map(mined => ({ name: names[i]!, mined, time: timeOf(mined), number: numberOf(mined) })),
    )
    .sort((a, b) => a.time - b.time || (a.name === b.name ? a.number - b.number : a.name < b.name ? -1 : 1))
  const since = Math.max(...chains.map(([first]) => timeOf(first!)))
  const until = Math.min(...chains.map(chain => timeOf(chain.findLast(({ isUnseen }) => !isUnseen)!)))
  const isDeep = (time: number) =>
    chains.every(chain => chain.filter(one => timeOf(one) > time).length >= Math.max(confirmations, 1))
  const found: string[] = []
  const open = new Map<string, (end?: { id: string; time: number }) => string>()
  const sequence = isWindow(of) ? undefined : createRuleSequence(of, LIMITS)
  const window = isWindow(of) ? createRuleWindow(of, LIMITS) : undefined
  let seenFrom = since
  window?.setSince({ number: 1, time: since })
  /** The last block before which what was not seen could have ended a sequence. */
  let blind = -1
  const skip = (i: number) => {
    const { name, number } = all[i]!
    const chain = all.filter(one => one.name === name && one.number > number)
    if (!chain[0]?.mined.isUnseen) return
    const next = chain.find(({ mined }) => !mined.isUnseen)!
    seenFrom = Math.max(seenFrom, next.time)
    window?.setSince({ number: i + 2, time: seenFrom })
    sequence?.skip()
    blind = Math.max(blind, all.indexOf(next) - 1)
  }
  const decide = (i: number, { name, mined, time, number }: (typeof all)[number]) => {
    const now = { number: i + 1, time }
    const id = `${name} ${number}`
    const told = (key: string) => (end?: { id: string; time: number }) => {
      const state = !isDeep(time) ? 'pending' : end && isDeep(end.time) ? 'resolved' : 'confirmed'
      return `${state} ${id} ${mined.raw.block.hash} ${key}${end ? ` until ${end.id}` : ''}`
    }
    if (sequence) {
      // What is not known could have ended it.
      if (time < since && of !== THREE) return
      if (of !== THREE && i <= blind) return
      const { found: complete } = sequence.step(now, textOf(mined) === '' ? [] : matchesOf(mined.text, id))
      if (time < since) return
      for (const { key, steps } of complete) found.push(told(`${key} ${steps.map(({ id }) => id)}`)())
      return
    }
    const entries = entriesOf(of as WindowSpec, textOf(mined), id)
    if (time < since) {
      window!.load(now, entries)
      return
    }
    const { ended, opened, first } = window!.step(now, entries)
    for (const key of ended) {
      found.push(open.get(key)!({ id, time }))
      open.delete(key)
    }
    for (const key of opened) open.set(key, told(key))
    for (const { key, value } of first) found.push(told(`${key} ${value}`)())
  }
  for (const [i, { name, mined, time, number }] of all.entries()) {
    if (time >= until) break
    decide(i, { name, mined, time, number })
    if (!mined.isUnseen) skip(i)
  }
  for (const one of open.values()) found.push(one())
  return found.sort()
}

const MESSAGES = /^(C(RC)*R?T)*(C(RC)*R?)?$/

test(`alerts of several networks are those of the chains in the end: ${CASES} histories with kills, failed writes, gaps and reorganisations`, () => {
  let [alerts, taken] = [0, 0]
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const of = pick([MANY, SUM, NONE, HELD, QUIET, NEW, TWICE, PAIR, THREE, LEFT])
    const confirmations = int(0, 2)
    const { networks, mine } = setUp({
      of,
      networks: int(2, 3),
      confirmations,
      keptBelow: pick([8, 8, 2_048]),
      deep: int(1, 5),
      part: pick([1, 200, 1_000_000]),
    })
    const steps = isWindow(of) ? 0 : of.steps
    const oneMatch = () => {
      if (isWindow(of)) return `${int(1, 6)}${pick(['a', 'b'])}`
      return `${of.hasUntil && int(0, 9) === 0 ? '~' : int(0, steps - 1)}${pick(['a', 'b'])}`
    }
    let maySkip = false
    const timeAt = (i: number) => timeOf(networks[i]!.chain.at(-1)!)
    const mineOne = (i: number) => {
      const text = int(0, 2) === 0 ? '' : Array.from({ length: int(1, 2) }, oneMatch).join(' ')
      const after = pick([0, 1, 5, 5, 10, 10, 20, 45])
      const time = networks[i]!.chain.length === 0 ? 1_000 + int(0, 20) : timeAt(i) + after
      const isUnseen = maySkip && int(0, 9) === 0
      mine(i, text, time, { salt: `${seed} ${int(0, 1e9)}`, fails: int(0, 9) === 0, isUnseen })
    }
    for (const i of networks.keys()) for (let n = int(1, 2); n > 0; n--) mineOne(i)
    maySkip = true
    /** It stands still for a while. */
    let still = -1
    for (let i = 0; i < 90; i++) {
      const what = int(0, 19)
      const one = pick(networks)
      if (what === 0) one.restart()
      else if (what === 1) one.look(pick(['lost', 'fails', 'part', 'part']))
      else if (what === 2) still = int(-1, networks.length - 1)
      else if (what === 3 && one.chain.length > 1) {
        // Not below what a network keeps, also by several in a row.
        const down = Math.max(0, one.chain.length - 1 - int(1, 4), one.highest - 16)
        if (down >= one.chain.length - 1) continue
        taken++
        const left = one.chain.slice(down + 1)
        one.back(numberOf(one.chain[down]!))
        if (int(0, 2) > 0) continue
        mineOne(networks.indexOf(one))
        if (int(0, 1) === 0) pick(networks).look()
        one.back(numberOf(one.chain[down]!))
        for (const mined of left) one.put(mined)
      } else if (what < 9) one.look()
      else {
        // The one that is behind, so that none is left too far behind.
        const moving = [...networks.keys()].filter(n => n !== still).sort((a, b) => timeAt(a) - timeAt(b))
        mineOne(int(0, 2) === 0 ? pick(moving) : moving[0]!)
      }
    }
    maySkip = false
    const top = Math.max(...networks.map((_, i) => timeAt(i)))
    for (const i of networks.keys()) while (timeAt(i) < top + 30) mineOne(i)
    for (let i = 0; i < 3; i++) for (const one of networks) one.look()

    const names = networks.map(({ name }) => name)
    const expected = expectedOf(
      of,
      networks.map(({ chain }) => chain),
      names,
      confirmations,
    )
    const found = networks
      .flatMap(({ name, alerts }) =>
        alerts()
          .filter(({ state }) => state !== 'retracted' && state !== 'withdrawn')
          .map(({ state, block, blockHash, when }) => ({ state, block, blockHash, when: when!, name })),
      )
      .map(({ state, block, blockHash, when, name }) => {
        const { by = [] } = isWindow(of) ? of : { by: ['from'] }
        const key = JSON.stringify(by.map(it => when.key[it]))
        const more = isWindow(of) ? (of === NEW ? ` ${when.key.value}` : '') : ` ${when.entities}`
        const ended = when.ended ? ` until ${when.ended.network} ${when.ended.block}` : ''
        const shown = state === 'pending' || state === 'confirmed' || state === 'resolved' ? state : '?'
        return `${shown} ${name} ${block} ${blockHash} ${key}${more}${ended}`
      })
    assert.deepEqual(found.sort(), expected, `seed ${seed}`)
    for (const { told } of networks)
      for (const all of Map.groupBy(told(), ({ alert }) => alert.id).values()) {
        const short = { pending: 'P', confirmed: 'C', retracted: 'T', resolved: 'R', reopened: 'C', repeated: 'C' }
        const text = all.map(({ type }) => short[type]).join('')
        assert.match(text, MESSAGES, `seed ${seed}: ${text}`)
        const { state } = all[0]!.alert
        const ends = { confirmed: 'C', resolved: 'R', retracted: 'T', withdrawn: '.?', pending: '.?' }
        assert.match(text, new RegExp(`${ends[state]}$`), `seed ${seed}`)
      }
    alerts += expected.length
  }
  assert.ok(alerts > CASES && taken > CASES, `${alerts} alerts`)
})
