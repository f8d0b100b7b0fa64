import { mergeRanges, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'
import { readCursorKey } from '../store-version.ts'

/**
 * Which documents of a network were shipped to a remote store; the local one is the journal of what is still to be
 * shipped. `shelf`: runs of blocks whose documents were all shipped. `batch`: what is being shipped, a run of
 * neighbouring blocks each. `hidden`: remote documents that count for nothing: those of batches from `least` to
 * `greatest`, of blocks above `above`, and with `below` of blocks up to that one alone. `since`: when that came up, in
 * epoch milliseconds. `swept`: whether they were removed once.
 *
 * The table `meta` holds `batches`, the greatest number of a batch; `shelf_top`, the highest block of which documents
 * may have been sent; `shipped_change`, up to which change tokens were shipped; `following`, whether another process may
 * ship; and `in_cluster`, see document-location.ts.
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

/** Remote documents that no search may show: leftovers of a write under way, a crash or a reorganisation. */
export interface Hidden {
  /** Least and greatest number of the batches that wrote them. */
  batches: Range
  /** Only those of blocks above this one; -1: all. */
  above: number
  /** Only those of blocks up to this one. */
  below?: number
  /** Tokens are shown all the same: one document of each is written again and again. */
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

/** What of a network's documents a search sees at a moment. */
export interface Visible {
  hidden: readonly Hidden[]
  /** Blocks whose documents are all there, ascending, merged. */
  ranges: readonly Range[]
}

/** A block that several processes know: its number, its hash and its time in epoch seconds. */
export type KnownBlock = readonly [number: number, hash: string, time: number]

/** What a process that ships tells others. */
export interface PublishedState {
  /** Greatest number that a batch ever got. */
  committed: number
  hidden: readonly Hidden[]
  ranges: readonly Range[]
  /** Some of the blocks on the shelf, the newest first, by which a reorganisation shows. */
  blocks: readonly KnownBlock[]
  /** Whether some are there in part, as scopes want them. */
  isPartial?: boolean | undefined
  /** Where some are, or were looked for: those that are held whole. */
  whole?: readonly Range[] | undefined
  /** What scopes looked for, as status and answers show it. */
  coverage?: readonly unknown[]
  /** What ids of cursors are signed by; absent where an older version tells. */
  cursorKey?: string | undefined
}

/** What begins later is hidden, too: a search may take several requests, and other processes hear of a batch later. */
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
    /** Of one state of the store. */
    visible: () => visible(),
    shared: () => shared() /** Whether another process may ship, so that what this one knows may be old. */,
    isFollowing: () => following.get() === 1,
  }
}

/** Neighbouring blocks at the head of which each is told; of older ones ever fewer. */
const DENSE_BLOCKS = 64
