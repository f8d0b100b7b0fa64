import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Database from 'better-sqlite3'
import { type AuditFilter, createRefusals } from '../../src/accounts/audit.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { openRules } from '../../src/rules/store.ts'
import { ruleBody } from '../support/rules.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-audit-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const open = () => {
  const folder = join(root, String(++folders))
  const time = { now: 1_000_000 }
  const accounts = openAccounts(folder, { now: () => time.now })
  return { folder, time, accounts, trail: accounts.trail }
}

test('entries are found by who, what and when, the newest first', () => {
  const { accounts, trail, time } = open()
  accounts.createToken('alice', { by: { user: 'root' } })
  accounts.createToken('bob', { by: { user: 'root' } })
  const acts = [
    [
      { account: 1, token: 1, address: '203.0.113.7' },
      { action: 'rule create', target: '1' },
    ],
    [
      { account: 2, token: 2 },
      { action: 'rule delete', target: '1' },
    ],
    [{ user: "o'hara" }, { action: 'rules redeliver', detail: { dead: true } }],
    [
      { account: 1, token: 1 },
      { action: 'rule create', target: '2', count: 3 },
    ],
  ] as const
  for (const [by, act] of acts) {
    time.now += 1_000
    trail.record(by, act)
  }
  const ids = (filter: Partial<AuditFilter>) => trail.list({ limit: 100, ...filter }).map(({ id }) => id)
  assert.deepEqual(ids({}), [6, 5, 4, 3, 2, 1])
  assert.deepEqual(ids({ limit: 2 }), [6, 5])
  assert.deepEqual(ids({ account: 'alice' }), [6, 3])
  assert.deepEqual(ids({ token: 2 }), [4])
  assert.deepEqual(ids({ action: 'rule' }), [6, 4, 3])
  assert.deepEqual(ids({ action: 'rule create' }), [6, 3])
  assert.deepEqual(ids({ action: 'rul' }), [])
  assert.deepEqual(ids({ after: 1_002_000, before: 1_003_000 }), [5, 4])
  assert.deepEqual(trail.list({ limit: 1, action: 'rules' }), [
    {
      ...{ id: 5, at: 1_003_000, account: null, token: null, user: "o'hara", address: null },
      ...{ action: 'rules redeliver', target: null, detail: { dead: true }, count: 1 },
    },
  ])
  accounts.close()
})

test('nothing can change an entry', () => {
  const { accounts, folder } = open()
  accounts.createToken('alice')
  accounts.close()
  const db = new Database(join(folder, 'accounts.sqlite'))
  assert.throws(() => db.exec("UPDATE audit SET user = 'somebody'"), /the audit trail is not changed/)
  db.close()
})

test('old entries go, and the oldest of an account that has too many; those of the command line stay', () => {
  const { accounts, trail, time } = open()
  accounts.createToken('alice')
  const record = (by: object, times: number) => {
    for (let i = 0; i < times; i++) trail.record(by, { action: 'x' })
  }
  record({ user: 'root' }, 10)
  record({ account: 1 }, 10)
  record({ address: '203.0.113.7' }, 10)
  const counts = () => {
    const all = trail.list({ limit: 10_000 }).filter(({ action }) => action === 'x')
    return [all.filter(it => it.user).length, all.filter(it => it.account).length, all.filter(it => it.address).length]
  }
  assert.equal(trail.prune({ keepMs: 1_000, now: time.now, most: 4 }).more, false)
  assert.deepEqual(counts(), [10, 4, 4])
  assert.deepEqual(
    trail.list({ account: 'alice', limit: 10 }).map(({ id }) => id),
    [21, 20, 19, 18],
  )
  time.now += 500
  record({ user: 'root' }, 1)
  time.now += 600
  const { old } = trail.prune({ keepMs: 1_000, now: time.now, most: 4 })
  assert.ok(old > 0)
  assert.deepEqual(counts(), [1, 0, 0])
  accounts.close()
})

test('many entries are removed step by step', () => {
  const { accounts, trail, time } = open()
  accounts.createToken('alice')
  for (let i = 0; i < 5_000; i++) trail.record({ account: 1 }, { action: 'x' })
  assert.deepEqual(
    [1, 2, 3].map(() => trail.prune({ keepMs: 1e9, now: time.now, most: 10 }).more),
    [true, true, false],
  )
  assert.equal(trail.list({ account: 'alice', limit: 10_000 }).length, 10)
  accounts.close()
})

test('a rule and its entry are stored together or not at all', () => {
  const { accounts, folder, trail } = open()
  accounts.createToken('alice')
  const rules = openRules(folder)
  const by = { account: 1, token: 1, address: '::1' }
  const input = ruleBody() as Parameters<typeof rules.create>[1]
  const { id } = rules.create(1, input, 0, by)
  rules.update(1, id, { ...input, name: 'Other', enabled: false }, { by })
  assert.equal(rules.remove(1, id, 1, by), 'changed')
  rules.note(by, id, 'rule test')
  assert.equal(rules.remove(1, id, undefined), 'removed')
  assert.throws(() =>
    rules.together(() => {
      rules.create(1, input, 0, by)
      throw new Error('no')
    }),
  )
  const found = trail.list({ limit: 10, action: 'rule' })
  assert.deepEqual(
    found.map(({ action, target, token, address, detail }) => [action, target, token, address, detail]),
    [
      ['rule delete', '1', null, null, { name: 'Other', enabled: false }],
      ['rule test', '1', 1, '::1', null],
      ['rule update', '1', 1, '::1', { name: 'Other', enabled: false }],
      ['rule create', '1', 1, '::1', { name: input.name }],
    ],
  )
  rules.close()
  accounts.close()
})

test('refusals are counted, and a flood from everywhere makes few entries', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const written: [address: string | undefined, count: number][][] = []
  let full = false
  const refusals = createRefusals(
    refused => {
      if (full) throw new Error('the disk is full')
      written.push(refused.map(({ by, act }) => [by.address, act.count]))
    },
    () => 5,
  )
  for (let i = 0; i < 3; i++) refusals.add({ address: '203.0.113.7' }, 'refused token', 'bad')
  refusals.add({ address: '203.0.113.8' }, 'refused token', 'bad')
  t.mock.timers.tick(1_000)
  assert.deepEqual<unknown>(written.splice(0), [
    [
      ['203.0.113.7', 3],
      ['203.0.113.8', 1],
    ],
  ])
  for (let i = 0; i < 1_000; i++) refusals.add({ address: `2001:db8::${i}` }, 'refused token', 'bad')
  t.mock.timers.tick(30_000)
  assert.equal(written.length, 0)
  // A full disk loses nothing: the next flush has it.
  full = true
  t.mock.timers.tick(30_000)
  full = false
  refusals.close()
  const last = written.at(-1) ?? []
  assert.equal(last.length, 101)
  assert.deepEqual(last.at(-1), [undefined, 900])
})
