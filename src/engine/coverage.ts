import { gapsIn, mergeRanges, type Range } from '../lib/ranges.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Blocks that were checked for scopes. `scope`: a filter as text, which only scopes parse;
 * `coverage`: its checked ranges; `looked`: newest checked headers, stored or not, to detect
 * reorganisations; `child`: addresses that events of a factory name, with the blocks of these
 * events.
 */
export const COVERAGE_SCHEMA = [
  'CREATE TABLE scope (id INTEGER PRIMARY KEY, filter TEXT NOT NULL UNIQUE)',
  'CREATE TABLE coverage (scope INT NOT NULL, first INT NOT NULL, last INT NOT NULL, PRIMARY KEY (scope, first)) WITHOUT ROWID',
  'CREATE TABLE looked (number INTEGER PRIMARY KEY, hash BLOB NOT NULL, parent BLOB NOT NULL)',
  'CREATE TABLE child (factory TEXT NOT NULL, address TEXT NOT NULL, number INT NOT NULL, PRIMARY KEY (factory, address)) WITHOUT ROWID',
]

/** From version 11: all segments hold whole blocks. */
export const SCOPED_MIGRATION = [
  'ALTER TABLE segment ADD COLUMN block INT NOT NULL DEFAULT 0',
  'ALTER TABLE segment ADD COLUMN scoped INT NOT NULL DEFAULT 0',
  'UPDATE segment SET block = last - first + 1',
  ...COVERAGE_SCHEMA,
]

/** A filter as text, and blocks that were looked at for it. */
interface Covered extends Range {
  filter: string
}

/** Header of a checked block. */
export interface LookedHeader {
  number: number
  hash: string
  parentHash: string
}

export interface Child {
  factory: string
  address: string
  /** Block of the event that names it first. */
  number: number
}

/** Coverage changes to commit with documents. */
export interface CoverageNotes {
  covered: readonly Covered[]
  looked: readonly LookedHeader[]
  children: readonly Child[]
  narrowed?: Narrowed
}

/** Coverage that remains valid after a change of filters. */
export interface Narrowed {
  /** By the text of each old filter: the filters that replace it, with their blocks. */
  kept: ReadonlyMap<string, readonly Covered[]>
  orphans: readonly Pick<Child, 'factory' | 'address'>[]
}

export const NO_NOTES: CoverageNotes = { covered: [], looked: [], children: [] }

/** Number of retained headers: deeper reorganisations are not followed. */
const MAX_LOOKED_HEADERS = 100_000

