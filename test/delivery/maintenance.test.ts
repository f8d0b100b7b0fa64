import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import { compactDeliveries } from '../../src/delivery/ledger/file.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { createMaintenance } from '../../src/delivery/maintenance.ts'
import { SCHEDULE_MS } from '../../src/delivery/retry-schedule.ts'
import { DELIVERED, dataFolder, dueIn, makeAlert, makeChannels, makeRule, NETWORK, post } from '../support/delivery.ts'

const URL = 'https://a.example/one'
const KEEP_MS = 120_000
const SECOND = 1_000

/** Alerts on whole blocks of 150 transactions, each of which is delivered at once. */
const setUp = async (t: TestContext, prepare: (file: string) => void = () => {}) => {
  const data = await dataFolder(t)
  const file = join(data, 'deliveries.sqlite')
  prepare(file)
  let now = 1_000_000
  let count = 0
  const store = openDeliveries(data, { now: () => now })
  t.after(() => store.close())
  const rule = makeRule(1, [post(URL)])
  const maintenance = createMaintenance({
    ...{ store, rules: () => rule, rulesVersion: () => 1, keepMs: KEEP_MS },
    onCancelled() {},
  })
  const source = JSON.stringify({ transactions: Array.from({ length: 150 }, () => `0x${'ab'.repeat(32)}`) })
  const deliver = (alerts: number) => {
    for (let i = 0; i < alerts; i++) {
      const alert = { ...makeAlert(`alert-${++count}`), source }
      const options = { channels: makeChannels(), digestMs: 0, now }
      store.expand({ network: NETWORK, identity: 's' }, [{ n: count, type: 'confirmed', alert }], () => rule, options)
      const job = store.claim([dueIn(store, URL, now, 1)], now)[0]!
      const attempt = { ids: job.ids, at: now, latencyMs: 1, outcome: DELIVERED }
      store.settle([attempt], { now, schedule: SCHEDULE_MS })
    }
  }
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += SECOND
      maintenance.prune(now, now)
    }
  }
  /** Of the file once the log is in it. */
  const size = (): number => {
    const db = new Database(file)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    return statSync(file).size
  }
  return { data, store, deliver, pass, size }
}

describe('the file of deliveries', () => {
  it('shrinks once what filled it is no longer kept', async t => {
    const { store, deliver, pass, size } = await setUp(t)
    deliver(1_000)
    const full = size()
    assert.ok(full > 10e6, `${full} bytes`)
    pass(170)
    assert.equal(store.list({ limit: 10 }).length, 0)
    const left = size()
    assert.ok(left < 1.5e6, `${left} of ${full} bytes are left`)
  })

  it('keeps its size while as much comes as goes', async t => {
    const { deliver, pass, size } = await setUp(t)
    const sizes: number[] = []
    for (let minute = 0; minute < 12; minute++) {
      for (let i = 0; i < 12; i++) {
        deliver(5)
        pass(5)
      }
      sizes.push(size())
    }
    const later = sizes.slice(4)
    assert.ok(Math.max(...later) < 1.15 * Math.min(...later), sizes.join())
  })

  it('of an older version stays as it is until it is compacted', async t => {
    const { data, store, deliver, pass, size } = await setUp(t, file => {
      const db = new Database(file)
      db.exec('CREATE TABLE older (a)')
      db.exec('DROP TABLE older')
      db.close()
    })
    deliver(300)
    const full = size()
    pass(170)
    assert.equal(size(), full)
    assert.deepEqual([store.list({ limit: 1 }).length, store.shrink()], [0, false])
    compactDeliveries(data, undefined)
    assert.ok(size() < 1e6)
  })
})
