/**
 * What SQLite finds wrong with a file, an empty list where nothing is: how its pages fit together, not whether a value is what was
 * written. `quick_check` takes a millisecond for a MB; `integrity_check` takes six, and compares tables with their indexes, too.
 */
export const findFaults = (db: Pragmas, check: 'quick_check' | 'integrity_check'): string[] => {
  const found = (db.pragma(`${check}(5)`) as Record<string, string>[]).map(row => row[check]!)
  return found.length === 1 && found[0] === 'ok' ? [] : found
}

interface Pragmas {
  pragma(source: string, options?: { simple?: boolean }): unknown
}
