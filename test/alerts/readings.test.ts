import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { createAlertStore, OF_STATE, type Scan } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { ReadingRows } from '../../src/alerts/reading-blocks.ts'
import { KEPT_BELOW, PRUNE_EVERY } from '../../src/alerts/running-window.ts'
import type { WindowRule } from '../../src/alerts/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { WindowEntry } from '../../src/windows/entries.ts'
import { createNewestWindow } from '../../src/windows/newest.ts'
import type { NewestSpec } from '../../src/windows/spec.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

/** Whether a reading meets the conditions, and whether it ends an episode; null: it failed. */
type Reading = readonly [meets: boolean, ends: boolean] | null
type Readings = Partial<Record<string, Reading>>
const [LOW, BETWEEN, FINE] = [
  [true, false],
  [false, false],
  [false, true],
] as const

const entriesOf = (number: number, readings: Readings): WindowEntry[] =>
  Object.entries(readings).map(([key, reading]) => ({
    ...{ key: JSON.stringify([key]), count: 1, ids: [`${number} ${key}`], parts: [] },
    reading: {
      ...{ block: number, meets: reading?.[0], ends: reading?.[1] ?? false },
      ...{ shown: [{ name: 'value', value: String(number) }], source: `{"read":${number}}` },
    },
  }))

const setUp = (spec: NewestSpec, { every = 1, confirmations = 0 } = {}) => {
  const store = createTestStore()
  const outbox = openOutbox(store.path)
  const open = () => createAlertStore(store.db, () => 7)
  let alertStore = open()
  const rule: WindowRule = {
    ...{ rule: 1, revision: 1, start: 10, spec: { by: ['address'], ...spec }, every, targetType: 'State' },
    ...{ confirmations, notifyPending: false, notifyResolved: true, limits: { keys: 100, rows: 1_000 } },
  }
  const tell = () => store.writer.also(() => alertStore.stored({ hits: [], windows: [rule] }))
  tell()
  return {
    put: (raw: RawBlock, fails = false) =>
      store.writer.apply(store.prepare([raw]), () => {
        alertStore.stored({ hits: [] })
        if (fails) throw new Error('the disk is full')
      }),
    /** As the reader tells what it read at a block. */
    read({ block }: RawBlock, readings: Readings, fails = false) {
      const number = Number(block.number)
      const row: ReadingRows = {
        ...{ rule: 1, revision: 1, number, hash: block.hash, time: Number(block.timestamp), receivedAt: 5 },
        entries: entriesOf(number, readings),
      }
      const scan: Scan = {
        rule: 1,
        start: 10,
        next: number + 1,
        last: OF_STATE,
        read: { block: number, hash: block.hash },
      }
      store.writer.also(() => {
        alertStore.stored({ hits: [], scans: [scan], readings: [row] })
        if (fails) throw new Error('the disk is full')
      })
    },
    skipTo: (next: number) =>
      store.writer.also(() => alertStore.stored({ hits: [], scans: [{ rule: 1, start: 10, next, last: OF_STATE }] })),
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    restart() {
      alertStore = open()
      tell()
    },
    told: () =>
      outbox.after(0, 1000).map(({ type, alert }) => `${type} ${alert.block} ${Object.values(alert.when!.key)}`),
    all: () => outbox.alerts(1, { size: 1000 }).map(({ alert }) => alert),
    count: (table: string) => store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  }
}

test('an episode opens between readings, once its newest reading has held for so long', () => {
  const { put, read, told, all } = setUp({ hold: { blocks: 5 } }, { every: 10 })
  const chain = makeChain({ blocks: 40, from: 20 })
  put(chain[0]!)
  read(chain[0]!, { a: LOW, b: FINE })
  for (const raw of chain.slice(1, 5)) put(raw)
  assert.deepEqual(told(), [])
  put(chain[5]!)
  assert.deepEqual(told(), ['confirmed 25 a'])
  const [alert] = all()
  assert.deepEqual([alert!.entity, alert!.source], [{ _id: '20 a', _type: 'state' }, '{"read":20}'])
  assert.deepEqual(alert!.when, {
    ...{ key: { address: 'a' }, window: { fromBlock: 20, toBlock: 25 } },
    ...{ conditions: [{ name: 'value', value: '20' }], matches: 1, entities: ['20 a'], late: false },
  })
  // No longer low, but not yet fine; then a reading that fails; then fine.
  for (const [i, reading] of [BETWEEN, null, FINE].entries()) {
    for (const raw of chain.slice(6 + i * 10, 16 + i * 10)) put(raw)
    assert.equal(told().length, 1)
    read(chain[10 + i * 10]!, { a: reading, b: FINE })
  }
  assert.deepEqual(told().slice(1), ['resolved 25 a'])
})

