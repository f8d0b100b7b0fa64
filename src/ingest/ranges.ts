import type { Db } from '../sqlite/database.ts'
import type { Range } from './messages.ts'

/** Ranges of blocks: ascending, never touching each other. */

export const heldRanges = (db: Db): Range[] =>
  merged(db.prepare('SELECT first AS "from", last AS "to" FROM segment ORDER BY first').all() as Range[])

/** One list of ranges in which neighbours are one. */
export const merged = (ranges: readonly Range[]): Range[] => {
  const result: Range[] = []
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** What is missing of `from` to `to`. */
export const holesIn = (held: readonly Range[], from: number, to: number): Range[] => {
  const holes: Range[] = []
  let next = from
  for (const range of held) {
    if (range.to < next) continue
    if (range.from > to) break
    if (range.from > next) holes.push({ from: next, to: range.from - 1 })
    next = range.to + 1
  }
  if (next <= to) holes.push({ from: next, to })
  return holes
}

export const holds = (ranges: readonly Range[], block: number): boolean =>
  ranges.some(({ from, to }) => from <= block && block <= to)
