import assert from 'node:assert/strict'
import { openSync, readSync, writeSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { WindowRows } from '../../src/alerts/windows.ts'
import { openSearcher } from '../../src/engine/query/searcher.ts'
import { createAcrossRules } from '../../src/ingest/rules/across.ts'
import type { Log } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import { hex, makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const A = 'ethereum/test/a'
const B = 'ethereum/test/b'
const STEP = { targetType: 'Transaction', targetMap: [{ name: 'value', operator: 'Greater', value: '0' }], by: [] }

const stored = (id: number, steps: object[] = [STEP, STEP]): StoredRule =>
  ({
    ...{ id, account: 1, matching: 1, enabled: true, network: 'ethereum/test/*', startBlock: 10 },
    input: {
      ...{ name: 'both', technology: 'ethereum', blockchain: 'test', network: '*', maxConfirmationCount: 0 },
      config: {
        targetType: 'Transaction',
        targetMap: [],
        alerts: [],
        when: { across: true, within: { seconds: 70 }, steps },
      },
    },
  }) as unknown as StoredRule

/** Two stores, and what network a decides. */
const setUp = (t: TestContext, rules: StoredRule[]) => {
  const networks = [A, B].map((name, at) => {
    const store = createTestStore()
    const alerts = createAlertStore(store.db)
    const across = rules.map(({ id }) => ({
      ...{ rule: id, revision: 1, start: 10, notifyResolved: false, limits: { keys: 100, rows: 100 } },
    }))
    store.writer.also(() => alerts.stored({ hits: [], across }))
    let last = makeChain({ blocks: 1, from: 9, txs: 1, logs: 0, salt: name })[0]!
    return {
      ...{ name, store, alerts },
      /** `step`: what its transaction is; `id`: instead of its own. */
      mine(time: number, step?: number, id?: string) {
        const [raw] = makeChain({ blocks: 1, parent: last, txs: 1, logs: 0, salt: `${at}` })
        last = raw!
        Object.assign(last.block, { timestamp: hex(time) })
        const number = Number(last.block.number)
        const found = id ?? (last.block.transactions[0] as { hash: string }).hash
        const matches = step === undefined ? [] : [{ key: '[]', step, at: 0, id: found }]
        const rows: WindowRows = {
          ...{ number, time, hash: last.block.hash, receivedAt: 5, sources: [], rules: [] },
          own: { _id: last.block.hash, _type: 'block', source: '{}' },
          matched: new Map(rules.map(({ id }) => [id, 1])),
          steps: rules.map(({ id: rule }) => ({ rule, matches, lasts: [] })),
        }
        store.writer.apply(store.prepare([last]), () => alerts.stored({ hits: [], blocks: [rows] }))
      },
    }
  })
  const [a, b] = networks as [(typeof networks)[0], (typeof networks)[0]]
  const files = new Map(networks.map(({ name, store }) => [name, store.path]))
  const errors: string[] = []
  let [now, searches] = [0, 0]
  const log = { error: (text: string) => void errors.push(text), warn() {}, info() {} } as unknown as Log
  const across = createAcrossRules({
    generation: () => 0,
    ...{
      network: A,
      rules: () => rules,
      stores: () => files,
      limits: DEFAULT_LIMITS,
      log,
      signal: new AbortController().signal,
    },
    open() {
      const searcher = openSearcher(a.store.path)
      const search: typeof searcher.search = (...of) => {
        searches++
        return searcher.search(...of)
      }
      return { ...searcher, search }
    },
    tell: async update => a.store.writer.also(() => a.alerts.stored(update)) as unknown as Promise<void>,
    now: () => now,
  })
  t.after(across.close)
  for (const { mine } of networks) for (const time of [1_000, 1_010]) mine(time)
  return {
    ...{ a, b, files, errors, across },
    look: () => across.look(),
    note: (rule = 1) => across.notes.get(rule),
    pass: (ms: number) => {
      now += ms
    },
    searches: () => searches,
    alive: () => openOutbox(a.store.path).alerts(1, { size: 1_000 }).length,
  }
}

const UNREAD =
  'It waits for ethereum/test/b, whose store cannot be read, because of a fault of the server: nothing is decided before.'

test('a store that cannot be read stops no other network, is told without its path, and is tried again', async t => {
  const { a, b, errors, look, note, pass, alive } = setUp(t, [stored(1)])
  await look()
  b.store.db.pragma('wal_checkpoint(TRUNCATE)')
  const first = Buffer.alloc(4_096)
  const file = openSync(b.store.path, 'r+')
  readSync(file, first, 0, first.length, 0)
  writeSync(file, Buffer.alloc(first.length, 7), 0, first.length, 0)
  await look()
  assert.equal(note(), UNREAD)
  assert.equal(errors.length, 1)
  pass(60_000)
  await look()
  assert.equal(errors.length, 1)
  writeSync(file, first, 0, first.length, 0)
  pass(60_000)
  a.mine(1_020, 0)
  a.mine(1_030, 1)
  a.mine(1_040)
  b.mine(1_040)
  await look()
  assert.equal(alive(), 1)
})

test('a network that is not followed with all its blocks holds up no rule, unless a step names it', async t => {
  const named = stored(2, [
    { ...STEP, network: B },
    { ...STEP, network: A },
  ])
  const { a, files, look, note, alive } = setUp(t, [stored(1), named])
  files.delete(B)
  a.mine(1_020, 0)
  a.mine(1_030, 1)
  a.mine(1_040)
  await look()
  assert.equal(alive(), 1)
  assert.equal(
    note(2),
    'It waits for ethereum/test/b, which this server does not follow with all its blocks: nothing is decided before.',
  )
})

test('an alert whose document is not found is looked for again, less and less often', async t => {
  const { a, b, errors, look, note, pass, alive } = setUp(t, [stored(1)])
  a.mine(1_020, 0)
  a.mine(1_030, 1, `0x${'12'.repeat(32)}`)
  for (const one of [a, b]) one.mine(1_040)
  await look()
  assert.equal(note(), 'It could not be decided, because of a fault of the server, and is tried again.')
  for (let i = 0; i < 20; i++) {
    await look()
    pass(200)
  }
  assert.equal(errors.length, 1)
  assert.equal(alive(), 0)
})

test('documents of alerts are read together', async t => {
  const { a, b, look, searches, alive } = setUp(t, [stored(1)])
  for (let i = 0; i < 10; i++) a.mine(1_020 + i, i % 2)
  for (const one of [a, b]) one.mine(1_040)
  await look()
  assert.deepEqual([alive(), searches()], [5, 1])
})
