import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, promises, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import type { Db } from '../sqlite/database.ts'
import { sharedFile } from '../sqlite/shared-file.ts'

/** Step n brings the accounts file from version n to n + 1. What was released is never edited: changes are further steps. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE accounts (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE tokens (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     hash BLOB NOT NULL UNIQUE,
     hint TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     used_at INTEGER
   ) STRICT`,
  // What a rule says is one JSON text: it is read whole or not at all. `seq` counts changes of all rules, so that whoever follows a
  // network's rules reads those alone that changed since; one that left the network leaves its number behind in rules_gone.
  `CREATE TABLE rules (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     revision INTEGER NOT NULL,
     matching INTEGER NOT NULL,
     enabled INTEGER NOT NULL,
     network TEXT NOT NULL,
     start_block INTEGER,
     input TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     seq INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX rules_by_network ON rules (network, seq);
   CREATE INDEX rules_by_account ON rules (account);
   CREATE TABLE rules_gone (
     network TEXT NOT NULL,
     rule INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     PRIMARY KEY (network, rule)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE rule_changes (last INTEGER NOT NULL) STRICT;
   INSERT INTO rule_changes VALUES (0);
   CREATE TABLE webhook_secrets (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     secret TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER
   ) STRICT;
   CREATE INDEX webhook_secrets_by_account ON webhook_secrets (account)`,
  // A token could do everything before there were scopes. Entries of the audit trail are added and, when they are old, removed; none is changed.
  `ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT 'search,rules,admin';
   ALTER TABLE tokens ADD COLUMN replaced_by INTEGER REFERENCES tokens;
   CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     account INTEGER REFERENCES accounts,
     token INTEGER,
     user TEXT,
     address TEXT,
     action TEXT NOT NULL,
     target TEXT,
     detail TEXT,
     count INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX audit_by_account ON audit (account, id);
   CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail is not changed'); END`,
  'ALTER TABLE tokens ADD COLUMN rate INTEGER',
]

/** Accounts, their tokens, rules and signing secrets. Several processes may have it open. */
export const ACCOUNTS_FILE = 'accounts.sqlite'

/** The accounts file of a data folder. A reader of it cannot use a token, but learns who has one. */
const shared = sharedFile({
  ...{ file: ACCOUNTS_FILE, holds: 'accounts', table: 'accounts', steps: MIGRATIONS },
  damage: { code: 'accounts_broken', loses: ', which loses all accounts, tokens and rules' },
  // A revocation that was confirmed outlives a power cut.
  pragmas: ['synchronous = FULL'],
  explain(error, path, damaged) {
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
    return /^SQLITE_(NOTADB|CORRUPT.*)$/.test(code) ? damaged(messageOf(error), error) : error
  },
})

export const {
  isOlder: isAccountsOlder,
  checkHolds: checkHoldsAccounts,
  upgrade: upgradeAccounts,
  faults: checkAccounts,
  compact: compactAccounts,
} = shared

/** Where commits are not `lasting`, a power cut may take the last ones, until the log is synced. */
export const connectAccounts = (folder: string, native: string | undefined, { lasting = true } = {}): Db =>
  shared.connect(folder, native, lasting ? [] : ['synchronous = NORMAL'])

const RESERVE_FILE = 'accounts.reserve'
const RESERVE_BYTES = 1 << 20
/** More than SQLite needs to open the file and to commit a small change. */
const RESERVE_STEP = 128 << 10

const pathIn = (folder: string) => join(folder, RESERVE_FILE)

/** Takes room on the disk while there is some, for what must be written when there is none. */
export const keepReserve = (folder: string): void => {
  try {
    const fd = openSync(pathIn(folder), 'a', 0o600)
    try {
      // Not zeros, which some file systems store in no room at all.
      for (let size = statSync(pathIn(folder)).size; size < RESERVE_BYTES; size += RESERVE_STEP)
        writeSync(fd, randomBytes(RESERVE_STEP))
    } finally {
      closeSync(fd)
    }
  } catch {
    // The disk is full or not writable: the next write says so.
  }
}

/** Does what must be done also on a full disk, such as a revocation: the room that was kept for it is given up bit by bit. */
export const withReserve = <T>(folder: string, work: () => T): T => {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full' || !giveUp(folder)) throw error
    }
  }
}

/** Returns whether there was something left to give up. */
const giveUp = (folder: string): boolean => {
  try {
    const { size } = statSync(pathIn(folder))
    if (size === 0) return false
    const fd = openSync(pathIn(folder), 'r+')
    try {
      ftruncateSync(fd, Math.max(0, size - RESERVE_STEP))
    } finally {
      closeSync(fd)
    }
    return true
  } catch {
    return false
  }
}

/**
 * Resolves when all that was written before the call outlives a power cut. Whoever asks while the disk works waits for one more turn of it,
 * together with all others who ask meanwhile.
 */
export const createSynced = (sync: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  const start = (): Promise<void> => {
    next = undefined
    const now = sync().finally(() => {
      if (running === now) running = undefined
    })
    running = now
    return now
  }

  return () => {
    if (!running) return start()
    next ??= running.then(start, start)
    return next
  }
}

/** Has the disk take what SQLite has written to a log of commits, on a thread that nobody waits for. */
export const syncLog = (database: string) => async (): Promise<void> => {
  const log = await promises.open(`${database}-wal`, 'r+')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