/** Every verb is called within a transaction. */
export const createCoverageWriter = (db: Db) => {
  const find = db.prepare<[string], number>('SELECT id FROM scope WHERE filter = ?').pluck()
  const name = db.prepare('INSERT INTO scope (filter) VALUES (?)')
  const touching = db.prepare<[number, number, number], Range>(
    'SELECT first AS "from", last AS "to" FROM coverage WHERE scope = ? AND first <= ? + 1 AND last >= ? - 1',
  )
  const remove = db.prepare('DELETE FROM coverage WHERE scope = ? AND first = ?')
  const insert = db.prepare('INSERT INTO coverage (scope, first, last) VALUES (?, ?, ?)')
  const overlapping = db.prepare<[number, number], Range & { scope: number }>(
    'SELECT scope, first AS "from", last AS "to" FROM coverage WHERE first <= ? AND last >= ?',
  )
  const look = db.prepare('INSERT OR REPLACE INTO looked (number, hash, parent) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM looked WHERE number > ?')
  const forgetOld = db.prepare('DELETE FROM looked WHERE number < ?')
  const bear = db.prepare(
    `INSERT INTO child (factory, address, number) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET number = min(number, excluded.number)`,
  )
  const unbear = db.prepare('DELETE FROM child WHERE number BETWEEN ? AND ?')

  const rangesOf = db.prepare<[number], Range>('SELECT first AS "from", last AS "to" FROM coverage WHERE scope = ?')
  const removeAll = db.prepare('DELETE FROM coverage WHERE scope = ?')
  const removeUnused = db.prepare('DELETE FROM scope WHERE id NOT IN (SELECT scope FROM coverage)')
  const orphan = db.prepare('DELETE FROM child WHERE factory = ? AND address = ?')

  const cover = ({ filter, from, to }: Covered) => {
    const scope = find.get(filter) ?? Number(name.run(filter).lastInsertRowid)
    const near = touching.all(scope, to, from)
    for (const range of near) remove.run(scope, range.from)
    for (const range of mergeRanges([...near, { from, to }])) insert.run(scope, range.from, range.to)
  }
  const lose = ({ from, to }: Range) => {
    for (const { scope, ...range } of overlapping.all(to, from)) {
      remove.run(scope, range.from)
      for (const rest of gapsIn([{ from, to }], range.from, range.to)) insert.run(scope, rest.from, rest.to)
    }
    unbear.run(from, to)
  }
  /** Uses the current ranges: they may have grown since. */
  const narrow = ({ kept, orphans }: Narrowed) => {
    const rest: Covered[] = []
    for (const [text, parts] of kept) {
      const scope = find.get(text)
      if (scope === undefined) continue
      const ranges = rangesOf.all(scope)
      for (const { filter, ...part } of parts)
        for (const { from, to } of ranges)
          if (from <= part.to && to >= part.from)
            rest.push({ filter, from: Math.max(from, part.from), to: Math.min(to, part.to) })
      removeAll.run(scope)
    }
    for (const one of rest) cover(one)
    removeUnused.run()
    for (const { factory, address } of orphans) orphan.run(factory, address)
  }
  return {
    note({ covered, looked, children, narrowed }: CoverageNotes): void {
      if (narrowed) narrow(narrowed)
      for (const one of covered) cover(one)
      for (const { number, hash, parentHash } of looked) look.run(number, hashBytes(hash), hashBytes(parentHash))
      if (looked.length > 0) forgetOld.run(looked.at(-1)!.number - MAX_LOOKED_HEADERS)
      for (const { factory, address, number } of children) bear.run(factory, address, number)
    },
    /** Blocks above this one are no longer known. */
    rollback(to: number): void {
      lose({ from: to + 1, to: Number.MAX_SAFE_INTEGER })
      forget.run(to)
    },
    /** Some blocks are no longer held. */
    lose,
  }
}

export type CoverageReader = ReturnType<typeof createCoverageReader>

export const createCoverageReader = (db: Db) => {
  const all = db.prepare<[], Covered>(
    'SELECT filter, first AS "from", last AS "to" FROM coverage JOIN scope ON id = scope ORDER BY filter, first',
  )
  const one = db.prepare<[number], LookedRow>('SELECT number, hash, parent FROM looked WHERE number = ?')
  const newest = db.prepare<[], LookedRow>('SELECT number, hash, parent FROM looked ORDER BY number DESC LIMIT 1')
  const children = db.prepare<[], Child>('SELECT factory, address, number FROM child ORDER BY number, address')
  return {
    /** By filter. */
    covered(): Map<string, Range[]> {
      const found = new Map<string, Range[]>()
      for (const { filter, from, to } of all.all()) found.set(filter, [...(found.get(filter) ?? []), { from, to }])
      return found
    },
    looked: (number: number): LookedHeader | undefined => lookedHeader(one.get(number)),
    /** The newest header that was looked at. */
    newest: (): LookedHeader | undefined => lookedHeader(newest.get()),
    children: (): Child[] => children.all(),
  }
}

interface LookedRow {
  number: number
  hash: Buffer
  parent: Buffer
}

const lookedHeader = (row: LookedRow | undefined): LookedHeader | undefined =>
  row && {
    number: row.number,
    hash: `0x${row.hash.toString('hex')}`,
    parentHash: `0x${row.parent.toString('hex')}`,
  }

const hashBytes = (hash: string): Buffer => Buffer.from(hash.slice(2), 'hex')
