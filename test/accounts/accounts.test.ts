import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Database from 'better-sqlite3'
import { openAccounts } from '../../src/accounts/index.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-accounts-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0
const newFolder = () => join(root, String(++folders))

const MINUTE = 60_000
const open = (folder = newFolder(), time = { now: 1_000_000 }) => {
  const accounts = openAccounts(folder, { now: () => time.now })
  return { accounts, folder, time }
}

test('a token is shown once, is kept as a hash alone, and names its account', () => {
  const { accounts, folder } = open()
  const token = accounts.createToken('alice')
  const other = accounts.createToken('bob')
  const second = accounts.createToken('alice')
  assert.match(token, /^cs_[\w-]{43}$/)
  assert.deepEqual(
    [token, other, second].map(token => accounts.verify(token)),
    [
      { id: 1, name: 'alice' },
      { id: 2, name: 'bob' },
      { id: 1, name: 'alice' },
    ],
  )
  assert.deepEqual(accounts.accounts(), [
    { id: 1, name: 'alice' },
    { id: 2, name: 'bob' },
  ])
  const hint = (token: string) => token.slice(0, 7)
  const common = { createdAt: 1_000_000, expiresAt: null, revokedAt: null, lastUsedAt: null }
  assert.deepEqual(accounts.list(), [
    { id: 1, account: 'alice', hint: hint(token), ...common },
    { id: 2, account: 'bob', hint: hint(other), ...common },
    { id: 3, account: 'alice', hint: hint(second), ...common },
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
  assert.deepEqual(accounts.verify(token), { id: 1, name: 'alice' })
  accounts.close()
})

test('a token expires, also one whose verdict is remembered', () => {
  const { accounts, time } = open()
  const token = accounts.createToken('alice', { expiresIn: MINUTE })
  assert.deepEqual(accounts.verify(token), { id: 1, name: 'alice' })
  time.now += MINUTE - 1
  assert.deepEqual(accounts.verify(token), { id: 1, name: 'alice' })
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
  assert.deepEqual(accounts.verify(tokens[1]), { id: 1, name: 'alice' })

  const script = `
    import { openAccounts } from ${JSON.stringify(new URL('../../src/accounts/index.ts', import.meta.url).href)}
    const accounts = openAccounts(${JSON.stringify(folder)})
    accounts.revoke(2)
    console.log(accounts.createToken('carol'))
    accounts.close()`
  const made = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim()
  time.now += 1_000
  assert.equal(accounts.verify(tokens[1]), undefined)
  assert.deepEqual(accounts.verify(made), { id: 2, name: 'carol' })
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
  const started = performance.now()
  for (let i = 0; i < 20_000; i++) accounts.verify(token)
  assert.ok((performance.now() - started) / 20_000 < 0.05)
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
      `${join(folder, 'accounts.sqlite')} was written by a newer version of Chainsieve (accounts version 7, this one knows 2): ` +
      'run that version, or choose another data folder with --data.',
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
      `${join(broken, 'accounts.sqlite')} is damaged or is not a file of Chainsieve (file is not a database): ` +
      'restore it from a backup, or move it away.',
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
        `${join(folder, 'accounts.sqlite')} cannot be written (EACCES: permission denied, open '${join(folder, 'accounts.sqlite')}'): ` +
        'make its folder writable, or choose another with --data.',
    })
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})
