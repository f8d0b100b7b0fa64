import { gapsIn, partsIn, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'

/** A run of blocks on the shelf that the store holds otherwise by now. */
export interface ChangedRun extends Range {
  /** What changed later has a greater one. */
  serial: number
}

/**
 * Blocks that scopes change when their documents are in the cluster already: these go on to be seen, and are written anew. The note stands in the table `meta`, so that
 * a restart goes on with them.
 */
export type ChangedBlocks = ReturnType<typeof createChangedBlocks>

type Entry = [from: number, to: number, serial: number]

export const createChangedBlocks = (db: Db) => {
  const get = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'changed'").pluck()
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('changed', ?)")
  const clear = db.prepare("DELETE FROM meta WHERE key = 'changed'")
  const shelved = db.prepare<[number, number], Range>(
    'SELECT first AS "from", last AS "to" FROM shelf WHERE first <= ? AND last >= ? ORDER BY first',
  )
  const list = (): Entry[] => JSON.parse(get.get() ?? '[]')
  const keep = (entries: readonly Entry[]) =>
    void (entries.length === 0 ? clear.run() : set.run(JSON.stringify(entries)))
  const onShelf = ({ from, to }: Range): Range[] => partsIn(shelved.all(to, from), from, to)
  const without = (entries: readonly Entry[], range: Range, upTo: number): Entry[] =>
    entries.flatMap(([from, to, serial]) =>
      serial > upTo
        ? [[from, to, serial]]
        : gapsIn([range], from, to).map((rest): Entry => [rest.from, rest.to, serial]),
    )
  return {
    /** Called in the transaction that changes them. Those that are not on the shelf are shipped anyway. */
    add(range: Range): void {
      const runs = onShelf(range)
      if (runs.length === 0) return
      const entries = list()
      const serial = entries.reduce((greatest, entry) => Math.max(greatest, entry[2]), 0) + 1
      const fresh = runs.map(({ from, to }): Entry => [from, to, serial])
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
