import { mergeRanges, type Range } from '../lib/ranges.ts'
import type { Db } from '../sqlite/database.ts'
import { createCoverageReader } from './coverage.ts'
import { logsBloomIn, parentHashIn } from './documents/records/block.ts'
import type { BlockLookups } from './port.ts'

/** Number and time, in epoch seconds, of the newest stored blocks, ascending. */
export const newestTimes = (
  db: { prepare(sql: string): { all(...values: unknown[]): unknown[] } },
  most: number,
): { number: number; time: number }[] => {
  const rows = db.prepare('SELECT number, time FROM block ORDER BY number DESC LIMIT ?').all(most)
  return (rows as { number: number; time: number }[]).reverse()
}

/** Epoch seconds of a stored block. */
export const timeOfBlock = (db: Pick<Db, 'prepare'>, number: number): number | undefined =>
  db.prepare<[number], number>('SELECT time FROM block WHERE number = ?').pluck().get(number)

/** The blocks of a store, of the state that the connection sees. */
export const createBlocks = (db: Db): BlockLookups => {
  const chainId = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'chain_id'").pluck()
  const hash = db.prepare<[number], Buffer>('SELECT hash FROM block WHERE number = ?').pluck()
  const record = db.prepare<[number], Buffer>('SELECT record FROM block WHERE number = ?').pluck()
  const floor = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'floor'").pluck()
  const segments = db.prepare<[], Range>(
    'SELECT first AS "from", last AS "to" FROM segment WHERE scoped = 0 ORDER BY first',
  )
  return {
    chainId: () => chainId.get(),
    hash(number) {
      const bytes = hash.get(number)
      return bytes && `0x${bytes.toString('hex')}`
    },
    parentHash(number) {
      const bytes = record.get(number)
      return bytes && parentHashIn(bytes, number)
    },
    bloom(number) {
      const bytes = record.get(number)
      return bytes && logsBloomIn(bytes, number)
    },
    ranges: () => mergeRanges(segments.all()),
    floor: () => floor.get() ?? 0,
  }
}

/** Hash of a stored block, or of a checked one that scopes did not store. */
export const knownHash = (db: Db, { hash }: Pick<BlockLookups, 'hash'>): BlockLookups['hash'] => {
  const { looked } = createCoverageReader(db)
  return number => hash(number) ?? looked(number)?.hash
}

/** Number of the newest block that is stored or checked for scopes; -1 if none. */
export const newestBlock = (db: Db): (() => number) => {
  const newest = db
    .prepare<[], number | null>(
      'SELECT max(n) FROM (SELECT max(last) AS n FROM segment UNION ALL SELECT max(number) FROM looked)',
    )
    .pluck()
  return () => newest.get() ?? -1
}

/** Keys of a store's hashes. They differ between stores, so they also identify the file. */
export const hashKeys = (db: Db): [number, number] =>
  db.prepare("SELECT value FROM meta WHERE key LIKE 'hash_key_%' ORDER BY key").pluck().all() as [number, number]
