import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** How many files and connections the operating system lets this process have open; undefined where it does not say. */
export const readOpenFileLimit = (): number | undefined => {
  const most = Number(mostByLinux() ?? mostByReport())
  return Number.isSafeInteger(most) ? most : undefined
}

/** A report takes ten milliseconds of the start; Linux says the same in a line. */
const mostByLinux = (): string | undefined => {
  try {
    return /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

const mostByReport = (): unknown => {
  if (!process.report) return undefined
  // Looking up names of addresses would take seconds.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  return userLimits?.open_files?.soft
}

/** How many it has open now; undefined where that cannot be seen. */
export const countOpenFiles = (): number | undefined => {
  try {
    return readdirSync('/dev/fd').length
  } catch {
    return undefined
  }
}

/** Bytes that this process may use: those of the machine, or of its container. */
export const grantedMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
const SMALL_MEMORY = 512 * 1024 ** 2
/** Whether caches and work in flight have to be small; then 256 MB are enough. */
export const isMemorySmall = (): boolean => grantedMemory() < SMALL_MEMORY
