import type { Db } from '../sqlite/database.ts'
import { dueOf, fromStored, NOT_DUE } from './alert.ts'
import type { WindowTables } from './window-tables.ts'

/** No rule has it. */
const NO_REVISION = -1

/**
 * Frees pending alerts of rules that are decided here no longer, over several networks: without `when`, or
 * with steps of other networks. They are due as if they were of this network alone.
 */
export const createStrandedAlerts = (db: Db, tables: Pick<WindowTables, 'clearOther'>) => {
  const known = db.prepare<[], number>('SELECT rule FROM across UNION SELECT rule FROM across_alert').pluck()
  // Of a salvaged store, which may have lost the other table.
  const lost = db.prepare<[], { n: number; block: number; confirmations: number }>(
    `SELECT n, block, confirmations FROM alert
     WHERE state = 0 AND due = ${NOT_DUE} AND n NOT IN (SELECT alert FROM across_alert)`,
  )
  const setDue = db.prepare('UPDATE alert SET due = ? WHERE n = ?')
  return {
    /** `isKept`: whether a rule is decided here, or paused. */
    free(isKept: (rule: number) => boolean) {
      for (const rule of known.all()) if (!isKept(rule)) tables.clearOther(rule, NO_REVISION)
      for (const { n, block, confirmations } of lost.all()) setDue.run(dueOf(block, fromStored(confirmations)), n)
    },
  }
}
