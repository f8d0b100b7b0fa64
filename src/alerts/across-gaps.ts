import type { Db } from '../sqlite/database.ts'
import { isUnseen, type UnseenUntil } from '../windows/merged.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { WindowTables } from './window-tables.ts'

/** Notes in the rows of a rule over several networks which blocks it did not see: its seen range goes on. */
export const createAcrossGaps = (db: Db, tables: WindowTables) => {
  const decided = db.prepare<[], number>('SELECT rule FROM across').pluck()
  const lastRow = db.prepare<[number, number], WindowBlock & { rows: string }>(
    `SELECT block AS number, time, rows FROM rule_rows JOIN row_list ON n = list
     WHERE rule = ? AND block <= ? ORDER BY block DESC LIMIT 1`,
  )

  return {
    /** With the last block before them. No network has decided that one: none is ahead of the others' clocks. */
    note(rule: number, last: WindowBlock, unseen: UnseenUntil) {
      const [row] = tables.rows<object>(rule, { number: last.number - 1, time: -1 })
      tables.addRows(rule, last, [...(row?.entries ?? []), unseen])
    },
    /** Before a reorganisation: a gap that it ends in begins as before, and goes on to the next block. */
    back(to: number, rules: Iterable<number>) {
      for (const rule of new Set([...rules, ...decided.all()])) {
        const row = lastRow.get(rule, to)
        const entries = row ? (JSON.parse(row.rows) as object[]) : []
        const kept = entries.filter(one => !isUnseen(one) || one.gap <= to)
        const state = tables.state(rule)
        if (!row || !state || kept.length === entries.length) continue
        tables.addRows(rule, row, kept)
        tables.saveState(rule, { ...state, upto: row.number, clock: row.time })
      }
    },
  }
}
