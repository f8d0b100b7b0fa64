import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ACCOUNTS_FILE, checkAccounts } from '../accounts/file.ts'
import type { Config } from '../config/index.ts'
import { checkDeliveries, DELIVERIES_FILE } from '../delivery/ledger/file.ts'
import { verifyContents } from '../engine/verify.ts'
import { ChainsieveError, messageOf } from '../lib/errors.ts'
import type { Bars, Progress } from '../lib/progress.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Run } from '../lib/shutdown.ts'
import { checkPages } from '../sqlite/verify-pages.ts'
import { storesOf } from './stores.ts'

export interface Verified {
  file: string
  faults: string[]
  unchecked: boolean
  /** Why its pages alone were checked: another version wrote it. */
  unread?: string
}

/** Verifies all files of a data folder, or the store of one network. */
export const verifyDataFolder = async (
  config: Config,
  network: string | undefined,
  deep: boolean,
  { shutdown, progress }: Run & Bars,
): Promise<Verified[]> => {
  const verified: Verified[] = []
  for (const [name, file] of storesOf(config.data, network)) {
    const { signal } = shutdown
    signal.throwIfAborted()
    const found = await verifyStore(file, progress(name), signal).catch((error: unknown): Verified => {
      if (!(error instanceof ChainsieveError && error.code === 'store_damaged')) throw error
      return { file, faults: [messageOf(error)], unchecked: false }
    })
    // Contents of damaged pages are not worth reading.
    if (found.faults.length === 0)
      Object.assign(found, await verifyInside(file, deep, progress(`${name}, contents`), signal))
    verified.push(found)
  }
  if (network === undefined) verified.push(...verifySmall(config))
  return verified
}

const verifyStore = async (file: string, progress: Progress, signal: AbortSignal): Promise<Verified> => {
  const steps = checkPages(file)
  for (;;) {
    const { done, value } = steps.next()
    if (done) {
      progress.finish()
      if (!value) return { file, faults: [], unchecked: true }
      const { damaged, total } = value
      return { file, faults: pageFaults(damaged, total), unchecked: false }
    }
    progress.update({ blocks: 0, logs: 0, events: 0, done: value.done, total: value.total })
    await setImmediate()
    signal.throwIfAborted()
  }
}

const verifyInside = async (
  file: string,
  deep: boolean,
  progress: Progress,
  signal: AbortSignal,
): Promise<Pick<Verified, 'faults' | 'unread'>> => {
  try {
    const steps = verifyContents(file, deep, nativeBinding())
    for (;;) {
      const { done, value } = steps.next()
      if (done) return { faults: value }
      progress.update({ blocks: 0, logs: 0, events: 0, done: value * 100, total: 100 })
      await setImmediate()
      signal.throwIfAborted()
    }
  } catch (error) {
    signal.throwIfAborted()
    // A new store without a block holds nothing.
    if (error instanceof ChainsieveError && error.code === 'store_empty') return { faults: [] }
    if (error instanceof ChainsieveError && /^store_(older|newer)$/.test(error.code))
      return { faults: [], unread: messageOf(error) }
    return { faults: [messageOf(error)] }
  } finally {
    progress.finish()
  }
}

const MAX_SHOWN_PAGES = 20

const pageFaults = (pages: readonly number[], total: number): string[] => {
  if (pages.length === 0) return []
  const more = pages.length > MAX_SHOWN_PAGES ? ` and ${pages.length - MAX_SHOWN_PAGES} more` : ''
  return [
    `${pages.length} of ${total / 4096} pages do not match their checksums: ${pages.slice(0, MAX_SHOWN_PAGES).join(', ')}${more}`,
  ]
}

/** SQLite itself checks the small files. */
const verifySmall = ({ data }: Config): Verified[] => {
  const native = nativeBinding(data)
  const checks: [string, typeof checkAccounts][] = [
    [ACCOUNTS_FILE, checkAccounts],
    [DELIVERIES_FILE, checkDeliveries],
  ]
  return checks
    .map(([name, check]) => ({ file: join(data, name), check }))
    .filter(({ file }) => existsSync(file))
    .map(({ file, check }) => ({ file, faults: faultsOrError(() => check(data, native)), unchecked: false }))
}

const faultsOrError = (check: () => string[]): string[] => {
  try {
    return check()
  } catch (error) {
    return [messageOf(error)]
  }
}
