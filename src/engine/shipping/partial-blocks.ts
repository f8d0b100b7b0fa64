import { gapsIn, mergeRanges, partsIn, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'

/** Blocks stored only in part, for scopes. Their documents are never offloaded. */
export type PartialBlocks = ReturnType<typeof createPartialBlocks>

export const createPartialBlocks = (db: Db) => {
  const segments = db.prepare<[], Range>(
    'SELECT first AS "from", last AS "to" FROM segment WHERE scoped = 1 ORDER BY first',
  )
  const next = db.prepare<[number], number | null>('SELECT min(number) FROM block WHERE number >= ?').pluck()
  const count = db.prepare<[number, number], number>('SELECT count(*) FROM block WHERE number BETWEEN ? AND ?').pluck()
  return {
    /** Ascending ranges of scoped segments; blocks within them may be absent. */
    ranges: () => mergeRanges(segments.all()),
    /** The lowest stored block from this one on; infinite where there is none. */
    next: (number: number) => next.get(number) ?? Number.POSITIVE_INFINITY,
    /** Number of stored blocks in a range. */
    count: ({ from, to }: Range) => count.get(from, to)!,
  }
}

/** A run of shipped blocks that the store has changed since. */
interface ChangedRun extends Range {
  /** Grows with each change. */
  serial: number
}
type ChangedEntry = [from: number, to: number, serial: number]
/** Shipped blocks that scopes change: they stay visible and are shipped again. Stored in `meta`. */
export const createChangedBlocks = (db: Db) => {
  const get = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'changed'").pluck()
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('changed', ?)")
  const clear = db.prepare("DELETE FROM meta WHERE key = 'changed'")
  const shelved = db.prepare<[number, number], Range>(
    'SELECT first AS "from", last AS "to" FROM shelf WHERE first <= ? AND last >= ? ORDER BY first',
  )
  const list = (): ChangedEntry[] => JSON.parse(get.get() ?? '[]')
  const keep = (entries: readonly ChangedEntry[]) =>
    void (entries.length === 0 ? clear.run() : set.run(JSON.stringify(entries)))
  const onShelf = ({ from, to }: Range): Range[] => partsIn(shelved.all(to, from), from, to)
  const without = (entries: readonly ChangedEntry[], range: Range, upTo: number): ChangedEntry[] =>
    entries.flatMap(([from, to, serial]) =>
      serial > upTo
        ? [[from, to, serial]]
        : gapsIn([range], from, to).map((rest): ChangedEntry => [rest.from, rest.to, serial]),
    )
  return {
    /** Call in the transaction that changes the blocks. Unshipped ones are shipped anyway. */
    add(range: Range): void {
      const runs = onShelf(range)
      if (runs.length === 0) return
      const entries = list()
      const serial = entries.reduce((greatest, entry) => Math.max(greatest, entry[2]), 0) + 1
      const fresh = runs.map(({ from, to }): ChangedEntry => [from, to, serial])
      keep([...runs.reduce((rest, run) => without(rest, run, serial), entries), ...fresh])
    },
    /** The first run that is on the shelf. */
    next(): ChangedRun | undefined {
      for (const [from, to, serial] of list()) {
        const [run] = onShelf({ from, to })
        if (run) return { ...run, serial }
      }
      return undefined
    },
    /** Marks blocks as shipped, unless changed since `serial`. Call within a transaction. */
    done: ({ serial }: ChangedRun, blocks: Range): void => keep(without(list(), blocks, serial)),
  }
}
