import { newestBlock, timeOfBlock } from '../engine/blocks.ts'
import type { BlockLookups } from '../engine/port.ts'
import { KEPT_BLOCKS } from '../engine/prune.ts'
import { MAX_QUIET } from '../rules/notify/check.ts'
import type { FinalityTag } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import { STATES } from './alert.ts'

export interface MarkedBlock {
  number: number
  /** Lower-case block hash. */
  hash: string
}

/** The newest safe and finalized blocks of nodes; null if no node has such a tag. */
export interface FinalityMarks extends Readonly<Record<FinalityTag, MarkedBlock | null>> {
  /** Depth that replaces a tag that no node reports. */
  depth: number
}

interface MarksOptions {
  blocks: Pick<BlockLookups, 'hash' | 'floor'>
  newest(): number
}

/** A tag applies once its block is stored, and moves back only in a reorg. */
export const createMarks = ({ blocks, newest }: MarksOptions) => {
  let told: FinalityMarks | undefined
  const heights: Record<FinalityTag, number> = { safe: -1, finalized: -1 }

  const raise = (tag: FinalityTag) => {
    const mark = told?.[tag]
    if (!mark || mark.number <= heights[tag]) return
    if (mark.number < blocks.floor() || blocks.hash(mark.number) === mark.hash) heights[tag] = mark.number
  }

  return {
    tell(marks: FinalityMarks) {
      told = marks
    },
    lost(to: number) {
      for (const tag of ['safe', 'finalized'] as const) heights[tag] = Math.min(heights[tag], to)
    },
    /** The highest stored block of each finality tag; tags without a block are left out. */
    reached(): [FinalityTag, number][] {
      if (!told) return []
      raise('safe')
      raise('finalized')
      const deep = newest() - told.depth
      // finalized implies safe, also if only one of both is reported.
      const finalized = told.finalized ? heights.finalized : told.safe ? Math.min(deep, heights.safe) : deep
      const safe = told.safe ? Math.max(heights.safe, finalized) : Math.max(deep, finalized)
      const all: [FinalityTag, number][] = [
        ['safe', safe],
        ['finalized', finalized],
      ]
      return all.filter(([, height]) => height >= 0)
    },
  }
}

/** The highest final blocks as other threads read them. */
export type FinalHeights = Partial<Record<FinalityTag, number>>

const FINAL_HEIGHTS = "SELECT value FROM meta WHERE key = 'final_heights'"

export const readFinalHeights = (db: Pick<Db, 'prepare'>): FinalHeights =>
  JSON.parse(db.prepare<[], string>(FINAL_HEIGHTS).pluck().get() ?? '{}')

/** Stores them where they have changed. */
export const createFinalHeights = (db: Db) => {
  const read = db.prepare<[], string>(FINAL_HEIGHTS).pluck()
  const save = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('final_heights', ?)")
  return (reached: readonly [FinalityTag, number][]) => {
    const text = JSON.stringify(Object.fromEntries(reached))
    if (reached.length > 0 && read.get() !== text) save.run(text)
  }
}

interface AlertLimits {
  /** Epoch milliseconds: deletes alerts whose last change of state is older. */
  before: number
  /** Last outbox entry that delivery has taken; later ones are unsent. */
  taken: number
}

const PAGE = 500

export type AlertPruning = ReturnType<typeof createAlertPruning>

/** Deletes old alerts and their outbox entries, except pending and retractable ones. */
export const createAlertPruning = (db: Db) => {
  const newest = newestBlock(db)
  const alerts = db.prepare<[number], { n: number; state: number; changed: number; block: number }>(
    `SELECT n, state, changed_at AS changed, block FROM alert WHERE n > ? ORDER BY n LIMIT ${PAGE}`,
  )
  const untold = db.prepare<[number], number>('SELECT DISTINCT alert FROM outbox WHERE n > ?').pluck()
  // An open episode still ends.
  const forget = db.prepare(
    'DELETE FROM alert WHERE n = ? AND NOT EXISTS (SELECT 1 FROM episode WHERE alert = alert.n) AND NOT EXISTS (SELECT 1 FROM across_alert WHERE alert = alert.n)',
  )
  const forgetRepeats = db.prepare('DELETE FROM repeat WHERE alert = ?')
  const entries = db.prepare<[number, number], { n: number; kept: number }>(
    `SELECT n, EXISTS (SELECT 1 FROM alert WHERE alert.n = outbox.alert) AS kept FROM outbox WHERE n > ? AND n <= ? ORDER BY n LIMIT ${PAGE}`,
  )
  const forgetEntry = db.prepare('DELETE FROM outbox WHERE n = ?')
  // No rule is quiet for longer.
  const forgetQuiet = db.prepare<[number, number]>(
    `DELETE FROM quiet WHERE n IN (SELECT n FROM quiet WHERE block < ? AND time < ? ORDER BY block LIMIT ${PAGE})`,
  )

  return {
    /** `step` does one page and returns whether more remain; `removed` counts alerts. */
    begin({ before, taken }: AlertLimits): { step(): boolean; removed(): number } {
      let [alert, entry] = [0, 0]
      let looking = true
      let removed = 0
      const step = () => {
        if (looking) {
          const still = new Set(untold.all(taken))
          const top = newest() - KEPT_BLOCKS
          const page = alerts.all(alert)
          for (const { n, state, changed, block } of page)
            if (STATES[state] !== 'pending' && changed < before && block <= top && !still.has(n))
              if (forget.run(n).changes > 0) {
                forgetRepeats.run(n)
                removed++
              }
          alert = page.at(-1)?.n ?? alert
          looking = page.length === PAGE
          return true
        }
        const page = entries.all(entry, taken)
        for (const { n, kept } of page) if (!kept) forgetEntry.run(n)
        entry = page.at(-1)?.n ?? entry
        const top = newest()
        const quiet = forgetQuiet.run(top - MAX_QUIET.blocks, (timeOfBlock(db, top) ?? 0) - MAX_QUIET.seconds)
        return page.length === PAGE || quiet.changes === PAGE
      }
      return { step, removed: () => removed }
    },
  }
}
