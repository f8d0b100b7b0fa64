import { join } from 'node:path'
import Database from 'better-sqlite3'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import { makePrivateFile, makePrivateFolder } from '../lib/private.ts'
import { makeDatabase } from '../sqlite/first.ts'
import { findFaults, findFaultsAtStart } from '../sqlite/integrity.ts'
import { findEmptied } from '../sqlite/pages.ts'
import { checkHolds, isFileOlder, makeTables, type Steps, upgrade } from '../sqlite/steps.ts'
import { vacuum } from '../sqlite/vacuum.ts'
import { MIGRATIONS } from './migrations.ts'

export type Db = Database.Database

/** Deliveries and their attempts. Several processes may have it open: one sends, others look and ask for redelivery. */
export const DELIVERIES_FILE = 'deliveries.sqlite'

const LAYOUT: Steps = { holds: 'deliveries', table: 'delivery', steps: MIGRATIONS }

/** Opens the deliveries of a data folder, whose file is made where need be. `tables` is what is done to one that lacks some. */
export const connect = (folder: string, native: string | undefined, tables = makeTables): Db => {
  const path = join(folder, DELIVERIES_FILE)
  try {
    makePrivateFolder(folder)
    refuseEmptied(path)
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
      throw damaged(path, fault)
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
    refuseEmptied(path)
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

const damaged = (file: string, why: string, cause?: unknown) =>
  stop(
    'deliveries_damaged',
    `${file} is damaged: ${why}. Restore a backup with chainsieve restore; without one, move it away with those whose names ` +
      'begin like it: then all alerts that are stored are sent again.',
    cause,
  )

const explained = (error: unknown, path: string): unknown => {
  const fault = systemFault(error, path)
  return fault?.code === 'damaged_file' ? damaged(path, messageOf(error), error) : (fault ?? error)
}

/** SQLite would take an empty file for a new one, and all that was ever found would be sent again. */
const refuseEmptied = (path: string) => {
  const found = findEmptied(path, true)
  if (found) throw damaged(found.file, found.why)
}

/** What is wrong with the deliveries of a data folder. */
export const checkDeliveries = (folder: string, native: string | undefined): string[] => {
  refuseEmptied(join(folder, DELIVERIES_FILE))
  const db = new Database(join(folder, DELIVERIES_FILE), {
    readonly: true,
    ...(native ? { nativeBinding: native } : {}),
  })
  try {
    return findFaults(db, 'integrity_check')
  } finally {
    db.close()
  }
}

/** Gives room back that is free in the file. */
export const compactDeliveries = (folder: string, native: string | undefined) =>
  vacuum(join(folder, DELIVERIES_FILE), () => connect(folder, native))
