import { readdirSync } from 'node:fs'

/** How many files and connections the operating system lets this process have open; undefined where it does not say. */
export const mostFiles = (): number | undefined => {
  if (!process.report) return undefined
  // Looking up names of addresses would take seconds.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  const most = Number(userLimits?.open_files?.soft)
  return Number.isSafeInteger(most) ? most : undefined
}

/** How many it has open now; undefined where that cannot be seen. */
export const openFiles = (): number | undefined => {
  try {
    return readdirSync('/dev/fd').length
  } catch {
    return undefined
  }
}
