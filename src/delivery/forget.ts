import type { Db } from './file.ts'

/** A delivery that nobody needs any more, and what may have been kept for it alone. */
export interface Forgotten {
  id: number
  message: number
  receiver: number
  rule: number
  revision: number
}

export const FORGOTTEN = 'id, message, receiver, rule, revision'

/** Deletes deliveries, and messages, receivers and what rules said where no other delivery is left that needs them. */
export const createForget = (db: Db): ((rows: readonly Forgotten[]) => void) => {
  const delivery = db.prepare('DELETE FROM delivery WHERE id = ?')
  const message = db.prepare(
    'DELETE FROM message WHERE id = ? AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.message = message.id)',
  )
  const receiver = db.prepare(
    'DELETE FROM receiver WHERE id = ? AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.receiver = receiver.id)',
  )
  const said = db.prepare(
    `DELETE FROM said WHERE rule = @rule AND revision = @revision AND NOT EXISTS (
       SELECT 1 FROM delivery d INDEXED BY delivery_rule WHERE d.rule = @rule AND d.revision = @revision
     )`,
  )
  return rows => {
    for (const { id } of rows) delivery.run(id)
    for (const id of new Set(rows.map(row => row.message))) message.run(id)
    for (const id of new Set(rows.map(row => row.receiver))) receiver.run(id)
    const revisions = new Map(rows.map(({ rule, revision }) => [`${rule} ${revision}`, { rule, revision }]))
    for (const one of revisions.values()) said.run(one)
  }
}
