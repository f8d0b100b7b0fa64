/**
 * What SQLite finds wrong with a file, an empty list where nothing is: how its pages fit together, not whether a value is what was
 * written. `quick_check` takes a millisecond for a MB; `integrity_check` takes six, and compares tables with their indexes, too.
 */
export const findFaults = (db: Pragmas, check: 'quick_check' | 'integrity_check'): string[] => {
  const found = (db.pragma(`${check}(5)`) as Record<string, string>[]).map(row => row[check]!)
  return found.length === 1 && found[0] === 'ok' ? [] : found
}

/** `quick_check` where it takes no longer than a start may. */
export const findFaultsAtStart = (db: Pragmas): string[] => {
  const [pages, size] = [db.pragma('page_count', ONE) as number, db.pragma('page_size', ONE) as number]
  return pages * size > MAX_AT_START ? [] : findFaults(db, 'quick_check')
}

const MAX_AT_START = 64 * 2 ** 20
const ONE = { simple: true }

interface Pragmas {
  pragma(source: string, options?: { simple?: boolean }): unknown
}
