import { gapsIn, mergeRanges, partsIn, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'

/** Blocks of which a store holds what scopes want. Their documents are never evicted. */
export type PartialBlocks = ReturnType<typeof createPartialBlocks>

export const createPartialBlocks = (db: Db) => {
  const segments = db.prepare<[], Range>(
    'SELECT first AS "from", last AS "to" FROM segment WHERE scoped = 1 ORDER BY first',
  )
  const next = db.prepare<[number], number | null>('SELECT min(number) FROM block WHERE number >= ?').pluck()
  const count = db.prepare<[number, number], number>('SELECT count(*) FROM block WHERE number BETWEEN ? AND ?').pluck()
  return {
    /** Runs from the first one to the last one of a segment, ascending; between them blocks may hold nothing that is wanted. */
    ranges: () => mergeRanges(segments.all()),
    /** The lowest stored block from this one on; infinite where there is none. */
    next: (number: number) => next.get(number) ?? Number.POSITIVE_INFINITY,
    /** How many blocks of a run are stored. */
    count: ({ from, to }: Range) => count.get(from, to)!,
  }
}

/** A run of blocks on the shelf that the store holds otherwise by now. */
interface ChangedRun extends Range {
  /** What changed later has a greater one. */
  serial: number
}
type ChangedEntry = [from: number, to: number, serial: number]
/**
 * Shipped blocks that scopes change: they stay visible and are written again. The note in the table `meta` survives a
 * restart.
 */
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
    /** Called in the transaction that changes them. Those that are not on the shelf are shipped anyway. */
    add(range: Range): void {
      const runs = onShelf(range)
      if (runs.length === 0) return
      const entries = list()
      const serial = entries.reduce((greatest, entry) => Math.max(greatest, entry[2]), 0) + 1
      const fresh = runs.map(({ from, to }): ChangedEntry => [from, to, serial])
      keep([...runs.reduce((rest, run) => without(rest, run, serial), entries), ...fresh])
    },
    /** The first run of those that are on the shelf. */
    next(): ChangedRun | undefined {
      for (const [from, to, serial] of list()) {
        const [run] = onShelf({ from, to })
        if (run) return { ...run, serial }
      }
      return undefined
    },
    /** These blocks of a run are there as the store had them when it was asked for. Within a transaction. */
    done: ({ serial }: ChangedRun, blocks: Range): void => keep(without(list(), blocks, serial)),
  }
}
