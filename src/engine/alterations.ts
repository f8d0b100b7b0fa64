import type { Range } from '../lib/ranges.ts'
import type { Kind } from '../mapping/index.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Changes of stored blocks, latest last (JSON in `meta.altered`): long answers check whether the
 * rest of their documents is unchanged. New blocks are not recorded.
 */
export interface Alteration extends Range {
  /** Increases with each alteration. */
  serial: number
  why: Why
  /** Affected kinds; absent: all. */
  kinds?: Kind[]
}

export type Why = 'reorganised' | 'pruned' | 'replaced' | 'decoded'

interface Altered {
  /** Of the latest alteration; 0 if none. */
  serial: number
  alterations: readonly Alteration[]
}

/** Limit for alterations of all kinds, and for those of some; above it, the two oldest merge. */
const MAX_ALTERATIONS = 100

const READ_ALTERATIONS = "SELECT value FROM meta WHERE key = 'altered'"

export const readAltered = (db: Pick<Db, 'prepare'>): Altered => prepareAltered(db)()

/** For many reads. */
export const prepareAltered = (db: Pick<Db, 'prepare'>): (() => Altered) => {
  const get = db.prepare<[], string>(READ_ALTERATIONS).pluck()
  let read: string | undefined
  let altered: Altered = { serial: 0, alterations: [] }
  return () => {
    const text = get.get()
    if (text !== read) altered = text === undefined ? { serial: 0, alterations: [] } : JSON.parse(text)
    read = text
    return altered
  }
}

/** Within a transaction. */
type NoteAltered = (why: Why, blocks: Range, kinds?: Kind[]) => void

export const createNoteAltered = (db: Db): NoteAltered => {
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('altered', ?)")
  return (why, { from, to }, kinds) => {
    const { serial: before, alterations } = readAltered(db)
    const serial = before + 1
    const all = [...alterations, { serial, why, from, to, ...(kinds && { kinds }) }]
    const alike = all.filter(one => (one.kinds === undefined) === (kinds === undefined))
    const kept = alike.length <= MAX_ALTERATIONS ? all : spanning(all, alike[0]!, alike[1]!)
    set.run(JSON.stringify({ serial, alterations: kept } satisfies Altered))
  }
}

const spanning = (all: readonly Alteration[], one: Alteration, next: Alteration): Alteration[] => {
  const kinds = one.kinds && [...new Set([...one.kinds, ...(next.kinds ?? [])])]
  const both = { ...next, from: Math.min(one.from, next.from), to: Math.max(one.to, next.to), ...(kinds && { kinds }) }
  return all.flatMap(it => (it === one ? [] : it === next ? [both] : [it]))
}
