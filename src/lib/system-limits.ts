import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** Limit of open files and connections; undefined if unknown. */
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

/** Open files and connections now; undefined if unknown. */
export const countOpenFiles = (): number | undefined => {
  try {
    return readdirSync('/dev/fd').length
  } catch {
    return undefined
  }
}

/** Memory of the machine or of its container, in bytes. */
export const grantedMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
const SMALL_MEMORY = 512 * 1024 ** 2
/** Whether caches and concurrency must be small; 256 MB are enough then. */
export const isMemorySmall = (): boolean => grantedMemory() < SMALL_MEMORY
