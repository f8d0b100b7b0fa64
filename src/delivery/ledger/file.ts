import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { messageOf, systemFault } from '../../lib/errors.ts'
import { makePrivateFile, makePrivateFolder } from '../../lib/private.ts'
import { makeDatabase } from '../../sqlite/first.ts'
import { findFaultsAtStart } from '../../sqlite/integrity.ts'
import {
  checkHolds,
  damagedFile,
  faultsIn,
  isFileOlder,
  makeTables,
  refuseEmptied,
  type Steps,
  upgrade,
} from '../../sqlite/steps.ts'
import { vacuum } from '../../sqlite/vacuum.ts'
import { MIGRATIONS } from './migrations.ts'

export type Db = Database.Database

/** Deliveries and their attempts. Several processes may have it open: one sends, others look and ask for redelivery. */
export const DELIVERIES_FILE = 'deliveries.sqlite'

const LAYOUT: Steps = {
  holds: 'deliveries',
  table: 'delivery',
  steps: MIGRATIONS,
  damage: { code: 'deliveries_damaged', loses: ': then all alerts that are stored are sent again' },
}

/** Opens the deliveries of a data folder, whose file is made where need be. `tables` is what is done to one that lacks some. */
export const connect = (folder: string, native: string | undefined, tables = makeTables): Db => {
  const path = join(folder, DELIVERIES_FILE)
  try {
    makePrivateFolder(folder)
    refuseEmptied(path, LAYOUT)
    makeDatabase(path, native, db => {
      db.pragma('auto_vacuum = INCREMENTAL')
      db.pragma('journal_mode = WAL')
    })
    // URLs of receivers are often their password.
    makePrivateFile(path)
    const db = new Database(path, { timeout: 5_000, ...(native ? { nativeBinding: native } : {}) })
    // Room that is free can be given back. An older file is written anew for that, as by chainsieve compact.
    if (db.pragma('page_count', { simple: true }) === 0) db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    // A kill leaves the file whole; a power cut may take the last commits, and their deliveries are sent again.
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    db.pragma('cache_size = -32768')
    tables(db, LAYOUT)
    const [fault] = findFaultsAtStart(db)
    if (fault !== undefined) {
      db.close()
      throw damagedFile(path, fault, LAYOUT)
    }
    return db
  } catch (error) {
    throw explained(error, path)
  }
}

/** Whether an older version wrote the deliveries of a data folder. */
export const isDeliveriesOlder = (folder: string, native: string | undefined): boolean => {
  const path = join(folder, DELIVERIES_FILE)
  try {
    return isFileOlder(path, native, LAYOUT)
  } catch (error) {
    throw explained(error, path)
  }
}

/** Refuses a database that holds no deliveries. */
export const checkHoldsDeliveries = (db: Db) => checkHolds(db, LAYOUT)

/** By whoever keeps the data folder. */
export const upgradeDeliveries = (folder: string, native: string | undefined) =>
  void connect(folder, native, upgrade).close()

const explained = (error: unknown, path: string): unknown => {
  const fault = systemFault(error, path)
  return fault?.code === 'damaged_file' ? damagedFile(path, messageOf(error), LAYOUT, error) : (fault ?? error)
}

/** What is wrong with the deliveries of a data folder. */
export const checkDeliveries = (folder: string, native: string | undefined): string[] =>
  faultsIn(join(folder, DELIVERIES_FILE), native, LAYOUT)

/** Gives room back that is free in the file. */
export const compactDeliveries = (folder: string, native: string | undefined) =>
  vacuum(join(folder, DELIVERIES_FILE), () => connect(folder, native))

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
