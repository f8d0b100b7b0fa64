import type { Db } from '../sqlite/database.ts'
import type { LastTold } from '../windows/repeats.ts'
import type { ShownCondition } from '../windows/spec.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { AlertWindow } from './alert.ts'

/** A repeat of an alert, and with `latest` another document than that of the alert. */
export interface NewRepeat {
  alert: number
  rule: number
  block: WindowBlock
  /** Where it counts as final. */
  due: number
  when: AlertWindow
  latest?: { id: string; source: string } | undefined
}

export type RepeatTable = ReturnType<typeof createRepeatTable>

/** Repeats of alerts whose episodes last, and the wait for the next ones. */
export const createRepeatTable = (db: Db) => {
  const lastTold = db.prepare<[number], { key: string; opened: string; told: string | null } & WindowBlock>(
    `SELECT e.key, a.windows AS opened, r.windows AS told, ifnull(r.block, e.opened) AS number, ifnull(r.time, e.time) AS time
     FROM episode e JOIN alert a ON a.n = e.alert
       LEFT JOIN repeat r ON r.n = (SELECT n FROM repeat WHERE alert = e.alert ORDER BY block DESC LIMIT 1)
     WHERE e.rule = ? AND e.ended IS NULL ORDER BY number`,
  )
  const add = db.prepare(
    'INSERT INTO repeat (alert, rule, block, time, due, windows, document, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  // A reorganisation may need the last one below.
  const forget = db.prepare(
    `DELETE FROM repeat WHERE rule = @rule AND block < @below AND told IS NOT NULL
       AND (NOT EXISTS (SELECT 1 FROM episode WHERE alert = repeat.alert)
         OR EXISTS (SELECT 1 FROM repeat later WHERE later.alert = repeat.alert AND later.block > repeat.block AND later.block < @below))`,
  )
  const forgetEntries = db.prepare(
    'DELETE FROM outbox WHERE repeat IS NOT NULL AND repeat NOT IN (SELECT n FROM repeat)',
  )
  const due = db.prepare<[number, number], { n: number; alert: number; rule: number }>(
    `SELECT r.n, r.alert, r.rule FROM repeat r JOIN alert a ON a.n = r.alert
     WHERE r.told IS NULL AND r.due BETWEEN ? AND ? AND a.state = 1 ORDER BY r.due, r.n`,
  )
  const setTold = db.prepare('UPDATE repeat SET told = ? WHERE n = ?')

  return {
    /** What was last told of the open keys of a rule, in the order of its blocks. */
    lastTold: (rule: number): [string, LastTold][] =>
      lastTold.all(rule).map(({ key, number, time, opened, told }) => {
        const first = conditionsIn(opened)
        return [key, { number, time, opened: first, conditions: told === null ? first : conditionsIn(told) }]
      }),
    add({ alert, rule, block: { number, time }, due, when, latest }: NewRepeat) {
      add.run(alert, rule, number, time, due, JSON.stringify(when), latest?.id ?? null, latest?.source ?? null)
    },
    /** Drops repeats below a block that are told, and of which a later one is. */
    forget(rule: number, below: number) {
      if (forget.run({ rule, below }).changes > 0) forgetEntries.run()
    },
    /** Those of confirmed alerts that are still to be told. */
    due: (from: number, to: number) => due.all(from, to),
    setTold: (n: number, at: number) => setTold.run(at, n),
  }
}

const conditionsIn = (windows: string): ShownCondition[] => (JSON.parse(windows) as AlertWindow).conditions
