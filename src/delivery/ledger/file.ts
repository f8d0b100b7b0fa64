import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemFault } from '../../lib/errors.ts'
import type { Db } from '../../sqlite/database.ts'
import { sharedFile } from '../../sqlite/shared-file.ts'
import { DELIVERY_MIGRATIONS } from './migrations.ts'

export type { Db } from '../../sqlite/database.ts'

/** Deliveries and attempts. One process sends; others may read and ask for redelivery. */
export const DELIVERIES_FILE = 'deliveries.sqlite'

/** Private, since receivers' URLs are often secrets. */
export const {
  connect,
  isOlder: isDeliveriesOlder,
  checkHolds: checkHoldsDeliveries,
  upgrade: upgradeDeliveries,
  faults: checkDeliveries,
  compact: compactDeliveries,
} = sharedFile({
  ...{ file: DELIVERIES_FILE, holds: 'deliveries', table: 'delivery', steps: DELIVERY_MIGRATIONS },
  damage: { code: 'deliveries_damaged', loses: ': then all alerts that are stored are sent again' },
  // Allows shrinking. `chainsieve compact` rewrites older files for that.
  layout: ['auto_vacuum = INCREMENTAL'],
  // A power cut may lose the last commits; their deliveries are sent again.
  pragmas: ['synchronous = NORMAL', 'cache_size = -32768'],
  explain(error, path, damaged) {
    const fault = systemFault(error, path)
    return fault?.code === 'damaged_file' ? damaged(messageOf(error), error) : (fault ?? error)
  },
})

/** Runs work in a write transaction. */
export const atomically = <T>(db: Db, work: () => T): T => db.transaction(work).immediate()

/** The outbox entry up to which all accounts are processed. `identity` is the outbox's. */
export const takenOver = (folder: string, identity: string, native?: string): number => {
  if (!existsSync(join(folder, DELIVERIES_FILE))) return 0
  const db = connect(folder, native)
  try {
    const least = db.prepare<[{ identity: string }], number | null>(
      `SELECT min(n) FROM (SELECT n FROM cursor WHERE store = @identity UNION ALL SELECT n FROM backlog WHERE store = @identity)`,
    )
    return least.pluck().get({ identity }) ?? 0
  } finally {
    db.close()
  }
}
