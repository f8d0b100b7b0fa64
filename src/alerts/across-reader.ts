import { prepareAltered } from '../engine/alterations.ts'
import { createBlocks, newestBlock, timeOfBlock } from '../engine/blocks.ts'
import type { Confirmations } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import { NOT_DUE, STATES } from './alert.ts'
import { type FinalHeights, readFinalHeights } from './marks.ts'
import { prepareWindowState } from './window-tables.ts'

export interface SeenBlock {
  number: number
  hash: string
  /** The last alteration of the store so far: the chain may have left the block since, and come back. */
  serial: number
}

/** The last block that a rule has seen of each network, by their paths, and one that lies deep below it. */
export type NetworkHeads = Readonly<Record<string, SeenBlock & { deep: SeenBlock }>>

export interface AcrossRecord {
  revision: number
  /** What opens or ends before this moment is told, as of the heads. */
  decided: number
  heads: NetworkHeads
  /** Rows from this moment on are stored. */
  kept: number
}

/** An alert of a rule over several networks; times in epoch seconds. */
export interface AcrossStored {
  id: string
  opened: number
  /** Also null where it has no end. */
  ended: number | null
}

export type AcrossReader = ReturnType<typeof createAcrossReader>

/** Reads what one network has of rules over several ones. */
export const createAcrossReader = (db: Db) => {
  const states = prepareWindowState(db)
  const blocks = createBlocks(db)
  const newest = newestBlock(db)
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  const record = db.prepare<[number], Omit<AcrossRecord, 'heads'> & { heads: string }>(
    'SELECT revision, heads, decided, kept FROM across WHERE rule = ?',
  )
  const rows = db.prepare<[number, number, number, number], { number: number; time: number; rows: string }>(
    `SELECT block AS number, time, rows FROM rule_rows JOIN row_list ON n = list
     WHERE rule = ? AND block > ? AND time >= ? AND time < ? ORDER BY block`,
  )
  const lastRows = db
    .prepare<[number, number], string>(
      'SELECT rows FROM rule_rows JOIN row_list ON n = list WHERE rule = ? AND time < ? ORDER BY block DESC LIMIT 1',
    )
    .pluck()
  const firstAt = db.prepare<[number, number], { number: number; time: number }>(
    'SELECT number, time FROM block WHERE number >= ? AND time >= ? ORDER BY number LIMIT 1',
  )
  const open = db.prepare<[number, number, number, number], { id: string; key: string }>(
    `SELECT a.id, x.key FROM across_alert x JOIN alert a ON a.n = x.alert
     WHERE x.rule = ? AND a.revision = ? AND x.key IS NOT NULL AND x.opened < ? AND (x.ended IS NULL OR x.ended >= ?)`,
  )
  const stored = db.prepare<[number, number, number, number], AcrossStored>(
    `SELECT a.id, x.opened, iif(x.key IS NULL, NULL, x.ended) AS ended FROM across_alert x JOIN alert a ON a.n = x.alert
     WHERE x.rule = ? AND a.revision = ? AND (x.opened >= ? OR x.ended >= ?)`,
  )
  const owes = db
    .prepare<[number, number, number], number>(
      `SELECT count(*) FROM across_alert x JOIN alert a ON a.n = x.alert WHERE x.rule = ?
       AND ((x.opened < ? AND a.state = ${STATES.indexOf('pending')} AND a.due = ${NOT_DUE})
         OR (x.key IS NOT NULL AND x.ended < ? AND a.state = ${STATES.indexOf('confirmed')}))`,
    )
    .pluck()

  const altered = prepareAltered(db)

  return {
    /** Changes with each commit of others. */
    version: (): number => version.get()!,
    /** All that is read meanwhile is of one state of the store. */
    snapshot: <T>(run: () => T): T => db.transaction(run)(),
    chainId: blocks.chainId,
    /** Blocks below are pruned. */
    floor: blocks.floor,
    hash: blocks.hash,
    seenBlock: (number: number): SeenBlock => ({ number, hash: blocks.hash(number) ?? '', serial: altered().serial }),
    /** Whether the block is still there, and was all the time. */
    isSame({ number, hash, serial }: SeenBlock): boolean {
      if (blocks.hash(number) !== hash) return false
      const { serial: last, alterations } = altered()
      if (last < serial) return false
      const since = alterations.filter(one => one.serial > serial && one.kinds === undefined)
      return !since.some(({ from, to }) => from <= number && number <= to)
    },
    newest,
    state: (rule: number) => states.get(rule),
    record(rule: number): AcrossRecord | undefined {
      const found = record.get(rule)
      return found && { ...found, heads: JSON.parse(found.heads) as NetworkHeads }
    },
    timeOf: (number: number): number => timeOfBlock(db, number) ?? -1,
    /** The first block above or at `from` whose time is `time` or later. */
    firstAt: (from: number, time: number) => firstAt.get(from, time),
    /** Rows of blocks above one and of a range of times, its end excluded. */
    rows: <Row>(rule: number, above: number, [from, to]: readonly [number, number]) =>
      rows
        .all(rule, above, from, to)
        .map(({ rows: text, ...block }) => ({ block, entries: JSON.parse(text) as Row[] })),
    /** The entries of the last row before a moment. */
    lastEntries: <Row>(rule: number, before: number) => JSON.parse(lastRows.get(rule, before) ?? '[]') as Row[],
    /** Episodes that are open at a moment: the alert and its key. */
    open: (rule: number, revision: number, at: number) => open.all(rule, revision, at, at),
    /** Alerts that open or end at a moment or later. */
    stored: (rule: number, revision: number, from: number): AcrossStored[] => stored.all(rule, revision, from, from),
    /** Whether alerts wait for what is deep enough before a moment. */
    owes: (rule: number, before: number): boolean => owes.get(rule, before, before)! > 0,
    /** Of blocks before this moment, all have so many above them. */
    settled(confirmations: Confirmations): number {
      if (confirmations === 0) return Number.POSITIVE_INFINITY
      const top = newest()
      const height = typeof confirmations === 'number' ? top - confirmations : finalHeight(db, confirmations)
      // What is pruned is not reorganised any more.
      return height < 0 ? -1 : firstAt.get(Math.min(top, height + 1), 0)!.time
    },
  }
}

const finalHeight = (db: Db, tag: keyof FinalHeights): number => readFinalHeights(db)[tag] ?? Number.NEGATIVE_INFINITY
