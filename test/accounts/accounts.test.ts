import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Database from 'better-sqlite3'
import { MIGRATIONS, upgradeAccounts } from '../../src/accounts/file.ts'
import { type Caller, openAccounts, type TokenScope } from '../../src/accounts/index.ts'
import { processorTime } from '../support/processor.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-accounts-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0
const newFolder = () => join(root, String(++folders))

const MINUTE = 60_000
const open = (folder = newFolder(), time = { now: 1_000_000 }) => {
  const accounts = openAccounts(folder, { now: () => time.now })
  return { accounts, folder, time }
}

const caller = (id: number, name: string, token: number, scopes: TokenScope[] = ['search', 'rules']): Caller => ({
  ...{ id, name, token },
  scopes: new Set(scopes),
})

test('a token is shown once, is kept as a hash alone, and names its account', () => {
  const { accounts, folder } = open()
  const token = accounts.createToken('alice')
  const other = accounts.createToken('bob')
  const second = accounts.createToken('alice')
  assert.match(token, /^cs_[\w-]{43}$/)
  assert.deepEqual(
    [token, other, second].map(token => accounts.verify(token)),
    [caller(1, 'alice', 1), caller(2, 'bob', 2), caller(1, 'alice', 3)],
  )
  assert.deepEqual(accounts.accounts(), [
    { id: 1, name: 'alice' },
    { id: 2, name: 'bob' },
  ])
  const hint = (token: string) => token.slice(0, 7)
  const common = {
    createdAt: 1_000_000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replacedBy: null,
    rate: null,
  }
  const scopes: TokenScope[] = ['search', 'rules']
  assert.deepEqual(accounts.list(), [
    { id: 1, account: 'alice', hint: hint(token), scopes, ...common },
    { id: 2, account: 'bob', hint: hint(other), scopes, ...common },
    { id: 3, account: 'alice', hint: hint(second), scopes, ...common },
  ])
  accounts.close()
  assert.equal(readFileSync(join(folder, 'accounts.sqlite')).includes(token.slice(8)), false)
  assert.equal(statSync(join(folder, 'accounts.sqlite')).mode & 0o777, 0o600)
})

test('what is no token of ours is nobody', () => {
  const { accounts } = open()
  const token = accounts.createToken('alice')
  const swapped = token.slice(0, -1) + (token.endsWith('A') ? 'Q' : 'A')
  for (const wrong of [
    '',
    'cs_',
    token.slice(0, -1),
    `${token}A`,
    swapped,
    token.toUpperCase(),
    ` ${token}`,
    "' OR 1=1",
  ])
    assert.equal(accounts.verify(wrong), undefined, wrong)
  assert.deepEqual(accounts.verify(token), caller(1, 'alice', 1))
  accounts.close()
})

test('a token expires, also one whose verdict is remembered', () => {
  const { accounts, time } = open()
  const token = accounts.createToken('alice', { expiresIn: MINUTE })
  assert.deepEqual(accounts.verify(token), caller(1, 'alice', 1))
  time.now += MINUTE - 1
  assert.deepEqual(accounts.verify(token), caller(1, 'alice', 1))
  time.now += 1
  assert.equal(accounts.verify(token), undefined)
  assert.equal(accounts.list()[0]?.expiresAt, 1_000_000 + MINUTE)
  accounts.close()
})

test('a revoked token is refused at once here, and within a second in another process', () => {
  const { accounts, folder, time } = open()
  const tokens = [accounts.createToken('alice'), accounts.createToken('alice')] as const
  accounts.revoke(1)
  assert.equal(accounts.verify(tokens[0]), undefined)
  assert.deepEqual(accounts.verify(tokens[1]), caller(1, 'alice', 2))

  const script = `
    import { openAccounts } from ${JSON.stringify(new URL('../../src/accounts/index.ts', import.meta.url).href)}
    const accounts = openAccounts(${JSON.stringify(folder)})
    accounts.revoke(2)
    console.log(accounts.createToken('carol'))
    accounts.close()`
  const made = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim()
  time.now += 1_000
  assert.equal(accounts.verify(tokens[1]), undefined)
  assert.deepEqual(accounts.verify(made), caller(2, 'carol', 3))
  // Revoking again keeps the first time.
  const revokedAt = accounts.list()[0]?.revokedAt
  time.now += 1_000
  accounts.revoke(1)
  assert.equal(accounts.list()[0]?.revokedAt, revokedAt)
  assert.throws(() => accounts.revoke(9), {
    code: 'unknown_token',
    message: 'There is no token 9: chainsieve token list shows all tokens.',
  })
  accounts.close()
})

