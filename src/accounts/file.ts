import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, promises, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import type { Db } from '../sqlite/database.ts'
import { sharedFile } from '../sqlite/shared-file.ts'

/** Step n migrates the accounts file from version n to n + 1. Released steps are never edited. */
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
  // A rule is one JSON text, since it is only read whole. `seq` counts changes of all rules:
  // readers fetch the changed rules by it. rules_gone has the seq of rules that left a network.
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
  // Before scopes, a token could do everything. Old audit entries are removed, none is changed.
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
  // A list without a name is one that is being written, or was deleted. `list_changes` has the last
  // changes of each: readers apply them to the values that they hold.
  `CREATE TABLE lists (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     name TEXT,
     size INTEGER NOT NULL,
     revision INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     whole_seq INTEGER NOT NULL,
     UNIQUE (account, name)
   ) STRICT;
   CREATE TABLE list_values (
     list INTEGER NOT NULL,
     value BLOB NOT NULL,
     PRIMARY KEY (list, value)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE list_changes (
     list INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     value BLOB NOT NULL,
     added INTEGER NOT NULL,
     PRIMARY KEY (list, seq, value)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE rule_lists (
     list INTEGER NOT NULL,
     rule INTEGER NOT NULL,
     PRIMARY KEY (list, rule)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX rule_lists_by_rule ON rule_lists (rule)`,
  `CREATE TABLE silences (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     matcher TEXT NOT NULL,
     begins INTEGER NOT NULL,
     ends INTEGER NOT NULL,
     author TEXT NOT NULL,
     reason TEXT NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX silences_by_account ON silences (account);
   CREATE INDEX silences_by_end ON silences (ends)`,
]

/** Accounts, their tokens, rules and signing secrets. Several processes may have it open. */
export const ACCOUNTS_FILE = 'accounts.sqlite'

/** The accounts file. Readers see which accounts have tokens, but not the tokens. */
const shared = sharedFile({
  ...{ file: ACCOUNTS_FILE, holds: 'accounts', table: 'accounts', steps: MIGRATIONS },
  damage: { code: 'accounts_broken', loses: ', which loses all accounts, tokens and rules' },
  // A confirmed revocation survives a power cut.
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

/** Unless `lasting`, commits do not sync: a power cut may lose those since the last sync. */
export const connectAccounts = (folder: string, native: string | undefined, { lasting = true } = {}): Db =>
  shared.connect(folder, native, lasting ? [] : ['synchronous = NORMAL'])

const RESERVE_FILE = 'accounts.reserve'
const RESERVE_BYTES = 1 << 20
/** More than SQLite needs to open the file and to commit a small change. */
const RESERVE_STEP = 128 << 10

const pathIn = (folder: string) => join(folder, RESERVE_FILE)

/** Reserves disk space for writes that must succeed on a full disk. */
export const keepReserve = (folder: string): void => {
  try {
    const fd = openSync(pathIn(folder), 'a', 0o600)
    try {
      // Random bytes, since some file systems store zeros without allocating space.
      for (let size = statSync(pathIn(folder)).size; size < RESERVE_BYTES; size += RESERVE_STEP)
        writeSync(fd, randomBytes(RESERVE_STEP))
    } finally {
      closeSync(fd)
    }
  } catch {
    // The disk is full or not writable: the next write says so.
  }
}

/** Runs `work` also on a full disk, such as a revocation, by freeing the reserve step by step. */
export const withReserve = <T>(folder: string, work: () => T): T => {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full' || !giveUp(folder)) throw error
    }
  }
}

/** Frees one step of the reserve; false if none is left. */
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

/** Resolves when all earlier writes are synced. Calls during a sync share the next one. */
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

/** Syncs SQLite's write-ahead log on a thread of libuv. */
export const syncLog = (database: string) => async (): Promise<void> => {
  const log = await promises.open(`${database}-wal`, 'r+')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
