import { hash } from 'node:crypto'
import { timeOfBlock } from '../engine/blocks.ts'
import type { Db } from '../sqlite/database.ts'
import type { RuleMatch } from './alert.ts'

type Point = { block: number; time: number }

/**
 * Alerts of rules with `notify.quiet`, by key, in the transaction of their block. A match that is
 * found late, in a block below that of an alert, is also quiet if that alert is so near: what was
 * told is not taken back for what comes late.
 */
export const createQuietTimes = (db: Db) => {
  const before = db.prepare<[number, number, Buffer, number], Point>(
    'SELECT block, time FROM quiet WHERE rule = ? AND revision = ? AND key = ? AND block <= ? ORDER BY block DESC LIMIT 1',
  )
  const after = db.prepare<[number, number, Buffer, number], Point>(
    'SELECT block, time FROM quiet WHERE rule = ? AND revision = ? AND key = ? AND block > ? ORDER BY block LIMIT 1',
  )
  const insert = db.prepare('INSERT INTO quiet (rule, revision, key, block, time) VALUES (?, ?, ?, ?, ?)')
  const drop = db.prepare<[number]>('DELETE FROM quiet WHERE block > ?')

  const place = ({ rule, revision, quiet }: RuleMatch) => [rule, revision, keyHash(quiet!.key)] as const
  const timeOf = (block: number): number => timeOfBlock(db, block) ?? 0

  return {
    /** Whether an alert with the key of the match is so near that there is none for the match. */
    covers(match: RuleMatch): boolean {
      const { block, quiet } = match
      if (!quiet) return false
      const at = place(match)
      const time = timeOf(block)
      return [before.get(...at, block), after.get(...at, block)].some(
        alert =>
          alert !== undefined &&
          (quiet.blocks === undefined
            ? Math.abs(time - alert.time) < quiet.seconds!
            : Math.abs(block - alert.block) < quiet.blocks),
      )
    },

    note(match: RuleMatch) {
      if (match.quiet) insert.run(...place(match), match.block, timeOf(match.block))
    },

    /** Forgets the alerts of blocks above this one. */
    drop: (to: number) => void drop.run(to),
  }
}

const keyHash = (key: string): Buffer => hash('sha256', key, 'buffer').subarray(0, 16)
