import { atomically, type Db } from './file.ts'

/** Pages of 4 kB: the minimum that stays free, and the step, which takes about 10 ms. */
const LEAST_FREE = 256
const SHRINK_AT_ONCE = 1_024

/** Deletes expired deliveries and shrinks the file. */
export const createRetention = (db: Db) => {
  const old = db.prepare<[number, number, number], Forgotten>(
    `SELECT ${FORGOTTEN} FROM delivery WHERE state IN ('delivered', 'cancelled') AND settled_at < ?
     UNION ALL
     SELECT ${FORGOTTEN} FROM delivery WHERE state = 'dead' AND settled_at < ? LIMIT ?`,
  )
  const nextRule = db.prepare<[number], number | null>('SELECT min(rule) FROM delivery WHERE rule > ?').pluck()
  const settledOf = db.prepare<[number, number, number], Forgotten>(
    `SELECT ${FORGOTTEN} FROM delivery INDEXED BY delivery_rule WHERE rule = ? AND state <> 'queued' AND settled_at < ? LIMIT ?`,
  )
  const forget = createForget(db)
  const freePages = db.prepare<[], number>('PRAGMA freelist_count').pluck()
  const pages = db.prepare<[], number>('PRAGMA page_count').pluck()

  return {
    /** Deletes up to `limit` deliveries by the time they settled or died; returns their number. */
    prune: ({ settledBefore, deadBefore }: { settledBefore: number; deadBefore: number }, limit: number): number =>
      atomically(db, () => forget(old.all(settledBefore, deadBefore, limit))),

    /** Shrinks the file by some free pages; returns whether more can be freed. */
    shrink(): boolean {
      const [all, free] = [pages.get()!, freePages.get()!]
      const keep = Math.max(LEAST_FREE, Math.ceil((all - free) / 4))
      if (free <= keep) return false
      db.pragma(`incremental_vacuum(${Math.min(free - keep, SHRINK_AT_ONCE)})`)
      // Files of older versions cannot shrink.
      return freePages.get()! < free && free - keep > SHRINK_AT_ONCE
    },

    /** Next rule id with deliveries. */
    nextRule: (after: number): number | undefined => nextRule.get(after) ?? undefined,

    /** Deletes at most `limit` old deliveries of a deleted rule; returns how many. */
    pruneRule: (rule: number, before: number, limit: number): number =>
      atomically(db, () => {
        const forgotten = forget(settledOf.all(rule, before, limit))
        if (forgotten < limit)
          for (const table of ['rule_count', 'disabled']) db.prepare(`DELETE FROM ${table} WHERE rule = ?`).run(rule)
        return forgotten
      }),
  }
}

/** A delivery to delete, with the rows that may become unreferenced. */
export interface Forgotten {
  id: number
  message: number
  receiver: number
  rule: number
  revision: number
}

export const FORGOTTEN = 'id, message, receiver, rule, revision'

/** Deletes deliveries and rows that only they referenced; returns how many deliveries. */
export const createForget = (db: Db): ((rows: readonly Forgotten[]) => number) => {
  const delivery = db.prepare('DELETE FROM delivery WHERE id = ?')
  const unused = (['message', 'receiver'] as const).map(name => ({
    name,
    remove: db.prepare(
      `DELETE FROM ${name} WHERE id = ? AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.${name} = ${name}.id)`,
    ),
  }))
  const said = db.prepare(
    `DELETE FROM said WHERE rule = @rule AND revision = @revision AND NOT EXISTS (
       SELECT 1 FROM delivery d INDEXED BY delivery_rule WHERE d.rule = @rule AND d.revision = @revision
     )`,
  )
  return rows => {
    for (const { id } of rows) delivery.run(id)
    for (const { name, remove } of unused) for (const id of new Set(rows.map(row => row[name]))) remove.run(id)
    const revisions = new Map(rows.map(({ rule, revision }) => [`${rule} ${revision}`, { rule, revision }]))
    for (const one of revisions.values()) said.run(one)
    return rows.length
  }
}
