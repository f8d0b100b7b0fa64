import { join } from 'node:path'
import Database from 'better-sqlite3'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import { makePrivateFile, makePrivateFolder } from '../lib/private.ts'
import { makeDatabase } from '../sqlite/first.ts'
import { findFaultsAtStart } from '../sqlite/integrity.ts'
import {
  checkHolds,
  damagedFile,
  faultsIn,
  isFileOlder,
  makeTables,
  refuseEmptied,
  type Steps,
  upgrade,
} from '../sqlite/steps.ts'
import { vacuum } from '../sqlite/vacuum.ts'
import { MIGRATIONS } from './migrations.ts'

/** Accounts, their tokens, rules and signing secrets. Several processes may have it open. */
export const ACCOUNTS_FILE = 'accounts.sqlite'

const LAYOUT: Steps = {
  holds: 'accounts',
  table: 'accounts',
  steps: MIGRATIONS,
  damage: { code: 'accounts_broken', loses: ', which loses all accounts, tokens and rules' },
}

/**
 * A connection to the accounts file of a data folder, which is made where need be; its caller closes it. Where commits are not `lasting`, a
 * power cut may take the last ones, until the log is synced. `tables` is what is done to a file that lacks some.
 */
export const connect = (
  folder: string,
  native: string | undefined,
  { lasting = true, tables = makeTables }: { lasting?: boolean; tables?: typeof makeTables } = {},
): Database.Database => {
  const path = join(folder, ACCOUNTS_FILE)
  try {
    makePrivateFolder(folder)
    refuseEmptied(path, LAYOUT)
    makeDatabase(path, native, db => db.pragma('journal_mode = WAL'))
    // A reader of the file cannot use a token, but learns who has one.
    makePrivateFile(path)
    const db = new Database(path, { timeout: 5_000, ...(native ? { nativeBinding: native } : {}) })
    db.pragma('journal_mode = WAL')
    // A revocation that was confirmed outlives a power cut.
    db.pragma(`synchronous = ${lasting ? 'FULL' : 'NORMAL'}`)
    db.pragma('foreign_keys = ON')
    tables(db, LAYOUT)
    const [fault] = findFaultsAtStart(db)
    if (fault !== undefined) {
      db.close()
      throw damagedFile(path, fault, LAYOUT)
    }
    return db
  } catch (error) {
    throw explain(error, path)
  }
}

/** Whether an older version wrote the accounts of a data folder. */
export const isAccountsOlder = (folder: string, native: string | undefined): boolean => {
  const path = join(folder, ACCOUNTS_FILE)
  try {
    return isFileOlder(path, native, LAYOUT)
  } catch (error) {
    throw explain(error, path)
  }
}

/** Refuses a database that holds no accounts. */
export const checkHoldsAccounts = (db: Database.Database) => checkHolds(db, LAYOUT)

/** By whoever keeps the data folder. */
export const upgradeAccounts = (folder: string, native: string | undefined) =>
  void connect(folder, native, { tables: upgrade }).close()

const explain = (error: unknown, path: string): unknown => {
  const code = (error as { code?: unknown }).code
  if (typeof code !== 'string') return error
  if (/^(EACCES|EPERM|EROFS|SQLITE_READONLY.*|SQLITE_CANTOPEN.*)$/.test(code))
    return stop(
      'data_folder_not_writable',
      `${path} cannot be written (${messageOf(error)}): make its folder writable, or choose another with --data.`,
      error,
    )
  if (systemFault(error)?.code === 'disk_full')
    return stop('disk_full', `${path} cannot be written: the disk is full.`, error)
  if (/^(ENOTDIR|EEXIST)$/.test(code))
    return stop(
      'data_folder_no_folder',
      `The data folder of ${path} is not a folder: choose another with --data.`,
      error,
    )
  if (/^SQLITE_(NOTADB|CORRUPT.*)$/.test(code)) return damagedFile(path, messageOf(error), LAYOUT, error)
  return error
}

/** What is wrong with the accounts file of a data folder. */
export const checkAccounts = (folder: string, native: string | undefined): string[] =>
  faultsIn(join(folder, ACCOUNTS_FILE), native, LAYOUT)

/** Gives room back that is free in the file. */
export const compactAccounts = (folder: string, native: string | undefined) =>
  vacuum(join(folder, ACCOUNTS_FILE), () => connect(folder, native))
