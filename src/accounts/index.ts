import { hash, randomBytes } from 'node:crypto'
import { refuse } from '../lib/errors.ts'
import { connect } from './file.ts'
import { keepReserve, withReserve } from './reserve.ts'

export interface Account {
  id: number
  name: string
}

/** What may be told of a token; the token itself is known to its holder alone. Times are epoch milliseconds. */
export interface TokenInfo {
  id: number
  account: string
  /** Its first letters, by which its holder can tell which one is meant. */
  hint: string
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  /** To the minute, once a minute has passed. */
  lastUsedAt: number | null
}

export interface Accounts {
  /** Makes a token for the account of that name, which is made where it does not exist. `expiresIn` in milliseconds. */
  createToken(account: string, options?: { expiresIn?: number | undefined }): string
  /** The account whose valid token this is. */
  verify(token: string): Account | undefined
  list(): TokenInfo[]
  /** All of them, in the order in which they were made. */
  accounts(): Account[]
  /** Takes effect at once here, and within `FRESH_MS` in every other process. Works on a full disk, too. */
  revoke(id: number): void
  close(): void
}

/** How long a verdict on a token may be older than the file that another process has written. */
const FRESH_MS = 250
const USE_FLUSH_MS = 60_000
const MAX_CACHED = 10_000
const TOKEN = /^cs_[\w-]{43}$/

/** Opens the accounts of a data folder, which several processes may do at once. `native` is the path of SQLite's binding. */
export const openAccounts = (
  folder: string,
  { native, now = Date.now }: { native?: string; now?: () => number } = {},
): Accounts => {
  const db = withReserve(folder, () => connect(folder, native))
  keepReserve(folder)
  const insertAccount = db.prepare('INSERT INTO accounts (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const insertToken = db.prepare(
    'INSERT INTO tokens (account, hash, hint, created_at, expires_at) SELECT id, ?, ?, ?, ? FROM accounts WHERE name = ?',
  )
  const findToken = db.prepare<[Buffer], { id: number; account: number; name: string; expiresAt: number | null }>(
    `SELECT t.id, t.account, a.name, t.expires_at AS expiresAt FROM tokens t JOIN accounts a ON a.id = t.account
     WHERE t.hash = ? AND t.revoked_at IS NULL`,
  )
  const listTokens = db.prepare<[], TokenInfo>(
    `SELECT t.id, a.name AS account, t.hint, t.created_at AS createdAt, t.expires_at AS expiresAt,
       t.revoked_at AS revokedAt, t.used_at AS lastUsedAt
     FROM tokens t JOIN accounts a ON a.id = t.account ORDER BY t.id`,
  )
  const listAccounts = db.prepare<[], Account>('SELECT id, name FROM accounts ORDER BY id')
  const revokeToken = db.prepare('UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?')
  const markUsed = db.prepare('UPDATE tokens SET used_at = ? WHERE id = ?')
  // Changes when another connection has committed, and costs a look at shared memory.
  const dataVersion = db.prepare('PRAGMA data_version').pluck()

  const valid = new Map<string, { token: number; account: Account; expiresAt: number }>()
  let version = dataVersion.get()
  let checkedAt = now()
  const used = new Map<number, number>()
  let flushing: NodeJS.Timeout | undefined

  const flushUses = () => {
    clearTimeout(flushing)
    flushing = undefined
    try {
      db.transaction(() => {
        for (const [token, at] of used) markUsed.run(at, token)
      })()
      used.clear()
    } catch {
      // Who used a token when is nice to know, no reason to fail; it is written with the next uses.
    }
    keepReserve(folder)
  }

  const forgetStale = (at: number) => {
    if (at - checkedAt < FRESH_MS && at >= checkedAt) return
    checkedAt = at
    const current = dataVersion.get()
    if (current !== version) valid.clear()
    version = current
  }

  return {
    createToken: (account, { expiresIn } = {}) => {
      checkName(account)
      const bytes = randomBytes(32).toString('base64url')
      const token = `cs_${bytes}`
      const at = now()
      const expiresAt = expiresIn === undefined ? null : at + expiresIn
      db.transaction(() => {
        insertAccount.run(account, at)
        insertToken.run(Buffer.from(digest(token), 'hex'), token.slice(0, 'cs_'.length + 4), at, expiresAt, account)
      }).immediate()
      return token
    },

    verify: token => {
      if (!TOKEN.test(token)) return undefined
      const at = now()
      forgetStale(at)
      const key = digest(token)
      let known = valid.get(key)
      if (!known) {
        const row = findToken.get(Buffer.from(key, 'hex'))
        if (!row) return undefined
        const account = { id: row.account, name: row.name }
        known = { token: row.id, account, expiresAt: row.expiresAt ?? Number.POSITIVE_INFINITY }
        if (valid.size >= MAX_CACHED) valid.clear()
        valid.set(key, known)
      }
      if (at >= known.expiresAt) return undefined
      used.set(known.token, at)
      flushing ??= setTimeout(flushUses, USE_FLUSH_MS).unref()
      return known.account
    },

    list: () => listTokens.all(),

    accounts: () => listAccounts.all(),

    revoke: id => {
      if (withReserve(folder, () => revokeToken.run(now(), id)).changes === 0)
        throw refuse('unknown_token', `There is no token ${id}: chainsieve token list shows all tokens.`)
      valid.clear()
    },

    close: () => {
      if (used.size > 0) flushUses()
      clearTimeout(flushing)
      db.close()
    },
  }
}

// A token has 256 random bits: a plain hash cannot be guessed backwards, and comparing by index tells nothing of use.
const digest = (token: string) => hash('sha256', token, 'hex')

const checkName = (name: string) => {
  if (!/^[^\p{C}]{1,200}$/u.test(name) || name.trim() !== name)
    throw refuse(
      'bad_account_name',
      `An account's name has 1 to 200 printable characters, not ${JSON.stringify(name)}.`,
    )
}
