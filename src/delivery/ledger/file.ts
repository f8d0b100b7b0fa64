import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemFault } from '../../lib/errors.ts'
import type { Db } from '../../sqlite/database.ts'
import { sharedFile } from '../../sqlite/shared-file.ts'
import { DELIVERY_MIGRATIONS } from './migrations.ts'

export type { Db } from '../../sqlite/database.ts'

/** Deliveries and their attempts. Several processes may have it open: one sends, others look and ask for redelivery. */
export const DELIVERIES_FILE = 'deliveries.sqlite'

/** URLs of receivers are often their password, so nobody else may read the file. */
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
  // Room that is free can be given back. An older file is written anew for that, as by chainsieve compact.
  layout: ['auto_vacuum = INCREMENTAL'],
  // A kill leaves the file whole; a power cut may take the last commits, and their deliveries are sent again.
  pragmas: ['synchronous = NORMAL', 'cache_size = -32768'],
  explain(error, path, damaged) {
    const fault = systemFault(error, path)
    return fault?.code === 'damaged_file' ? damaged(messageOf(error), error) : (fault ?? error)
  },
})

/** Runs work in a transaction that may write from its beginning. */
export const atomically = <T>(db: Db, work: () => T): T => db.transaction(work).immediate()

/** Up to which number a store's outbox was taken over for all accounts. `identity` is the outbox's. */
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
