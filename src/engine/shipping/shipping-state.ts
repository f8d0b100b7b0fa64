import { gapsIn, mergeRanges, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'
import { setCursorKey } from '../store-version.ts'
import { type HiddenRow, hiddenOf, type PublishedState } from './shipped-ranges.ts'

/** The numbers of a batch: tokens have one of their own, which is not hidden while the batch is under way. */
export interface BatchNumbers {
  number: number
  tokens: number
}

/** A request of the past may still reach the remote store so much later. */
export const LATE_REQUEST_MS = 600_000

/** What was shipped of a store, and what of it counts. Each verb is called within a transaction. */
export type ShippingState = ReturnType<typeof createShippingState>

export const createShippingState = (db: Db, now: () => number = Date.now) => {
  const meta = createMeta(db)
  const ranges = createShippedRanges(db)
  const hidden = createHidden(db, now)
  const begin = db.prepare('INSERT INTO batch (number, first, last) VALUES (?, ?, ?)')
  const end = db.prepare('DELETE FROM batch WHERE number = ?')
  const find = db.prepare<[number], number>('SELECT number FROM batch WHERE number = ?').pluck()
  const touched = db
    .prepare<[number, number], number>('SELECT number FROM batch WHERE first <= ? AND last >= ?')
    .pluck()
  const underWay = db.prepare<[], number>('SELECT number FROM batch').pluck()
  const clearBatches = db.prepare('DELETE FROM batch')
  const isEmptied = db.prepare('SELECT 1 FROM segment WHERE emptied = 1 AND first <= ? AND last >= ? LIMIT 1')
  const lastEmptied = db.prepare<[], number | null>('SELECT max(last) FROM segment WHERE emptied = 1').pluck()
  const lastChange = db.prepare<[], number | null>('SELECT max(change) FROM token').pluck()

  /** Greatest number that a batch ever got. */
  const batches = () => meta.get('batches') ?? 0
  const top = () => meta.get('shelf_top') ?? -1
  const shippedChange = () => meta.get('shipped_change') ?? 0
  const killAll = (numbers: readonly number[]) => {
    for (const number of numbers) {
      end.run(number)
      hidden.add({ from: number, to: number })
    }
  }
  /** Nothing counts that batches under way wrote of these blocks. */
  const kill = ({ from, to }: Range) => killAll(touched.all(to, from))

  return {
    /** Begins a batch of blocks among these, of which nothing was sent yet; undefined: of tokens alone. */
    begin(blocks: Range | undefined): BatchNumbers {
      const number = batches() + 1
      meta.set('batches', number + 1)
      if (blocks) meta.set('shelf_top', Math.max(top(), blocks.to))
      // Nothing touches one without blocks.
      begin.run(number, blocks?.from ?? 0, blocks?.to ?? -1)
      return { number, tokens: number + 1 }
    },
    /** Whether nothing removed a block of the batch since it began. */
    isUnderWay: (number: number) => find.get(number) !== undefined,
    /** These blocks of a batch were shipped. False where a rollback or pruning touched it: then none of it was. */
    commit({ number }: BatchNumbers, done: Range | undefined, change: number) {
      if (find.get(number) === undefined) return false
      end.run(number)
      meta.set('shipped_change', change)
      if (done) ranges.add(done)
      return true
    },
    kill,
    /** Batches that were under way when the program ended are not continued. */
    abandon: () => killAll(underWay.all()),
    /**
     * The remote store holds batches up to this number: where this store began fewer, it is an older copy. Then what others wrote
     * since is hidden, and what this store still holds is shipped again. Whether it is so.
     */
    meet(greatest: number) {
      const own = batches()
      if (greatest <= own) return false
      meta.set('batches', greatest)
      const emptied = lastEmptied.get() ?? -1
      hidden.add({ from: own + 1, to: greatest })
      hidden.add({ from: 0, to: greatest }, emptied)
      ranges.remove({ from: emptied + 1, to: Number.MAX_SAFE_INTEGER })
      // Rows of tokens that others shipped since are shipped again.
      meta.set('shipped_change', 0)
      return true
    },
    /** Hides all batches up to this number that this store did not begin; with `isUnused` there are none. */
    advance(greatest: number, isUnused = false) {
      const own = batches()
      if (greatest <= own) return
      meta.set('batches', greatest)
      if (!isUnused) hidden.add({ from: own + 1, to: greatest })
    },
    /** Takes over what another process published: this one ships nothing until it calls `meet` or `advance`. */
    adopt({ committed, hidden: theirs, ranges: shipped, cursorKey }: PublishedState) {
      hidden.clear()
      ranges.clear()
      clearBatches.run()
      for (const { batches, above, below } of theirs) hidden.add(batches, above, below)
      for (const range of shipped) ranges.insert(range)
      if (cursorKey !== undefined) setCursorKey(db, cursorKey)
      meta.set('following', 1)
      meta.set('batches', committed)
      meta.set('shelf_top', shipped.at(-1)?.to ?? -1)
    },
    /** Whether another process may ship from now on. */
    follow: (isFollowing: boolean) => meta.set('following', Number(isFollowing)),
    batches,
    rollback(to: number) {
      const above = { from: to + 1, to: Number.MAX_SAFE_INTEGER }
      kill(above)
      if (to >= top()) return
      hidden.hideAbove(to, batches())
      meta.set('shelf_top', to)
      ranges.remove(above)
    },
    /** Blocks up to this one are no longer held. */
    prune(to: number) {
      kill({ from: 0, to })
      if (batches() === 0) return
      hidden.hideUpTo(to, batches())
      ranges.remove({ from: 0, to })
    },
    /** These blocks are to be shipped again, or all tokens. False where some were evicted from the store. */
    lose(blocks: readonly Range[] | undefined) {
      if (!blocks) meta.set('shipped_change', 0)
      else if (blocks.some(({ from, to }) => isEmptied.get(to, from) !== undefined)) return false
      else blocks.forEach(ranges.remove)
      return true
    },
    /** These blocks are no longer held. */
    forget({ from, to }: Range) {
      kill({ from, to })
      hidden.add({ from: 0, to: batches() }, from - 1, to)
      ranges.remove({ from, to })
    },
    ...createRenewals(db),
    sweeps: hidden.sweeps,
    swept: hidden.swept,
    /** Whether tokens changed since they were shipped. */
    hasChangedTokens: () => (lastChange.get() ?? 0) > shippedChange(),
    /** Up to which change of tokens they were shipped. */
    shippedChange,
  }
}

const createMeta = (db: Db) => {
  const get = db.prepare<[string], number>('SELECT value FROM meta WHERE key = ?').pluck()
  const set = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  return { get: (key: string) => get.get(key), set: (key: string, value: number) => void set.run(key, value) }
}

/** Blocks whose documents were all shipped. */
const createShippedRanges = (db: Db) => {
  const near = db.prepare<[number, number], Range>(
    'SELECT first AS "from", last AS "to" FROM shelf WHERE first <= ? + 1 AND last >= ? - 1',
  )
  const remove = db.prepare('DELETE FROM shelf WHERE first = ?')
  const insert = db.prepare('INSERT INTO shelf (first, last) VALUES (?, ?)')
  const clear = db.prepare('DELETE FROM shelf')
  return {
    clear: () => clear.run(),
    insert: ({ from, to }: Range) => insert.run(from, to),
    add(range: Range) {
      const touching = near.all(range.to, range.from)
      for (const { from } of touching) remove.run(from)
      for (const { from, to } of mergeRanges([...touching, range])) insert.run(from, to)
    },
    remove(lost: Range) {
      for (const { from, to } of near.all(lost.to, lost.from)) {
        remove.run(from)
        for (const rest of gapsIn([lost], from, to)) insert.run(rest.from, rest.to)
      }
    },
  }
}

/** Remote documents that count for nothing, and are to be removed. */
const createHidden = (db: Db, now: () => number) => {
  const hide = db.prepare('INSERT INTO hidden (least, greatest, above, below, since) VALUES (?, ?, ?, ?, ?)')
  const forgetAbove = db.prepare('DELETE FROM hidden WHERE below IS NULL AND above >= ? AND greatest <= ?')
  const forgetBelow = db.prepare('DELETE FROM hidden WHERE below <= ? AND greatest <= ?')
  const due = db.prepare<[number], HiddenRow & { n: number }>(
    'SELECT n, least, greatest, above, below FROM hidden WHERE swept = 0 OR since <= ? ORDER BY n',
  )
  const noteSwept = db.prepare('UPDATE hidden SET swept = 1 WHERE n = ?')
  const forget = db.prepare('DELETE FROM hidden WHERE n = ? AND since <= ?')
  const clear = db.prepare('DELETE FROM hidden')
  const add = ({ from, to }: Range, above = -1, below?: number) => void hide.run(from, to, above, below ?? null, now())
  return {
    add,
    clear: () => clear.run(),
    /** Hides blocks above one; what hides fewer of them goes. */
    hideAbove(to: number, batches: number) {
      forgetAbove.run(to, batches)
      add({ from: 0, to: batches }, to)
    },
    hideUpTo(to: number, batches: number) {
      forgetBelow.run(to, batches)
      add({ from: 0, to: batches }, -1, to)
    },
    /** What is to be removed from the remote store by now. */
    sweeps: () => due.all(now() - LATE_REQUEST_MS).map(row => ({ n: row.n, ...hiddenOf(row) })),
    /** What a sweep found is removed, that began at this time. */
    swept({ n }: { n: number }, begun: number) {
      noteSwept.run(n)
      forget.run(n, begun - LATE_REQUEST_MS)
    },
  }
}

/** Remote indices that are to begin anew, since it is not counted on what they held. */
const createRenewals = (db: Db) => {
  const get = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'renew'").pluck()
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('renew', ?)")
  const clear = db.prepare("DELETE FROM meta WHERE key = 'renew'")
  const toRenew = (): string[] => JSON.parse(get.get() ?? '[]')
  const keep = (indices: readonly string[]) =>
    void (indices.length === 0 ? clear.run() : set.run(JSON.stringify(indices)))
  return {
    toRenew,
    renew: (index: string) => keep([...new Set([...toRenew(), index])]),
    renewed: (index: string) => keep(toRenew().filter(one => one !== index)),
  }
}
