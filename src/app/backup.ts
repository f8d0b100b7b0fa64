import { existsSync, readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ACCOUNTS_FILE, checkHoldsAccounts } from '../accounts/file.ts'
import { checkBackup, restoreBackup } from '../backup/restore.ts'
import { type BackupOptions, type BackupStep, takeBackup } from '../backup/take.ts'
import type { Config } from '../config/index.ts'
import { checkHoldsDeliveries, DELIVERIES_FILE } from '../delivery/ledger/file.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { checkNetworkFile, isStoreOlder } from '../engine/open.ts'
import { refuse } from '../lib/errors.ts'
import type { Bars } from '../lib/progress.ts'
import { nativeBinding, version } from '../lib/runtime.ts'
import type { Run } from '../lib/shutdown.ts'
import { isUnmade } from '../sqlite/database.ts'
import { lockFolder } from '../sqlite/lock.ts'
import { findEmptied } from '../sqlite/verify-pages.ts'
import { rangesOf } from './stores.ts'

/** Backs up all stored data to a folder, also while a server runs. */
export const backupDataFolder = async (
  { data }: Config,
  folder: string,
  full: boolean,
  { shutdown, progress }: Run & Bars,
) => {
  const held = backupContents(data)
  const { databases } = held
  if (databases.length === 0) throw refuse('nothing_stored', `${data} has nothing to back up: check --data.`)
  const native = nativeBinding(data)
  const lock = lockFolder(folder, 'backup', native)
  shutdown.add('lock', lock.release)
  giveWay()
  const steps = takeBackup({ ...held, folder, program: version, full, native })
  return runSteps(steps, 'backup', progress, shutdown.signal)
}

/**
 * Restores a data folder from a backup, or with `check` only verifies the backup. `force` moves
 * existing data aside. Ranges are null if the backup is of an older version.
 */
export const restoreDataFolder = async (
  { data }: Config,
  folder: string,
  { check, force }: { check: boolean; force: boolean },
  { shutdown, progress }: Run & Bars,
) => {
  if (check) {
    const { takenAt } = await runSteps(checkBackup(folder), 'check', progress, shutdown.signal)
    return { takenAt, networks: [], aside: undefined }
  }
  const native = nativeBinding(data)
  const lock = lockFolder(data, 'restore', native)
  shutdown.add('lock', lock.release)
  const done = await runSteps(restoreBackup({ backup: folder, data, force }), 'restore', progress, shutdown.signal)
  return {
    ...done,
    networks: storedNetworks(data).map(network => {
      const store = storeFile(data, network)
      return { network, ranges: isStoreOlder(store, native) ? null : rangesOf(store) }
    }),
  }
}

/** The files of a data folder that belong to a backup. */
export const backupContents = (data: string): Pick<BackupOptions, 'data' | 'databases' | 'files' | 'check'> => ({
  data,
  databases: databasesIn(data),
  files: filesIn(data),
  check: db => (CHECKS[basename(db.name)] ?? checkNetworkFile)(db),
})

const CHECKS: Record<string, BackupOptions['check']> = {
  [ACCOUNTS_FILE]: checkHoldsAccounts,
  [DELIVERIES_FILE]: checkHoldsDeliveries,
}

/**
 * In snapshot order: deliveries before alerts, and alerts before rules. After a restore, later
 * alerts are sent, and each alert has its rule.
 */
const databasesIn = (data: string): string[] => [
  ...[DELIVERIES_FILE].filter(name => isThere(data, name)),
  ...storedNetworks(data)
    .map(network => storeFile('', network))
    .filter(name => !isUnmade(join(data, name), nativeBinding(data))),
  ...[ACCOUNTS_FILE].filter(name => isThere(data, name)),
]

/** A missing file is kept in the list: the backup refuses it. */
const isThere = (data: string, name: string): boolean =>
  existsSync(join(data, name)) || findEmptied(join(data, name)) !== undefined

/** Settings, ABIs and decode requests. */
const filesIn = (data: string): string[] =>
  ['chainsieve.toml', ...['abis', 'redecode'].flatMap(folder => walk(data, folder))].filter(name =>
    existsSync(join(data, name)),
  )

const walk = (data: string, folder: string): string[] =>
  existsSync(join(data, folder))
    ? readdirSync(join(data, folder), { withFileTypes: true }).flatMap(entry => {
        const name = join(folder, entry.name)
        return entry.isDirectory() ? walk(data, name) : entry.isFile() ? [name] : []
      })
    : []

/** Gives priority to a running server. */
const giveWay = () => {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // Not every system lets a process lower its own priority.
  }
}

/** Share of time left idle for other processes. */
const REST_SHARE = 0.5
const TURN_MS = 20

const runSteps = async <T>(
  steps: Generator<BackupStep, T>,
  label: string,
  progress: Bars['progress'],
  signal: AbortSignal,
): Promise<T> => {
  const bar = progress(label)
  let turn = performance.now()
  try {
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      const took = performance.now() - turn
      if (took < TURN_MS) continue
      bar.update({ blocks: 0, logs: 0, events: 0, ...value })
      await sleep(took * REST_SHARE)
      signal.throwIfAborted()
      turn = performance.now()
    }
  } finally {
    steps.return(undefined as never)
    bar.finish()
  }
}
