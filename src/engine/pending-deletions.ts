import { gapsIn, type Range } from '../lib/ranges.ts'
import type { Db } from '../sqlite/database.ts'

/** Garbage collection: block ranges to delete in small steps, which resume after a restart. */
export type PendingDeletions = ReturnType<typeof createPendingDeletions>

/** Time that a step may take: no block of the head waits longer. */
const STEP_MS = 4

/** `key` names the note in the table `meta`. Every verb is called within a transaction. */
export const createPendingDeletions = (db: Db, key: string, remove: (block: number) => void) => {
  const get = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck()
  const set = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  const clear = db.prepare('DELETE FROM meta WHERE key = ?')
  const next = db
    .prepare<[number, number], number>('SELECT number FROM block WHERE number BETWEEN ? AND ? ORDER BY number LIMIT 1')
    .pluck()
  const list = (): [first: number, last: number][] => JSON.parse(get.get(key) ?? '[]')
  const keep = (runs: readonly (readonly [number, number])[]) => {
    if (runs.length === 0) clear.run(key)
    else set.run(key, JSON.stringify(runs))
  }
  const forget = (range: Range) => {
    const runs = list()
    if (!runs.some(([from, to]) => from <= range.to && to >= range.from)) return
    keep(runs.flatMap(([from, to]) => gapsIn([range], from, to).map(rest => [rest.from, rest.to] as const)))
  }
  return {
    /** Behind all others. */
    add({ from, to }: Range): void {
      const runs = list()
      const last = runs.at(-1)
      if (last?.[1] === from - 1) last[1] = to
      else runs.push([from, to])
      keep(runs)
    },
    /** Removes some; whether there may be more. */
    step(): boolean {
      const runs = list()
      const [run] = runs
      if (!run) return false
      const end = performance.now() + STEP_MS
      do {
        const number = next.get(run[0], run[1])
        if (number === undefined) {
          runs.shift()
          break
        }
        remove(number)
        run[0] = number + 1
      } while (performance.now() < end)
      keep(runs)
      return true
    },
    /** Removes what is left of these blocks at once. */
    finish(range: Range): void {
      for (const [from, to] of list())
        for (let number = Math.max(from, range.from); number <= Math.min(to, range.to); number++) remove(number)
      forget(range)
    },
    /** These blocks are no longer among them. */
    forget,
  }
}
