import { compactAccounts } from '../accounts/file.ts'
import type { Compacted, Run } from '../cli/index.ts'
import type { Config } from '../config/index.ts'
import { compactDeliveries } from '../delivery/file.ts'
import { openForWriting } from '../engine/open.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { compactStore } from '../sqlite/compact.ts'
import { sizeOf } from '../sqlite/pages.ts'
import { storesOf } from './stores.ts'
import { takeDataFolder } from './upgrade.ts'

export const compact = async (
  { data }: Config,
  network: string | undefined,
  { shutdown, log }: Run,
): Promise<Compacted[]> => {
  const native = nativeBinding(data)
  const stores = storesOf(data, network)
  const lock = takeDataFolder(data, 'compact', log)
  shutdown.add('lock', lock.release)
  const done: Compacted[] = []
  for (const [, file] of stores) {
    shutdown.signal.throwIfAborted()
    const before = sizeOf(file)
    // Opening and closing the file copies its log into it.
    openForWriting(file, native).close()
    compactStore(file, native)
    done.push({ file, before, after: sizeOf(file) })
  }
  if (network !== undefined) return done
  for (const compactFile of [compactAccounts, compactDeliveries]) done.push(...compactFile(data, native))
  return done
}