test('the last use of a token is written when the accounts are closed', () => {
  const { accounts, folder, time } = open()
  const token = accounts.createToken('alice')
  accounts.createToken('alice')
  time.now += 5_000
  accounts.verify(token)
  accounts.close()
  const again = open(folder).accounts
  assert.deepEqual(
    again.list().map(({ lastUsedAt }) => lastUsedAt),
    [1_005_000, null],
  )
  again.close()
})

test('verifying takes microseconds', () => {
  const { accounts } = open()
  const token = accounts.createToken('alice')
  const started = processorTime()
  for (let i = 0; i < 20_000; i++) accounts.verify(token)
  assert.ok((processorTime() - started) / 20_000 < 0.05)
  accounts.close()
})

test('an account has a printable name', () => {
  const { accounts } = open()
  for (const name of ['', ' alice', 'a\nb', 'a\u0000', 'x'.repeat(201)])
    assert.throws(() => accounts.createToken(name), {
      code: 'bad_account_name',
      message: `An account's name has 1 to 200 printable characters, not ${JSON.stringify(name)}.`,
    })
  assert.ok(accounts.createToken('Ada Lovelace <ada@example.org> ✓'))
  assert.equal(accounts.list().length, 1)
  accounts.close()
})

test('a file that a newer version wrote is refused', () => {
  const folder = newFolder()
  open(folder).accounts.close()
  const db = new Database(join(folder, 'accounts.sqlite'))
  db.pragma('user_version = 7')
  db.close()
  assert.throws(() => open(folder), {
    next: 'stop',
    code: 'accounts_newer',
    message:
      `${join(folder, 'accounts.sqlite')} was written by a newer version of Chainsieve (accounts version 7, this one knows 6): ` +
      'run that version, or choose another data folder with --data',
  })
})

test('a folder that cannot be used is refused with the remedy', () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  assert.throws(() => open(file), {
    code: 'data_folder_no_folder',
    message: `The data folder of ${join(file, 'accounts.sqlite')} is not a folder: choose another with --data.`,
  })

  const broken = newFolder()
  mkdirSync(broken)
  writeFileSync(join(broken, 'accounts.sqlite'), 'x'.repeat(10_000))
  assert.throws(() => open(broken), {
    code: 'accounts_broken',
    message:
      `${join(broken, 'accounts.sqlite')} is damaged: file is not a database. Restore a backup with chainsieve restore; ` +
      'without one, move it away with those whose names begin like it, which loses all accounts, tokens and rules.',
  })

  // SQLite itself would notice only when it comes to that page.
  const zeroed = newFolder()
  open(zeroed).accounts.close()
  const path = join(zeroed, 'accounts.sqlite')
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, 4096, 8192))
  assert.throws(() => open(zeroed), { code: 'accounts_broken' })
})

