import { randomBytes } from 'node:crypto'
import { connect } from '../accounts/file.ts'

/** Secrets by which an account's webhooks are signed, as Standard Webhooks writes them: `whsec_<base64 of 32 bytes>`. */
export type SigningSecrets = ReturnType<typeof openSecrets>

/** Opens the signing secrets of a data folder. They sign, so they cannot be kept as hashes: the file is its owner's alone. */
export const openSecrets = (
  folder: string,
  { native, now = Date.now }: { native?: string; now?: () => number } = {},
) => {
  const db = connect(folder, native)
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
    /** The newest first, then those that a rotation has left valid: a message is signed with each. */
    current,
    /** The newest secret, created if there is none. */
    // Another process may make the first one at the same time: whoever comes second takes it.
    ensure: (account: number): string =>
      current(account)[0] ?? db.transaction(() => current(account)[0] ?? create(account)).immediate(),
    /** Makes a new one; those before it are good for `overlapMs` more. */
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
