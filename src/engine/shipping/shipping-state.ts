import { gapsIn, mergeRanges, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'
import { setCursorKey } from '../store-version.ts'
import { type HiddenRow, hiddenOf, type PublishedState } from './shipped-ranges.ts'

/** Numbers of a batch. Tokens have their own, which is not hidden while the batch is under way. */
export interface BatchNumbers {
  number: number
  tokens: number
}

interface BatchUnderWay {
  number: number
  first: number
  last: number
}

/** Milliseconds after which a request can no longer reach the remote store. */
export const LATE_REQUEST_MS = 600_000

/** Shipped documents and their validity. Call each method within a transaction. */
export type ShippingState = ReturnType<typeof createShippingState>

export const createShippingState = (db: Db, now: () => number = Date.now) => {
  const meta = createMeta(db)
  const ranges = createShippedRanges(db)
  const hidden = createHidden(db, now)
  const begin = db.prepare('INSERT INTO batch (number, first, last) VALUES (?, ?, ?)')
  const end = db.prepare('DELETE FROM batch WHERE number = ?')
  const find = db.prepare<[number], number>('SELECT number FROM batch WHERE number = ?').pluck()
  const touched = db.prepare<[number, number], BatchUnderWay>(
    'SELECT number, first, last FROM batch WHERE first <= ? AND last >= ?',
  )
  const underWay = db.prepare<[], BatchUnderWay>('SELECT number, first, last FROM batch')
  const clearBatches = db.prepare('DELETE FROM batch')
  const isEmptied = db.prepare('SELECT 1 FROM segment WHERE emptied = 1 AND first <= ? AND last >= ? LIMIT 1')
  const lastEmptied = db.prepare<[], number | null>('SELECT max(last) FROM segment WHERE emptied = 1').pluck()
  const lastChange = db.prepare<[], number | null>('SELECT max(change) FROM token').pluck()

  /** Greatest batch number so far. */
  const batches = () => meta.get('batches') ?? 0
  const top = () => meta.get('shelf_top') ?? -1
  const shippedChange = () => meta.get('shipped_change') ?? 0
  /** With tokens of their blocks, which have other numbers: a batch sends those of the one before it, too. */
  const killAll = (some: readonly BatchUnderWay[]) => {
    for (const { number } of some) end.run(number)
    const left = mergeRanges(underWay.all().map(({ first, last }) => ({ from: first, to: last })))
    for (const { number, first, last } of some) {
      if (last < first) continue
      hidden.add({ from: number, to: number + 1 }, first - 1, last)
      if (batches() === number + 1) continue
      for (const { from, to } of gapsIn(left, first, last))
        hidden.add({ from: number + 2, to: batches() }, from - 1, to)
    }
  }
  /** Invalidates what batches under way wrote of these blocks. */
  const kill = ({ from, to }: Range) => killAll(touched.all(to, from))

  return {
    /** Begins a batch of unshipped blocks within the range; undefined: of tokens only. */
    begin(blocks: Range | undefined): BatchNumbers {
      const number = batches() + 1
      meta.set('batches', number + 1)
      if (blocks) meta.set('shelf_top', Math.max(top(), blocks.to))
      // A range that no block touches.
      begin.run(number, blocks?.from ?? 0, blocks?.to ?? -1)
      return { number, tokens: number + 1 }
    },
    /** Whether no block of the batch was removed since it began. */
    isUnderWay: (number: number) => find.get(number) !== undefined,
    /** Marks a batch's blocks as shipped. False if a rollback or pruning invalidated the batch. */
    commit({ number }: BatchNumbers, done: Range | undefined, change: number) {
      if (find.get(number) === undefined) return false
      end.run(number)
      meta.set('shipped_change', change)
      if (done) ranges.add(done)
      return true
    },
    kill,
    /** Batches under way when the program ended are not continued. */
    abandon: () => killAll(underWay.all()),
    /**
     * Compares with the greatest batch in the remote store. If this store has fewer, it is an older
     * copy: hides what others wrote, ships its own blocks again and returns true.
     */
    meet(greatest: number) {
      const own = batches()
      if (greatest <= own) return false
      meta.set('batches', greatest)
      const emptied = lastEmptied.get() ?? -1
      hidden.add({ from: own + 1, to: greatest })
      hidden.add({ from: 0, to: greatest }, emptied)
      ranges.remove({ from: emptied + 1, to: Number.MAX_SAFE_INTEGER })
      // Token rows that others shipped since are shipped again.
      meta.set('shipped_change', 0)
      return true
    },
    /** Hides batches up to this number that are not this store's; `isUnused`: there are none. */
    advance(greatest: number, isUnused = false) {
      const own = batches()
      if (greatest <= own) return
      meta.set('batches', greatest)
      if (!isUnused) hidden.add({ from: own + 1, to: greatest })
    },
    /** Adopts the state of another process; ships nothing until `meet` or `advance`. */
    adopt({ committed, hidden: theirs, ranges: shipped, cursorKey }: PublishedState) {
      hidden.clear()
      ranges.clear()
      clearBatches.run()
      for (const { batches, above, below } of theirs) hidden.add(batches, above, below)
      for (const range of shipped) ranges.insert(range)
      if (cursorKey !== undefined) setCursorKey(db, cursorKey)
      meta.set('following', 1)
      meta.set('batches', committed)
      // It may have been sending blocks above those that it shipped.
      meta.set('shelf_top', Number.MAX_SAFE_INTEGER)
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
    /** Blocks up to this one are removed. */
    prune(to: number) {
      kill({ from: 0, to })
      if (batches() === 0) return
      hidden.hideUpTo(to, batches())
      ranges.remove({ from: 0, to })
    },
    /** Ships blocks again, or all tokens. False if some of the blocks were offloaded. */
    lose(blocks: readonly Range[] | undefined) {
      if (!blocks) meta.set('shipped_change', 0)
      else if (blocks.some(({ from, to }) => isEmptied.get(to, from) !== undefined)) return false
      else blocks.forEach(ranges.remove)
      return true
    },
    /** These blocks are removed. */
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
    /** Last token change that was shipped. */
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

/** Remote documents that are invalid and must be removed. */
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
    /** Hides blocks above `to`; replaces entries that hide fewer of them. */
    hideAbove(to: number, batches: number) {
      forgetAbove.run(to, batches)
      add({ from: 0, to: batches }, to)
    },
    hideUpTo(to: number, batches: number) {
      forgetBelow.run(to, batches)
      add({ from: 0, to: batches }, -1, to)
    },
    /** Documents due for removal from the remote store. */
    sweeps: () => due.all(now() - LATE_REQUEST_MS).map(row => ({ n: row.n, ...hiddenOf(row) })),
    /** Marks documents as removed by a sweep that began at `begun`. */
    swept({ n }: { n: number }, begun: number) {
      noteSwept.run(n)
      forget.run(n, begun - LATE_REQUEST_MS)
    },
  }
}

/** Remote indices to create again, since their content is unreliable. */
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