test('a read-only folder is refused with the remedy', () => {
  const folder = newFolder()
  mkdirSync(folder, { mode: 0o555 })
  chmodSync(root, 0o755)
  // To root no folder is read-only.
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    assert.throws(() => open(folder), {
      next: 'stop',
      code: 'data_folder_not_writable',
      message:
        /accounts\.sqlite cannot be written \(EACCES: permission denied, open '.*'\): make its folder writable, or choose another with --data\.$/,
    })
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test('a token has the scopes that it was made with, and one from before there were scopes has all', () => {
  const folder = newFolder()
  mkdirSync(folder)
  const db = new Database(join(folder, 'accounts.sqlite'))
  for (const migration of MIGRATIONS.slice(0, 2)) db.exec(migration)
  db.pragma('user_version = 2')
  const old = `cs_${'a'.repeat(43)}`
  db.exec("INSERT INTO accounts (name, created_at) VALUES ('alice', 1)")
  db.prepare("INSERT INTO tokens (account, hash, hint, created_at) VALUES (1, ?, 'cs_aaaa', 1)").run(
    createHash('sha256').update(old).digest(),
  )
  db.close()
  assert.throws(() => open(folder), { code: 'accounts_older', message: /accounts version 2, .*start chainsieve serve/ })
  upgradeAccounts(folder, undefined)
  const { accounts } = open(folder)
  assert.deepEqual(accounts.verify(old), caller(1, 'alice', 1, ['search', 'rules', 'admin']))
  const token = accounts.createToken('alice', { scopes: ['admin', 'search', 'admin'] })
  assert.deepEqual(accounts.verify(token), caller(1, 'alice', 2, ['search', 'admin']))
  assert.throws(() => accounts.createToken('alice', { scopes: [] }), { code: 'no_scope' })
  accounts.close()
})

test('a token has a limit of its own where it was given one, also the one that replaces it', () => {
  const { accounts, folder, time } = open()
  const token = accounts.createToken('alice', { rate: 60 })
  assert.deepEqual(accounts.verify(token), { ...caller(1, 'alice', 1), rate: 60 })
  const { token: next } = accounts.rotate(1, { graceMs: MINUTE })
  assert.equal(accounts.verify(next)?.rate, 60)
  accounts.setRate(2, 5)
  assert.equal(accounts.verify(next)?.rate, 5)
  const other = open(folder, time).accounts
  other.setRate(2, null)
  other.close()
  time.now += 1_000
  assert.deepEqual(accounts.verify(next), caller(1, 'alice', 2))
  assert.deepEqual(
    accounts.list().map(({ rate }) => rate),
    [60, null],
  )
  assert.throws(() => accounts.setRate(9, 1), { code: 'unknown_token' })
  const acts = accounts.trail.list({ limit: 10 }).map(({ action, target, detail }) => [action, target, detail?.rate])
  assert.deepEqual(acts, [
    ['token limit', '2', null],
    ['token limit', '2', 5],
    ['token rotate', '1', undefined],
    ['token create', '1', 60],
  ])
  accounts.close()
})

test('a token that is rotated works for a grace time beside the new one, which is of the same kind', () => {
  const { accounts, time } = open()
  const old = accounts.createToken('alice', { scopes: ['search'], expiresIn: 10 * MINUTE })
  time.now += MINUTE
  const { id, token, oldUntil } = accounts.rotate(1, { graceMs: 2 * MINUTE })
  assert.deepEqual([id, oldUntil], [2, time.now + 2 * MINUTE])
  assert.deepEqual(accounts.verify(old), caller(1, 'alice', 1, ['search']))
  assert.deepEqual(accounts.verify(token), caller(1, 'alice', 2, ['search']))
  time.now += 2 * MINUTE - 1
  assert.ok(accounts.verify(old))
  time.now += 1
  assert.equal(accounts.verify(old), undefined)
  assert.ok(accounts.verify(token))
  assert.deepEqual(
    accounts.list().map(({ replacedBy, expiresAt }) => [replacedBy, expiresAt]),
    [
      [2, 1_000_000 + 3 * MINUTE],
      // For as long as the old one was valid, from now on.
      [null, 1_000_000 + 11 * MINUTE],
    ],
  )
  // The grace time makes no token live longer.
  assert.equal(accounts.rotate(2, { graceMs: 60 * MINUTE }).oldUntil, 1_000_000 + 11 * MINUTE)
  const now = accounts.rotate(3, { graceMs: 0, expiresIn: MINUTE })
  assert.equal(accounts.list()[3]!.expiresAt, time.now + MINUTE)
  assert.ok(accounts.verify(now.token))

  accounts.revoke(4)
  const wrong: [id: number, code: string, message: string][] = [
    [1, 'token_replaced', 'Token 1 was replaced by token 2: rotate that one.'],
    [4, 'token_invalid', 'Token 4 is revoked: create a new one with chainsieve token create.'],
    [9, 'unknown_token', 'There is no token 9: chainsieve token list shows all tokens.'],
  ]
  for (const [id, code, message] of wrong)
    assert.throws(() => accounts.rotate(id, { graceMs: 0 }), { next: 'refuse', code, message })
  accounts.createToken('alice', { expiresIn: 1 })
  time.now += 1
  assert.throws(() => accounts.rotate(5, { graceMs: 0 }), { code: 'token_invalid', message: /^Token 5 is expired: / })
  accounts.close()
})

test('a token and an act that nobody waits for are there like others', () => {
  const { accounts, folder } = open()
  const token = accounts.createToken('alice', { lasting: false })
  accounts.note({ user: 'somebody' }, { action: 'serve' })
  assert.throws(() => accounts.createToken('', { lasting: false }))
  const seen = openAccounts(folder)
  assert.deepEqual(seen.verify(token), caller(1, 'alice', 1))
  assert.deepEqual(
    seen.trail.list({ limit: 9 }).map(({ action }) => action),
    ['serve', 'token create'],
  )
  seen.close()
  accounts.close()
})
