import { basename } from 'node:path'
import { ACCOUNTS_FILE, isAccountsOlder, upgradeAccounts, withReserve } from '../accounts/file.ts'
import { DELIVERIES_FILE, isDeliveriesOlder, upgradeDeliveries } from '../delivery/ledger/file.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { isStoreOlder, openForWriting } from '../engine/open.ts'
import { systemFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { isDamage } from '../sqlite/damage.ts'
import { lockDataFolder, tryToLockDataFolder } from '../sqlite/lock.ts'

/**
 * Locks a data folder and upgrades older files: all, or none if one fails. Only the lock owner
 * upgrades, since a server of the older version may have the files open.
 */
export const takeDataFolder = (data: string, doing: string, log: Log): { release(): void } =>
  upgraded(lockDataFolder(data, doing, nativeBinding(data)), data, log)

/** Like `takeDataFolder`; undefined if another process has the lock. */
export const tryToTakeDataFolder = (data: string, doing: string, log: Log): { release(): void } | undefined => {
  const lock = tryToLockDataFolder(data, doing, nativeBinding(data))
  return lock && upgraded(lock, data, log)
}

const upgraded = (lock: { release(): void }, data: string, log: Log) => {
  try {
    upgrade(data, log)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

const upgrade = (data: string, log: Log) => {
  const native = nativeBinding(data)
  /** False if the disk is too full to open the file; opening it later reports the error. */
  const looked = (isOlder: () => boolean): boolean => {
    try {
      return withReserve(data, isOlder)
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full') throw error
      return false
    }
  }
  const stores = storedNetworks(data).map(network => storeFile(data, network))
  const older: [file: string, upgrade: () => void][] = [
    ...stores
      .filter(store => unlessDamaged(() => looked(() => isStoreOlder(store, native))))
      .map((store): [string, () => void] => [store, () => unlessDamaged(() => openForWriting(store, native).close())]),
    ...(looked(() => isAccountsOlder(data, native))
      ? [[ACCOUNTS_FILE, () => upgradeAccounts(data, native)] as const]
      : []),
    ...(looked(() => isDeliveriesOlder(data, native))
      ? [[DELIVERIES_FILE, () => upgradeDeliveries(data, native)] as const]
      : []),
  ].map(([file, upgrade]) => [basename(file), upgrade])
  for (const [file, upgrade] of older) {
    log.info('Upgrades a file of an older version', { file })
    withReserve(data, upgrade)
  }
}

/** Skips a damaged store in the upgrade; opening it later reports the damage. */
const unlessDamaged = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch (error) {
    if (!isDamage(error)) throw error
    return undefined
  }
}
