import { randomBytes } from 'node:crypto'
import { refuse } from '../lib/errors.ts'
import { type Actor, createRefusals, createTrail, type Trail, thisUser } from './audit.ts'
import { connectAccounts, keepReserve, withReserve } from './file.ts'
import {
  type Account,
  createTokenUses,
  createTokenVerifier,
  hashToken,
  readScopes,
  SCOPES,
  type TokenScope,
} from './token-verifier.ts'

export type { Actor, AuditEntry, Refusals, Trail } from './audit.ts'
export { type Caller, SCOPES, type TokenScope } from './token-verifier.ts'

/** Public facts about a token, without its secret. Times are epoch milliseconds. */
export interface TokenInfo {
  id: number
  account: string
  /** First characters, by which its owner recognises it. */
  hint: string
  scopes: TokenScope[]
  /** Requests per minute; null if the default limit applies. */
  rate: number | null
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  /** Precise to a minute, and up to a minute late. */
  lastUsedAt: number | null
  /** The token that replaced it. */
  replacedBy: number | null
}

interface TokenOptions {
  /** Milliseconds. */
  expiresIn?: number | undefined
  scopes?: readonly TokenScope[] | undefined
  /** Requests per minute. */
  rate?: number | undefined
  /** The creator; by default the user of the command line. */
  by?: Actor | undefined
  /** Default true. If false, the commit is not synced: a power cut may lose the token. */
  lasting?: boolean
}

interface Rotated {
  id: number
  token: string
  /** Epoch milliseconds until which the old token stays valid. */
  oldUntil: number
}

export type Accounts = ReturnType<typeof openAccounts>

