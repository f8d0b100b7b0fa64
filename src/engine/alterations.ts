import type { Range } from '../lib/ranges.ts'
import type { Kind } from '../mapping/index.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * What became of stored blocks, the latest last, so that a long answer knows whether what it has yet to read is as it was when it began. New blocks are
 * none of it. `meta.altered` holds it as JSON.
 */
export interface Alteration extends Range {
  /** Grows with each. */
  serial: number
  why: Why
  /** Documents of these kinds alone; of all kinds where it is absent. */
  kinds?: Kind[]
}

export type Why = 'reorganised' | 'pruned' | 'replaced' | 'decoded'

interface Altered {
  /** Of the latest; 0 where there is none. */
  serial: number
  alterations: readonly Alteration[]
}

/** Alterations of all kinds, and as many of some: of more, the two oldest become one that spans both. */
const MAX_ALTERATIONS = 100

const READ_ALTERATIONS = "SELECT value FROM meta WHERE key = 'altered'"

export const readAltered = (db: Pick<Db, 'prepare'>): Altered => {
  const text = db.prepare<[], string>(READ_ALTERATIONS).pluck().get()
  return text === undefined ? { serial: 0, alterations: [] } : JSON.parse(text)
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
