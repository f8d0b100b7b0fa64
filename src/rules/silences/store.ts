import type Database from 'better-sqlite3'
import { type Actor, type Trail, thisUser } from '../../accounts/audit.ts'
import { DAY_MS } from '../../lib/time.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { SilenceInput, SilenceMatcher } from './check.ts'

export interface StoredSilence extends SilenceInput {
  id: number
  account: number
  /** Name of the account or of the user who made it. */
  author: string
  /** Epoch milliseconds. */
  createdAt: number
}

interface SilenceStoreOptions {
  write<T>(work: () => T): T
  trail: Trail
  now(): number
  limits: Limits
}

export type Silences = ReturnType<typeof createSilences>

/** A silence that is over is listed this long. */
const SILENCE_KEPT_MS = 30 * DAY_MS

/** Silences of accounts, in the file of their rules. */
export const createSilences = (db: Database.Database, { write, trail, now, limits }: SilenceStoreOptions) => {
  const columns = 'id, account, matcher, begins AS "from", ends AS "to", author, reason, created_at AS createdAt'
  const byAccount = db.prepare<[number], SilenceRow>(
    `SELECT ${columns} FROM silences WHERE account = ? ORDER BY id DESC`,
  )
  const unfinished = db.prepare<[number], SilenceRow>(`SELECT ${columns} FROM silences WHERE ends > ? ORDER BY id`)
  const insert = db.prepare(
    `INSERT INTO silences (account, matcher, begins, ends, author, reason, created_at)
     VALUES (@account, @matcher, @from, @to, @author, @reason, @createdAt)`,
  )
  const count = db
    .prepare<[number, number], number>('SELECT count(*) FROM silences WHERE account = ? AND ends > ?')
    .pluck()
  const replace = db.prepare<[object], SilenceRow>(
    `UPDATE silences SET matcher = @matcher, begins = @from, ends = @to, reason = @reason
     WHERE account = @account AND id = @id AND ends > @now
     RETURNING ${columns}`,
  )
  const drop = db.prepare<[number, number], Pick<SilenceRow, 'matcher' | 'reason'>>(
    'DELETE FROM silences WHERE account = ? AND id = ? RETURNING matcher, reason',
  )
  const dropOld = db.prepare<[number]>('DELETE FROM silences WHERE ends < ?')
  const accountName = db.prepare<[number], string>('SELECT name FROM accounts WHERE id = ?').pluck()

  return {
    /** Of an account, the newest first. */
    all: (account: number): StoredSilence[] => byAccount.all(account).map(toSilence),

    /** Those of all accounts that are not over. */
    unfinished: (at: number): StoredSilence[] => unfinished.all(at).map(toSilence),

    add: (account: number, input: SilenceInput, by: Actor = thisUser()): StoredSilence =>
      write(() => {
        const createdAt = now()
        dropOld.run(createdAt - SILENCE_KEPT_MS)
        if (count.get(account, createdAt)! >= limits.silences) throw overLimit('silences', limits)
        const silence = { ...input, account, author: by.user ?? accountName.get(account) ?? '', createdAt }
        const id = Number(insert.run({ ...silence, matcher: JSON.stringify(input.matcher) }).lastInsertRowid)
        trail.record(by, { action: 'silence add', target: String(id), detail: silenceDetail(input) })
        return { id, ...silence }
      }),

    /** Undefined if the account has none of that number that is not over. */
    change: (account: number, id: number, input: SilenceInput, by: Actor = thisUser()): StoredSilence | undefined =>
      write(() => {
        const found = replace.get({ ...input, account, id, matcher: JSON.stringify(input.matcher), now: now() })
        if (!found) return undefined
        trail.record(by, { action: 'silence change', target: String(id), detail: silenceDetail(input) })
        return toSilence(found)
      }),

    /** Ends a silence at once; false if the account has none of that number. */
    remove: (account: number, id: number, by: Actor = thisUser()): boolean =>
      write(() => {
        const found = drop.get(account, id)
        if (!found) return false
        const detail = { matcher: JSON.parse(found.matcher) as SilenceMatcher, reason: found.reason }
        trail.record(by, { action: 'silence remove', target: String(id), detail })
        return true
      }),
  }
}

const silenceDetail = ({ matcher, from, to, reason }: SilenceInput) => ({
  matcher,
  ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString(), reason },
})

type SilenceRow = Omit<StoredSilence, 'matcher'> & { matcher: string }
const toSilence = (row: SilenceRow): StoredSilence => ({ ...row, matcher: JSON.parse(row.matcher) as SilenceMatcher })
