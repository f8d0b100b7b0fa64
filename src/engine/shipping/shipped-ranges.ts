import { mergeRanges, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'
import { readCursorKey } from '../store-version.ts'

/**
 * Documents of a network that were shipped to a remote store; the local one is the journal of those
 * still to ship. `shelf`: runs of blocks whose documents were all shipped. `batch`: batches under
 * way, each a run of blocks. `hidden`: invalid remote documents of batches `least` to `greatest`,
 * of blocks above `above` and, if set, up to `below`; `since`: epoch milliseconds; `swept`: whether
 * they were removed once.
 *
 * Table `meta`: `batches`: greatest batch number; `shelf_top`: highest block with documents sent;
 * `shipped_change`: last token change shipped; `following`: whether another process may ship;
 * `in_cluster`: see document-location.ts.
 */
const SHIPPING_TABLES = [
  'CREATE TABLE shelf (first INTEGER PRIMARY KEY, last INT NOT NULL)',
  'CREATE TABLE batch (number INTEGER PRIMARY KEY, first INT NOT NULL, last INT NOT NULL)',
  `CREATE TABLE hidden (n INTEGER PRIMARY KEY, least INT NOT NULL, greatest INT NOT NULL, above INT NOT NULL, below INT, since INT NOT NULL,
     swept INT NOT NULL DEFAULT 0)`,
]
export const SHIPPING_SCHEMA = [...SHIPPING_TABLES, 'CREATE INDEX segment_journal ON segment (first) WHERE emptied = 0']

/** From version 12: the store holds the documents of all segments. */
export const SHIPPING_MIGRATION = ['ALTER TABLE segment ADD COLUMN emptied INT NOT NULL DEFAULT 0', ...SHIPPING_SCHEMA]

/** Remote documents that no search may show: left by a write under way, a crash or a rollback. */
export interface Hidden {
  /** Least and greatest number of the batches that wrote them. */
  batches: Range
  /** Only those of blocks above this one; -1: all. */
  above: number
  /** Only those of blocks up to this one. */
  below?: number
  /** Tokens stay visible, since each has one document that is overwritten. */
  butTokens?: true
}

export interface HiddenRow {
  least: number
  greatest: number
  above: number
  below: number | null
}

export const hiddenOf = ({ least, greatest, above, below }: HiddenRow): Hidden => ({
  ...{ batches: { from: least, to: greatest }, above },
  ...(below !== null && { below }),
})

/** Documents of a network that a search may see at a moment. */
export interface Visible {
  hidden: readonly Hidden[]
  /** Blocks whose documents were all shipped, ascending, merged. */
  ranges: readonly Range[]
}

/** A block reference for other processes: number, hash and time in epoch seconds. */
export type KnownBlock = readonly [number: number, hash: string, time: number]

/** State that the shipping process publishes. */
export interface PublishedState {
  /** Greatest batch number so far. */
  committed: number
  hidden: readonly Hidden[]
  ranges: readonly Range[]
  /** Some of the shipped blocks, newest first, to detect reorganisations. */
  blocks: readonly KnownBlock[]
  /** Whether some blocks are stored only in part, for scopes. */
  isPartial?: boolean | undefined
  /** With scopes: blocks that are stored completely. */
  whole?: readonly Range[] | undefined
  /** Coverage of scopes, as in status and answers. */
  coverage?: readonly unknown[]
  /** Key that signs cursor ids; absent from older versions. */
  cursorKey?: string | undefined
}

/** Hides later batches: a search takes several requests, and processes learn of batches late. */
export const laterThan = (batch: number): Hidden => ({
  batches: { from: batch + 1, to: Number.MAX_SAFE_INTEGER },
  ...{ above: -1, butTokens: true },
})

export const createShippedReader = (db: Db) => {
  const hidden = db.prepare<[], HiddenRow>(
    'SELECT least, greatest, above, below FROM hidden UNION ALL SELECT number, number, -1, NULL FROM batch',
  )
  const ranges = db.prepare<[], Range>('SELECT first AS "from", last AS "to" FROM shelf ORDER BY first')
  const known = db.transaction(
    (): Visible => ({
      hidden: hidden.all().map(hiddenOf),
      ranges: ranges.all(),
    }),
  )
  const batches = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'batches'").pluck()
  const block = db.prepare<[number], { hash: Buffer; time: number }>('SELECT hash, time FROM block WHERE number = ?')
  const partial = db.prepare('SELECT 1 FROM segment WHERE scoped = 1 LIMIT 1')
  const looked = db.prepare('SELECT 1 FROM coverage LIMIT 1')
  const whole = db.prepare<[], Range>(
    'SELECT first AS "from", last AS "to" FROM segment WHERE scoped = 0 ORDER BY first',
  )
  const visible = db.transaction((): Visible => {
    const { hidden, ranges } = known()
    return { hidden: [...hidden, laterThan(batches.get() ?? 0)], ranges }
  })
  const shared = db.transaction((): PublishedState => {
    const shelf = known()
    const blocks: KnownBlock[] = []
    const newest = shelf.ranges.at(-1)?.to ?? -1
    for (let depth = 0; depth <= newest; depth = depth < DENSE_BLOCKS ? depth + 1 : depth * 2) {
      const found = block.get(newest - depth)
      if (found) blocks.push([newest - depth, `0x${found.hash.toString('hex')}`, found.time])
    }
    const isPartial = partial.get() !== undefined
    return {
      ...{ ...shelf, committed: batches.get() ?? 0, blocks, cursorKey: readCursorKey(db) },
      ...(isPartial && { isPartial }),
      ...((isPartial || looked.get() !== undefined) && { whole: mergeRanges(whole.all()) }),
    }
  })
  const following = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'following'").pluck()
  return {
    /** Reads one state of the store. */
    visible: () => visible(),
    shared: () => shared(),
    /** Whether another process may ship, which makes the state here outdated. */
    isFollowing: () => following.get() === 1,
  }
}

/** Number of newest blocks that are all published; older ones are ever sparser. */
const DENSE_BLOCKS = 64
