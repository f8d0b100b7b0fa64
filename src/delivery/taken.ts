import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect, DELIVERIES_FILE } from './file.ts'

/** Up to which number a store's outbox was taken over for all accounts. `identity` is the outbox's. */
export const takenOver = (data: string, identity: string, native?: string): number => {
  if (!existsSync(join(data, DELIVERIES_FILE))) return 0
  const db = connect(data, native)
  try {
    return (
      (db
        .prepare(
          'SELECT min(n) FROM (SELECT n FROM cursor WHERE store = ? UNION ALL SELECT n FROM backlog WHERE store = ?)',
        )
        .pluck()
        .get(identity, identity) as number) ?? 0
    )
  } finally {
    db.close()
  }
}
