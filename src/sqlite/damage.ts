import { ChainsieveError, stop } from '../lib/errors.ts'

export const DAMAGE_REMEDY =
  'Check the disk, move away the file and those whose names begin like it, and restore a backup or index again.'

/** The error of a corrupt store: it is not what was written. */
export const damagedStore = (path: string, pages: readonly number[], cause?: unknown) => {
  const more = pages.length > 5 ? ` and ${pages.length - 5} more` : ''
  const where = pages.length === 0 ? '' : ` (page ${pages.slice(0, 5).join(', ')}${more})`
  return stop('store_damaged', `${path} is damaged${where}. ${DAMAGE_REMEDY}`, cause)
}

/** Error for damage that is not limited to pages. */
export const damagedBecause = (path: string, why: string, remedy: string = DAMAGE_REMEDY) =>
  stop('store_damaged', `${path} is damaged: ${why}. ${remedy}`)

/** Error for a file removed or replaced while open: writes to the open one are lost at exit. */
export const exchanged = (path: string, isThere: boolean) =>
  damagedBecause(
    path,
    `it was ${isThere ? 'replaced' : 'removed'} while the program had it open`,
    'Nothing more is stored. Restart; if the file is refused then, restore a backup or index again.',
  )

/** `store_damaged` for a stored value that fails its checksum while it is read. */
export const damagedValue = (what: string, cause?: unknown) =>
  stop(
    'store_damaged',
    `the store is damaged: ${what} does not match its checksum. chainsieve verify names the file. ${DAMAGE_REMEDY}`,
    cause,
  )

export const isDamage = (error: unknown): boolean => error instanceof ChainsieveError && error.code === 'store_damaged'

/** An error of SQLite's that comes of a damaged store, as one that says so; any other as it is. */
export const asDamage = (error: unknown, path: string): unknown =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown } | null)?.code))
    ? damagedStore(path, [], error)
    : error

/** Requires a value that every intact store has. */
export const requirePresent = <T>(value: T | undefined | null, what: string): T => {
  if (value === undefined || value === null) throw damagedValue(what)
  return value
}

/**
 * SQLite's structural faults of a file, if any; it does not verify values. `quick_check` takes 1 ms
 * per MB; `integrity_check` takes 6 ms and also compares tables with their indexes.
 */
export const findFaults = (db: Pragmas, check: 'quick_check' | 'integrity_check'): string[] => {
  const found = (db.pragma(`${check}(5)`) as Record<string, string>[]).map(row => row[check]!)
  return found.length === 1 && found[0] === 'ok' ? [] : found
}
interface Pragmas {
  pragma(source: string, options?: { simple?: boolean }): unknown
}
