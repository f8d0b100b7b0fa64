import { randomBytes } from 'node:crypto'
import { connectAccounts } from '../accounts/file.ts'

/**
 * Opens the secrets that sign webhooks of an account, as Standard Webhooks writes them:
 * `whsec_<base64 of 32 bytes>`. Signing needs the secrets themselves, not hashes.
 */
export const openSecrets = (
  folder: string,
  { native, now = Date.now }: { native?: string; now?: () => number } = {},
) => {
  const db = connectAccounts(folder, native)
  const valid = db
    .prepare<[number, number], string>(
      `SELECT secret FROM webhook_secrets WHERE account = ? AND (expires_at IS NULL OR expires_at > ?)
       ORDER BY id DESC`,
    )
    .pluck()
  const insert = db.prepare('INSERT INTO webhook_secrets (account, secret, created_at) VALUES (?, ?, ?)')
  const expire = db.prepare(
    'UPDATE webhook_secrets SET expires_at = @at WHERE account = @account AND (expires_at IS NULL OR expires_at > @at)',
  )
  const forget = db.prepare('DELETE FROM webhook_secrets WHERE expires_at <= ?')

  const current = (account: number) => valid.all(account, now())
  const create = (account: number) => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    insert.run(account, secret, now())
    return secret
  }

  return {
    /** Newest first, then those that a rotation left valid: messages are signed with each. */
    current,
    /** The newest secret, created if missing; another process may create it first. */
    ensure: (account: number): string =>
      current(account)[0] ?? db.transaction(() => current(account)[0] ?? create(account)).immediate(),
    /** Creates a secret; those before it stay valid for `overlapMs`. */
    rotate: (account: number, { overlapMs }: { overlapMs: number }): string =>
      db
        .transaction(() => {
          expire.run({ account, at: now() + overlapMs })
          forget.run(now())
          return create(account)
        })
        .immediate(),
    close: () => void db.close(),
  }
}
