import { userInfo } from 'node:os'
import type Database from 'better-sqlite3'
import { lazy } from '../lib/caches.ts'

/** Origin of an act: a token of an account over HTTP, or a system user at the command line. */
export interface Actor {
  account?: number | undefined
  token?: number | undefined
  /** User of the operating system. */
  user?: string | undefined
  /** IP address of the HTTP client. */
  address?: string | undefined
}

/** An action named as on the command line, such as `token create`. */
export interface Act {
  action: string
  /** The target of the action: the number of a token or rule, names of files. */
  target?: string | undefined
  detail?: Readonly<Record<string, unknown>> | undefined
  /** Count and first time of several acts in one entry. */
  count?: number
  at?: number
}

export interface AuditEntry {
  id: number
  /** Epoch milliseconds; for several acts, the time of the first. */
  at: number
  account: string | null
  token: number | null
  user: string | null
  address: string | null
  action: string
  target: string | null
  detail: Record<string, unknown> | null
  count: number
}

export interface AuditFilter {
  account?: string | undefined
  token?: number | undefined
  /** An action, or its first word. */
  action?: string | undefined
  /** Epoch milliseconds, both inclusive. */
  after?: number | undefined
  before?: number | undefined
  limit: number
}

interface AuditKeeping {
  /** Older entries are removed. */
  keepMs: number
  /** The current time in epoch milliseconds, from which ages are computed. */
  now: number
  /** Maximum number of entries of an account; the oldest beyond it are removed. */
  most: number
}

/** The audit trail, in the file of the accounts: an act and its entry are committed together. */
export interface Trail {
  record(by: Actor, act: Act): void
  /** Newest first. */
  list(filter: AuditFilter): AuditEntry[]
  /** Removes one batch; returns entries removed by age and by number, and whether more remain. */
  prune(keeping: AuditKeeping): { old: number; surplus: number; more: boolean }
}

/** Batch size of pruning. */
const AUDIT_PRUNE_STEP = 2_000

export const createTrail = (db: Database.Database, now: () => number = Date.now): Trail => {
  const insert = db.prepare(
    `INSERT INTO audit (at, account, token, user, address, action, target, detail, count)
     VALUES (@at, @account, @token, @user, @address, @action, @target, @detail, @count)`,
  )
  const select = db.prepare<[Record<string, unknown>], Omit<AuditEntry, 'detail'> & { detail: string | null }>(
    `SELECT audit.id, at, accounts.name AS account, token, user, address, action, target, detail, count
     FROM audit LEFT JOIN accounts ON accounts.id = audit.account
     WHERE (@account IS NULL OR accounts.name = @account) AND (@token IS NULL OR token = @token)
       AND (@action IS NULL OR action = @action OR substr(action, 1, length(@action) + 1) = @action || ' ')
       AND (@after IS NULL OR at >= @after) AND (@before IS NULL OR at <= @before)
     ORDER BY audit.id DESC LIMIT @limit`,
  )
  const dropOld = db.prepare(
    `DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id LIMIT ${AUDIT_PRUNE_STEP}) AND at < ?`,
  )
  const accounts = db.prepare<[], number | null>('SELECT DISTINCT account FROM audit').pluck()
  // Counts per account, or for requests without one; acts at the command line have a user and stay.
  const dropMany = db.prepare(
    `DELETE FROM audit WHERE id IN (
       SELECT id FROM audit WHERE account IS @account AND user IS NULL AND id <= (
         SELECT id FROM audit WHERE account IS @account AND user IS NULL ORDER BY id DESC LIMIT 1 OFFSET @most
       ) ORDER BY id LIMIT ${AUDIT_PRUNE_STEP})`,
  )

  return {
    record: ({ account, token, user, address }, { action, target, detail, count = 1, at = now() }) => {
      insert.run({
        ...{ at, account: account ?? null, token: token ?? null, user: user ?? null },
        ...{ address: address ?? null, action, target: target ?? null, count },
        detail: detail === undefined ? null : JSON.stringify(detail),
      })
    },
    list: ({ account = null, token = null, action = null, after = null, before = null, limit }) =>
      select
        .all({ account, token, action, after, before, limit })
        .map(row => ({ ...row, detail: row.detail === null ? null : JSON.parse(row.detail) })),
    prune: ({ keepMs, now, most }) => {
      const old = dropOld.run(now - keepMs).changes
      let surplus = 0
      for (const account of accounts.all()) surplus += dropMany.run({ account, most }).changes
      return { old, surplus, more: old + surplus >= AUDIT_PRUNE_STEP }
    },
  }
}

/** The system user who runs the command line. */
export const thisUser = lazy((): Actor => {
  try {
    return { user: userInfo().username }
  } catch {
    // A container may run as a user without a name.
    return { user: String(process.getuid?.() ?? 'unknown') }
  }
})

interface Counted {
  by: Actor
  act: Act & { count: number }
}

/** Delay of the first write; later refusals are written in batches. */
const FIRST_REFUSAL_MS = 1_000
const OTHERS_MS = 60_000
/** Maximum number of separate counters between two writes. */
const MAX_REFUSAL_KINDS = 100

export type Refusals = ReturnType<typeof createRefusals>

/** Counts refused requests: a flood of them becomes a few entries of the audit trail. */
export const createRefusals = (write: (refused: Counted[]) => void, now: () => number) => {
  const counted = new Map<string, Counted>()
  let writtenAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (counted.size === 0) return
    writtenAt = performance.now()
    try {
      write([...counted.values()])
      counted.clear()
    } catch {
      // The next write retries: a full disk must not fail a request that was refused anyway.
    }
  }

  return {
    add(by: Actor, action: string, why: string) {
      const full = counted.size >= MAX_REFUSAL_KINDS
      const own = `${action} ${by.address} ${by.token} ${why}`
      const key = full && !counted.has(own) ? action : own
      const known = counted.get(key)
      if (known) known.act.count++
      else {
        const detail = key === own ? { why } : { why: 'many addresses, which are counted together' }
        counted.set(key, { by: key === own ? by : {}, act: { action, detail, count: 1, at: now() } })
      }
      const wait = Math.max(FIRST_REFUSAL_MS, writtenAt + OTHERS_MS - performance.now())
      timer ??= setTimeout(flush, wait).unref()
    },
    close: flush,
  }
}
