import { hash } from 'node:crypto'
import type { Db } from '../sqlite/database.ts'
import { keepReserve } from './file.ts'

export interface Account {
  id: number
  name: string
}

/** Account and token of an authenticated request. */
export interface Caller extends Account {
  /** Number of the token. */
  token: number
  scopes: ReadonlySet<TokenScope>
  /** Requests per minute; absent if the default limit applies. */
  rate?: number
}

/** Permissions of a token. */
export const SCOPES = ['search', 'rules', 'admin'] as const
export type TokenScope = (typeof SCOPES)[number]

export const readScopes = (text: string): TokenScope[] => SCOPES.filter(scope => text.split(',').includes(scope))

/** Maximum age of a cached token check, in milliseconds, after another process changed the file. */
const FRESH_MS = 250
const MAX_CACHED = 10_000
const TOKEN = /^cs_[\w-]{43}$/

/** Verifies tokens, cached until another connection changes them. */
export const createTokenVerifier = (db: Db, now: () => number, onUse: (token: number, at: number) => void) => {
  const findToken = db.prepare<[Buffer], TokenRow>(
    `SELECT t.id, t.account, a.name, t.expires_at AS expiresAt, t.scopes, t.rate FROM tokens t JOIN accounts a ON a.id = t.account
     WHERE t.hash = ? AND t.revoked_at IS NULL`,
  )
  // Changes when another connection commits; reads only shared memory.
  const dataVersion = db.prepare('PRAGMA data_version').pluck()
  const valid = new Map<string, { caller: Caller; expiresAt: number }>()
  let version = dataVersion.get()
  let checkedAt = now()

  const forgetStale = (at: number) => {
    if (at - checkedAt < FRESH_MS && at >= checkedAt) return
    checkedAt = at
    const current = dataVersion.get()
    if (current !== version) valid.clear()
    version = current
  }

  return {
    forget: () => valid.clear(),
    verify(token: string): Caller | undefined {
      if (!TOKEN.test(token)) return undefined
      const at = now()
      forgetStale(at)
      const key = hashToken(token)
      let known = valid.get(key)
      if (!known) {
        const row = findToken.get(Buffer.from(key, 'hex'))
        if (!row) return undefined
        const { id, account, name, expiresAt, scopes, rate } = row
        const caller: Caller = { id: account, name, token: id, scopes: new Set(readScopes(scopes)) }
        if (rate !== null) caller.rate = rate
        known = { caller, expiresAt: expiresAt ?? Number.POSITIVE_INFINITY }
        if (valid.size >= MAX_CACHED) valid.clear()
        valid.set(key, known)
      }
      if (at >= known.expiresAt) return undefined
      onUse(known.caller.token, at)
      return known.caller
    },
  }
}

interface TokenRow {
  id: number
  account: number
  name: string
  expiresAt: number | null
  scopes: string
  rate: number | null
}

/**
 * Tokens are stored as SHA-256 hashes: enough for 256 random bits. They are looked up, not compared
 * by timingSafeEqual, as the timing of a lookup by hash reveals nothing useful.
 */
export const hashToken = (token: string) => hash('sha256', token, 'hex')

const USE_FLUSH_MS = 60_000

/** Writes the times of last use in batches. */
export const createTokenUses = (db: Db, folder: string) => {
  const markUsed = db.prepare('UPDATE tokens SET used_at = ? WHERE id = ?')
  const used = new Map<number, number>()
  let flushing: NodeJS.Timeout | undefined

  const flush = () => {
    clearTimeout(flushing)
    flushing = undefined
    try {
      db.transaction(() => {
        for (const [token, at] of used) markUsed.run(at, token)
      })()
      used.clear()
    } catch {
      // The next flush retries: times of use must not fail a request.
    }
    keepReserve(folder)
  }

  return {
    note(token: number, at: number) {
      used.set(token, at)
      flushing ??= setTimeout(flush, USE_FLUSH_MS).unref()
    },
    close() {
      if (used.size > 0) flush()
      clearTimeout(flushing)
    },
  }
}
