import { prepareAltered } from '../engine/alterations.ts'
import { createBlocks, newestBlock } from '../engine/blocks.ts'
import type { Confirmations } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import type { WindowBlock } from '../windows/window.ts'
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
  /** What it shows, as JSON, and of its end. */
  when: string
  shown: string | null
}

export type AcrossReader = ReturnType<typeof createAcrossReader>

/** What is read once as long as the store stays the same. */
const createReads = () => {
  const all: Map<unknown, unknown>[] = []
  const of = <Key, T>(read: (key: Key) => T): ((key: Key) => T) => {
    const known = new Map<Key, T>()
    all.push(known)
    return key => {
      if (!known.has(key)) known.set(key, read(key))
      return known.get(key) as T
    }
  }
  return {
    of,
    once<T>(read: () => T): () => T {
      const known = of(read)
      return () => known(undefined)
    },
    forget() {
      for (const known of all) known.clear()
    },
  }
}

/** Reads what one network has of rules over several ones, for all of them: within `snapshot`. */
export const createAcrossReader = (db: Db) => {
  const states = prepareWindowState(db)
  const blocks = createBlocks(db)
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  const times = db.prepare<[number], number>('SELECT time FROM block WHERE number = ?').pluck()
  const rows = db.prepare<[number, number, number, number], { number: number; time: number; rows: string }>(
    `SELECT block AS number, time, rows FROM rule_rows JOIN row_list ON n = list
     WHERE rule = ? AND block > ? AND time >= ? AND time < ? ORDER BY block`,
  )
  const lastRows = db
    .prepare<[number, number, number], string>(
      `SELECT rows FROM rule_rows JOIN row_list ON n = list
       WHERE rule = ? AND block < ? AND time < ? ORDER BY block DESC LIMIT 1`,
    )
    .pluck()
  const firstAt = db.prepare<[number, number], { number: number; time: number }>(
    'SELECT number, time FROM block WHERE number >= ? AND time >= ? ORDER BY number LIMIT 1',
  )
  const open = db.prepare<[number, number, number, number], { id: string; key: string }>(
    `SELECT a.id, x.key FROM across_alert x JOIN alert a ON a.n = x.alert
     WHERE x.rule = ? AND a.revision = ? AND x.key IS NOT NULL AND x.opened < ? AND (x.ended IS NULL OR x.ended >= ?)`,
  )
  const stored = db.prepare<[number, number, number, number, number, number], AcrossStored>(
    `SELECT a.id, x.opened, iif(x.key IS NULL, NULL, x.ended) AS ended, json_remove(a.windows, '$.ended') AS "when",
       a.windows ->> '$.ended' AS shown
     FROM across_alert x JOIN alert a ON a.n = x.alert
     WHERE x.rule = ? AND a.revision = ? AND ((x.opened >= ? AND x.opened < ?) OR (x.ended >= ? AND x.ended < ?))`,
  )
  const owes = db
    .prepare<[number, number, number], number>(
      `SELECT count(*) FROM across_alert x JOIN alert a ON a.n = x.alert WHERE x.rule = ?
       AND ((x.opened < ? AND a.state = ${STATES.indexOf('pending')} AND a.due = ${NOT_DUE})
         OR (x.key IS NOT NULL AND x.ended < ? AND a.state = ${STATES.indexOf('confirmed')}))`,
    )
    .pluck()

  const { of, once, forget } = createReads()
  const altered = once(prepareAltered(db))
  const hash = of(blocks.hash)
  const newest = once(newestBlock(db))
  const first = of((from: number) => firstAt.get(from, 0))
  const records = once(prepareRecords(db))
  let seen = -1
  const snapshot = db.transaction((run: () => unknown) => {
    const now = version.get()!
    if (now !== seen) forget()
    seen = now
    return run()
  })

  return {
    /** Changes with each commit of others. */
    version: (): number => version.get()!,
    /** All that is read meanwhile is of one state of the store. */
    snapshot: <T>(run: () => T): T => snapshot(run) as T,
    chainId: once(blocks.chainId),
    /** Blocks below are pruned. */
    floor: once(blocks.floor),
    hash: blocks.hash,
    seenBlock: of((number: number): SeenBlock => ({ number, hash: hash(number) ?? '', serial: altered().serial })),
    /** Whether the block is still there, and was all the time. */
    isSame({ number, hash: known, serial }: SeenBlock): boolean {
      if (hash(number) !== known) return false
      const { serial: last, alterations } = altered()
      if (last <= serial) return last === serial
      return !alterations.some(
        one => one.serial > serial && one.kinds === undefined && one.from <= number && number <= one.to,
      )
    },
    newest,
    state: of((rule: number) => states.get(rule)),
    record: (rule: number): AcrossRecord | undefined => records().get(rule)?.record,
    timeOf: of((number: number): number => times.get(number) ?? -1),
    /** The first block above or at `from`. */
    first,
    /** The first block above or at `from` whose time is `time` or later. */
    firstAt: (from: number, time: number) => firstAt.get(from, time),
    /**
     * Rows of blocks above one and of a range of times, its end excluded, as JSON; of many, those with about so
     * many characters together. `next`: the time of the first one that is left.
     */
    rows(rule: number, above: number, [from, to]: readonly [number, number], most: number) {
      const found: { block: WindowBlock; entries: string }[] = []
      let left = most
      for (const { rows: entries, ...block } of rows.iterate(rule, above, from, to)) {
        if (left <= 0) return { found, next: block.time }
        left -= entries.length
        found.push({ block, entries })
      }
      return { found, next: undefined }
    },
    /** The entries of the last row below a block and before a moment. */
    lastEntries: <Row>(rule: number, below: number, before: number) =>
      JSON.parse(lastRows.get(rule, below, before) ?? '[]') as Row[],
    /** Episodes that are open at a moment: the alert and its key. */
    open: (rule: number, revision: number, at: number) => open.all(rule, revision, at, at),
    /** Alerts that open or end in a range of times, its end excluded. */
    stored: (rule: number, revision: number, [from, to]: readonly [number, number]): AcrossStored[] =>
      stored.all(rule, revision, from, to, from, to),
    /** Whether alerts wait for what is deep enough before a moment. */
    owes: (rule: number, before: number): boolean => owes.get(rule, before, before)! > 0,
    /** Of blocks before this moment, all have so many above them. */
    settled: of((confirmations: Confirmations): number => {
      if (confirmations === 0) return Number.POSITIVE_INFINITY
      const top = newest()
      const height = typeof confirmations === 'number' ? top - confirmations : finalHeight(db, confirmations)
      // What is pruned is not reorganised any more.
      return height < 0 ? -1 : first(Math.min(top, height + 1))!.time
    }),
  }
}

/** Reads the records of all rules; heads that stay the same are the same objects. */
const prepareRecords = (db: Db) => {
  const read = db.prepare<[], Omit<AcrossRecord, 'heads'> & { rule: number; heads: string }>(
    'SELECT rule, revision, heads, decided, kept FROM across',
  )
  let known = new Map<number, { text: string; record: AcrossRecord }>()
  return (): ReadonlyMap<number, { record: AcrossRecord }> => {
    known = new Map(
      read.all().map(({ rule, heads: text, ...one }) => {
        const before = known.get(rule)
        const heads = before?.text === text ? before.record.heads : (JSON.parse(text) as NetworkHeads)
        return [rule, { text, record: { ...one, heads } }]
      }),
    )
    return known
  }
}

const finalHeight = (db: Db, tag: keyof FinalHeights): number => readFinalHeights(db)[tag] ?? Number.NEGATIVE_INFINITY
