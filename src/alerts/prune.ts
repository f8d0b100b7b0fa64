import { newestBlock } from '../engine/blocks.ts'
import { KEPT_BLOCKS } from '../engine/prune.ts'
import type { Db } from '../sqlite/database.ts'
import { STATES } from './rows.ts'

export interface AlertLimits {
  /** Alerts whose state has changed last before this time, in epoch milliseconds. */
  before: number
  /** Number of the last outbox entry that was taken over: what was not is still to be told. */
  taken: number
}

const PAGE = 500

export type AlertPruning = ReturnType<typeof createAlertPruning>

/** Forgets old alerts, and what the outbox says of them. Pending ones stay, and those whose block may still be reorganised away. */
export const createAlertPruning = (db: Db) => {
  const newest = newestBlock(db)
  const alerts = db.prepare<[number], { n: number; state: number; changed: number; block: number }>(
    `SELECT n, state, changed_at AS changed, block FROM alert WHERE n > ? ORDER BY n LIMIT ${PAGE}`,
  )
  const untold = db.prepare<[number], number>('SELECT DISTINCT alert FROM outbox WHERE n > ?').pluck()
  const forget = db.prepare('DELETE FROM alert WHERE n = ?')
  const entries = db.prepare<[number, number], { n: number; kept: number }>(
    `SELECT n, EXISTS (SELECT 1 FROM alert WHERE alert.n = outbox.alert) AS kept FROM outbox WHERE n > ? AND n <= ? ORDER BY n LIMIT ${PAGE}`,
  )
  const forgetEntry = db.prepare('DELETE FROM outbox WHERE n = ?')

  return {
    /** `step` does a page of the work, within a transaction: whether there is more. `removed`: how many alerts are gone. */
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
              removed += forget.run(n).changes
          alert = page.at(-1)?.n ?? alert
          looking = page.length === PAGE
          return true
        }
        const page = entries.all(entry, taken)
        for (const { n, kept } of page) if (!kept) forgetEntry.run(n)
        entry = page.at(-1)?.n ?? entry
        return page.length === PAGE
      }
      return { step, removed: () => removed }
    },
  }
}
