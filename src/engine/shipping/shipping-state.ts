import { gapsIn, merged, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'
import { setCursorKey } from '../cursor-key.ts'
import type { Hidden, SharedShelf } from './shipped-ranges.ts'

/** The numbers of a batch: tokens have one of their own, which is not hidden while the batch is under way. */
export interface BatchNumbers {
  number: number
  tokens: number
}

/** Documents of the cluster that are to be removed. */
export interface Sweep extends Hidden {
  n: number
}

/** Every verb is called within a transaction. */
export interface ShelfWriter {
  /** A batch of blocks among these, of which nothing was sent yet; undefined: of tokens alone. */
  begin(blocks: Range | undefined): BatchNumbers
  /** Whether nothing removed a block of the batch since it began. */
  isUnderWay(number: number): boolean
  /** These blocks of a batch are there. False where a rollback or pruning touched it: then nothing of it is. */
  commit(batch: BatchNumbers, done: Range | undefined, change: number): boolean
  /** Nothing that batches under way wrote of these blocks counts. */
  kill(blocks: Range): void
  /** Batches that were under way when the program ended are not continued. */
  abandon(): void
  /**
   * The cluster holds batches up to this number: where it is greater than any of this store, that is an older copy. What others wrote since is hidden, and what
   * this store still holds itself is shipped again. Whether it was so.
   */
  meet(greatest: number): boolean
  /** All batches up to this number count for nothing but those that this store knows of. `isUnused`: there are none. */
  advance(greatest: number, isUnused?: boolean): void
  /** Takes over what another process tells: this one ships nothing meanwhile, until it calls `meet` or `advance`. */
  adopt(told: SharedShelf): void
  /** Whether another process may ship from now on. */
  follow(isFollowing: boolean): void
  /** Greatest number that a batch ever got. */
  batches(): number
  rollback(to: number): void
  /** Blocks up to this one are no longer held. */
  prune(to: number): void
  /** These blocks are to be shipped again, or all tokens. False where the store no longer holds documents of some. */
  lose(blocks: readonly Range[] | undefined): boolean
  /** These blocks are no longer held. */
  forget(blocks: Range): void
  /** It is not counted on what this index held: it begins anew. */
  renew(index: string): void
  /** Indices that are to begin anew. */
  toRenew(): string[]
  renewed(index: string): void
  /** What is to be removed from the cluster by now. */
  sweeps(): Sweep[]
  /** What a sweep found is removed, that began at this time. */
  swept(sweep: Sweep, begun: number): void
  /** Whether tokens changed since they were shipped. */
  hasChangedTokens(): boolean
  /** Up to which change of tokens they were shipped. */
  shippedChange(): number
}

/** A request of the past may still reach the cluster so much later. */
export const LATE_MS = 600_000

export const createShelfWriter = (db: Db, now: () => number = Date.now): ShelfWriter => {
  const get = db.prepare<[string], number>('SELECT value FROM meta WHERE key = ?').pluck()
  const set = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  const begin = db.prepare('INSERT INTO batch (number, first, last) VALUES (?, ?, ?)')
  const end = db.prepare('DELETE FROM batch WHERE number = ?')
  const find = db.prepare<[number], number>('SELECT number FROM batch WHERE number = ?').pluck()
  const touched = db
    .prepare<[number, number], number>('SELECT number FROM batch WHERE first <= ? AND last >= ?')
    .pluck()
  const underWay = db.prepare<[], number>('SELECT number FROM batch').pluck()
  const near = db.prepare<[number, number], Range>(
    'SELECT first AS "from", last AS "to" FROM shelf WHERE first <= ? + 1 AND last >= ? - 1',
  )
  const remove = db.prepare('DELETE FROM shelf WHERE first = ?')
  const insert = db.prepare('INSERT INTO shelf (first, last) VALUES (?, ?)')
  const hide = db.prepare('INSERT INTO hidden (least, greatest, above, below, since) VALUES (?, ?, ?, ?, ?)')
  const forgetCovered = db.prepare('DELETE FROM hidden WHERE below IS NULL AND above >= ? AND greatest <= ?')
  const forgetBelow = db.prepare('DELETE FROM hidden WHERE below <= ? AND greatest <= ?')
  const due = db.prepare<[number], { n: number; least: number; greatest: number; above: number; below: number | null }>(
    'SELECT n, least, greatest, above, below FROM hidden WHERE swept = 0 OR since <= ? ORDER BY n',
  )
  const noteSwept = db.prepare('UPDATE hidden SET swept = 1 WHERE n = ?')
  const forget = db.prepare('DELETE FROM hidden WHERE n = ? AND since <= ?')
  const isEmptied = db.prepare('SELECT 1 FROM segment WHERE emptied = 1 AND first <= ? AND last >= ? LIMIT 1')
  const lastEmptied = db.prepare<[], number | null>('SELECT max(last) FROM segment WHERE emptied = 1').pluck()

  const forgetAll = db.prepare('DELETE FROM hidden')
  const clearShelf = db.prepare('DELETE FROM shelf')
  const clearBatches = db.prepare('DELETE FROM batch')
  const lastChange = db.prepare<[], number | null>('SELECT max(change) FROM token').pluck()

  const getRenewals = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'renew'").pluck()
  const forgetRenewals = db.prepare("DELETE FROM meta WHERE key = 'renew'")
  const toRenew = (): string[] => JSON.parse(getRenewals.get() ?? '[]')
  const keepRenewals = (indices: readonly string[]) =>
    void (indices.length === 0 ? forgetRenewals.run() : set.run('renew', JSON.stringify(indices)))

  const batches = () => get.get('batches') ?? 0
  const top = () => get.get('shelf_top') ?? -1
  const lose = ({ from, to }: Range) => {
    for (const range of near.all(to, from)) {
      remove.run(range.from)
      for (const rest of gapsIn([{ from, to }], range.from, range.to)) insert.run(rest.from, rest.to)
    }
  }
  const killAll = (numbers: readonly number[]) => {
    for (const number of numbers) {
      end.run(number)
      hide.run(number, number, -1, null, now())
    }
  }
  /** Nothing that batches of these blocks wrote counts. */
  const kill = ({ from, to }: Range) => killAll(touched.all(to, from))

  return {
    begin(blocks) {
      const number = batches() + 1
      set.run('batches', number + 1)
      if (blocks) set.run('shelf_top', Math.max(top(), blocks.to))
      // Nothing touches one without blocks.
      begin.run(number, blocks?.from ?? 0, blocks?.to ?? -1)
      return { number, tokens: number + 1 }
    },
    isUnderWay: number => find.get(number) !== undefined,
    commit({ number }, done, change) {
      if (find.get(number) === undefined) return false
      end.run(number)
      set.run('shipped_change', change)
      if (!done) return true
      const touching = near.all(done.to, done.from)
      for (const range of touching) remove.run(range.from)
      for (const { from, to } of merged([...touching, done])) insert.run(from, to)
      return true
    },
    kill,
    abandon: () => killAll(underWay.all()),
    meet(greatest) {
      const own = batches()
      if (greatest <= own) return false
      set.run('batches', greatest)
      const emptied = lastEmptied.get() ?? -1
      hide.run(own + 1, greatest, -1, null, now())
      hide.run(0, greatest, emptied, null, now())
      lose({ from: emptied + 1, to: Number.MAX_SAFE_INTEGER })
      // Rows of tokens that others shipped since are shipped again.
      set.run('shipped_change', 0)
      return true
    },
    advance(greatest, isUnused = false) {
      const own = batches()
      if (greatest <= own) return
      set.run('batches', greatest)
      if (!isUnused) hide.run(own + 1, greatest, -1, null, now())
    },
    adopt({ committed, hidden, ranges, cursorKey }) {
      forgetAll.run()
      clearShelf.run()
      clearBatches.run()
      for (const { batches, above, below } of hidden) hide.run(batches.from, batches.to, above, below ?? null, now())
      for (const { from, to } of ranges) insert.run(from, to)
      if (cursorKey !== undefined) setCursorKey(db, cursorKey)
      set.run('following', 1)
      set.run('batches', committed)
      set.run('shelf_top', ranges.at(-1)?.to ?? -1)
    },
    follow: isFollowing => void set.run('following', Number(isFollowing)),
    batches,
    rollback(to) {
      kill({ from: to + 1, to: Number.MAX_SAFE_INTEGER })
      if (to >= top()) return
      const count = batches()
      forgetCovered.run(to, count)
      hide.run(0, count, to, null, now())
      set.run('shelf_top', to)
      lose({ from: to + 1, to: Number.MAX_SAFE_INTEGER })
    },
    prune(to) {
      kill({ from: 0, to })
      const count = batches()
      if (count === 0) return
      forgetBelow.run(to, count)
      hide.run(0, count, -1, to, now())
      lose({ from: 0, to })
    },
    lose(blocks) {
      if (!blocks) set.run('shipped_change', 0)
      else if (blocks.some(({ from, to }) => isEmptied.get(to, from) !== undefined)) return false
      else blocks.forEach(lose)
      return true
    },
    forget({ from, to }) {
      kill({ from, to })
      const count = batches()
      hide.run(0, count, from - 1, to, now())
      lose({ from, to })
    },
    renew: index => keepRenewals([...new Set([...toRenew(), index])]),
    toRenew,
    renewed: index => keepRenewals(toRenew().filter(one => one !== index)),
    sweeps: () =>
      due.all(now() - LATE_MS).map(({ n, least, greatest, above, below }) => ({
        ...{ n, batches: { from: least, to: greatest }, above },
        ...(below !== null && { below }),
      })),
    swept({ n }, begun) {
      noteSwept.run(n)
      forget.run(n, begun - LATE_MS)
    },
    hasChangedTokens: () => (lastChange.get() ?? 0) > (get.get('shipped_change') ?? 0),
    shippedChange: () => get.get('shipped_change') ?? 0,
  }
}