test('blocks wait for the reading that decides them, and a reading that was left out decides nothing', () => {
  const { put, read, told } = setUp({ hold: { blocks: 3 } }, { every: 2 })
  const chain = makeChain({ blocks: 14, from: 10 })
  for (const raw of chain.slice(0, 6)) put(raw)
  read(chain[0]!, { a: LOW })
  assert.deepEqual(told(), [])
  read(chain[2]!, { a: LOW })
  assert.deepEqual(told(), ['confirmed 13 a'])

  const skipping = setUp({ hold: { blocks: 3 } }, { every: 2 })
  for (const raw of chain.slice(0, 6)) skipping.put(raw)
  skipping.read(chain[0]!, { a: LOW })
  skipping.skipTo(14)
  skipping.read(chain[4]!, { a: LOW })
  skipping.put(chain[6]!)
  skipping.read(chain[6]!, { a: LOW })
  assert.deepEqual(skipping.told(), [])
  skipping.put(chain[7]!)
  assert.deepEqual(skipping.told(), ['confirmed 17 a'])
})

test('what holds is known after a restart and a reorganisation, however long ago it was read', () => {
  const { put, read, back, restart, told, count } = setUp({ hold: { blocks: 900 } }, { every: 700 })
  const chain = makeChain({ blocks: 1000, from: 600, txs: 0 })
  for (const raw of chain.slice(0, 900)) {
    put(raw)
    if (Number(raw.block.number) % 700 === 0) read(raw, { a: LOW })
  }
  assert.deepEqual([told(), count('rule_rows')], [[], 2])
  back(1450)
  restart()
  const other = makeChain({ blocks: 200, parent: chain[850]!, txs: 0, salt: 'other' })
  for (const raw of other) put(raw)
  assert.deepEqual(told(), ['confirmed 1600 a'])

  const often = setUp({})
  const long = makeChain({ blocks: KEPT_BELOW + 274, from: 1000, txs: 0 })
  for (const raw of long) {
    often.put(raw)
    often.read(raw, { a: FINE })
  }
  const last = 1000 + long.length - 1
  const pruned = last - ((last + 1) % PRUNE_EVERY)
  assert.equal(often.count('rule_rows'), last - (pruned - KEPT_BELOW) + 1)
})

const CASES = Number(process.env.CASES ?? 60)

test(`readings that come late make the alerts of the chain in the end: ${CASES} histories with kills, failed writes and reorganisations`, () => {
  let alerts = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const spec: NewestSpec = pick([{}, { hold: { blocks: 2 } }, { hold: { seconds: 40 } }])
    const [every, confirmations] = [int(1, 3), int(0, 2)]
    const { put, read, back, restart, all } = setUp(spec, { every, confirmations })
    let chain: { raw: RawBlock; readings: Readings }[] = []
    let next = 0
    const numberOf = ({ raw }: { raw: RawBlock }) => Number(raw.block.number)
    const mine = () => {
      const last = chain.at(-1)?.raw
      const from = last ? { parent: last } : { from: 10 }
      const [raw] = makeChain({ blocks: 1, ...from, txs: 0, salt: `${seed}/${int(0, 1e9)}` })
      const reading = () => pick([LOW, LOW, BETWEEN, FINE, null])
      const readings = Number(raw!.block.number) % every === 0 ? { a: reading(), b: reading() } : {}
      if (int(0, 7) === 0) assert.throws(() => put(raw!, true), /full/)
      put(raw!)
      chain.push({ raw: raw!, readings })
    }
    const readNext = (): boolean => {
      const found = chain.find(it => numberOf(it) >= next && numberOf(it) % every === 0)
      if (!found) return false
      if (int(0, 7) === 0) assert.throws(() => read(found.raw, found.readings, true), /full/)
      read(found.raw, found.readings)
      next = numberOf(found) + 1
      return true
    }
    for (let i = 0; i < 40; i++) {
      const what = int(0, 11)
      if (what === 0) restart()
      else if (what === 1 && chain.length > 1) {
        chain = chain.slice(0, Math.max(1, chain.length - int(1, 5)))
        back(numberOf(chain.at(-1)!))
        next = Math.min(next, numberOf(chain.at(-1)!) + 1)
      } else if (what < 7) mine()
      else readNext()
    }
    for (let i = 0; i < 3; i++) mine()
    while (readNext());

    const window = createNewestWindow(spec)
    const top = numberOf(chain.at(-1)!)
    const expected = new Map<string, string>()
    const open = new Map<string, string>()
    const first = chain.findIndex(it => numberOf(it) % every === 0)
    for (const { raw, readings } of chain.slice(first)) {
      const now = { number: Number(raw.block.number), time: Number(raw.block.timestamp) }
      const { opened, ended } = window.step(now, entriesOf(now.number, readings))
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