/** Opens the accounts of a data folder, also in several processes. `native`: SQLite's binding. */
export const openAccounts = (
  folder: string,
  { native, now = Date.now }: { native?: string; now?: () => number } = {},
) => {
  const db = withReserve(folder, () => connectAccounts(folder, native))
  keepReserve(folder)
  const insertAccount = db.prepare('INSERT INTO accounts (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const insertToken = db.prepare(
    'INSERT INTO tokens (account, hash, hint, created_at, expires_at, scopes, rate) SELECT id, ?, ?, ?, ?, ?, ? FROM accounts WHERE name = ?',
  )
  const listTokens = db.prepare<[], Omit<TokenInfo, 'scopes'> & { scopes: string }>(
    `SELECT t.id, a.name AS account, t.hint, t.scopes, t.rate, t.created_at AS createdAt, t.expires_at AS expiresAt,
       t.revoked_at AS revokedAt, t.used_at AS lastUsedAt, t.replaced_by AS replacedBy
     FROM tokens t JOIN accounts a ON a.id = t.account ORDER BY t.id`,
  )
  const listAccounts = db.prepare<[], Account>('SELECT id, name FROM accounts ORDER BY id')
  const revokeToken = db.prepare('UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?')
  const replaceToken = db.prepare('UPDATE tokens SET replaced_by = ?, expires_at = ? WHERE id = ?')
  const limitToken = db.prepare('UPDATE tokens SET rate = ? WHERE id = ?')

  const trail = createTrail(db, now)
  /** Commits without a sync; the next synced commit covers it. */
  const withoutWaiting = <T>(work: () => T): T => {
    db.pragma('synchronous = NORMAL')
    try {
      return work()
    } finally {
      db.pragma('synchronous = FULL')
    }
  }
  const refusals = createRefusals(refused => {
    db.transaction(() => {
      for (const { by, act } of refused) trail.record(by, act)
    })()
  }, now)

  const uses = createTokenUses(db, folder)
  const { verify, forget } = createTokenVerifier(db, now, uses.note)

  const listed = (): TokenInfo[] => listTokens.all().map(row => ({ ...row, scopes: readScopes(row.scopes) }))

  /** Runs `work` in one transaction, and clears the cache of tokens. */
  const together = <T>(work: () => T): T => {
    const done = db.transaction(work).immediate()
    forget()
    return done
  }

  const addToken = (account: string, { scopes, rate, expiresIn }: NewToken) => {
    const token = `cs_${randomBytes(32).toString('base64url')}`
    const at = now()
    const expiresAt = expiresIn === undefined ? null : at + expiresIn
    const hint = token.slice(0, 'cs_'.length + 4)
    const key = Buffer.from(hashToken(token), 'hex')
    const added = insertToken.run(key, hint, at, expiresAt, writeScopes(scopes), rate, account)
    return { id: Number(added.lastInsertRowid), token }
  }

  return {
    /** Creates a token for the account of that name, and the account if it does not exist. */
    createToken: (
      account: string,
      { expiresIn, scopes = USUAL_SCOPES, rate, by = thisUser(), lasting = true }: TokenOptions = {},
    ): string => {
      checkName(account)
      const create = () => {
        insertAccount.run(account, now())
        const made = addToken(account, { scopes, rate: rate ?? null, expiresIn })
        trail.record(by, {
          action: 'token create',
          target: String(made.id),
          detail: { account, scopes: scopes.join(), ...(rate !== undefined && { rate }) },
        })
        return made.token
      }
      return lasting ? together(create) : withoutWaiting(() => together(create))
    },

    /** Creates a token like the old one, which expires after `graceMs`. */
    rotate: (
      id: number,
      {
        graceMs,
        expiresIn,
        by = thisUser(),
      }: { graceMs: number; expiresIn?: number | undefined; by?: Actor | undefined },
    ): Rotated =>
      together(() => {
        const old = listed().find(token => token.id === id)
        const at = now()
        if (!old) throw unknownToken(id)
        if (old.replacedBy !== null)
          throw refuse('token_replaced', `Token ${id} was replaced by token ${old.replacedBy}: rotate that one.`)
        const end = old.expiresAt ?? Number.POSITIVE_INFINITY
        if (old.revokedAt !== null || end <= at)
          throw refuse(
            'token_invalid',
            `Token ${id} is ${old.revokedAt === null ? 'expired' : 'revoked'}: create a new one with chainsieve token create.`,
          )
        const lifetime = expiresIn ?? (old.expiresAt === null ? undefined : old.expiresAt - old.createdAt)
        const made = addToken(old.account, { scopes: old.scopes, rate: old.rate, expiresIn: lifetime })
        const oldUntil = Math.min(end, at + graceMs)
        replaceToken.run(made.id, oldUntil, id)
        const detail = { account: old.account, replacedBy: made.id, oldUntil: new Date(oldUntil).toISOString() }
        trail.record(by, { action: 'token rotate', target: String(id), detail })
        return { ...made, oldUntil }
      }),

    /** The account of a valid token. */
    verify,

    /** Sets the requests per minute of a token; null: the default. Applies like `revoke`. */
    setRate: (id: number, rate: number | null, by: Actor = thisUser()): void =>
      together(() => {
        if (limitToken.run(rate, id).changes === 0) throw unknownToken(id)
        trail.record(by, { action: 'token limit', target: String(id), detail: { rate } })
      }),

    list: listed,
    /** Public facts about one token. */
    token: (id: number): TokenInfo | undefined => listed().find(token => token.id === id),

    /** All accounts in order of creation. */
    accounts: (): Account[] => listAccounts.all(),

    /** Applies at once here, within `FRESH_MS` in other processes, and on a full disk. */
    revoke: (id: number, by: Actor = thisUser()): void => {
      withReserve(folder, () =>
        together(() => {
          if (revokeToken.run(now(), id).changes === 0) throw unknownToken(id)
          trail.record(by, { action: 'token revoke', target: String(id) })
        }),
      )
    },

    trail,
    /** As the trail's `record`, but nobody waits for the disk: a power cut may take it. */
    note: (...said: Parameters<Trail['record']>): void => withoutWaiting(() => trail.record(...said)),
    /** Counts refusals for the trail. */
    refusals,

    close: (): void => {
      refusals.close()
      uses.close()
      db.close()
      // Refills the reserve, which the next start needs.
      keepReserve(folder)
    },
  }
}

interface NewToken {
  scopes: readonly TokenScope[]
  rate: number | null
  expiresIn: number | undefined
}

const unknownToken = (id: number) =>
  refuse('unknown_token', `There is no token ${id}: chainsieve token list shows all tokens.`)

const checkName = (name: string) => {
  if (!/^[^\p{C}]{1,200}$/u.test(name) || name.trim() !== name)
    throw refuse(
      'bad_account_name',
      `An account's name has 1 to 200 printable characters, not ${JSON.stringify(name)}.`,
    )
}

/** Default scopes of a token: sufficient for ordinary use of an account. */
const USUAL_SCOPES: readonly TokenScope[] = ['search', 'rules']

/** Serialises scopes without duplicates, in the order of `SCOPES`. */
const writeScopes = (scopes: readonly TokenScope[]): string => {
  if (scopes.length === 0) throw refuse('no_scope', `A token needs a scope: ${SCOPES.join(', ')}.`)
  return SCOPES.filter(scope => scopes.includes(scope)).join(',')
}
