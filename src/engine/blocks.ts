import { merged, type Range } from '../lib/ranges.ts'
import type { Db } from '../sqlite/database.ts'
import type { Blocks } from './port.ts'
import { positionOf } from './schema.ts'

/** The blocks of a store, of the state that the connection sees. */
export const createBlocks = (db: Db): Blocks => {
  const chainId = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'chain_id'").pluck()
  const hash = db.prepare<[number], Buffer>('SELECT hash FROM block WHERE pos = ?').pluck()
  const parentHash = db.prepare<[number], Buffer>('SELECT parentHash FROM block WHERE pos = ?').pluck()
  const segments = db.prepare<[], Range>('SELECT first AS "from", last AS "to" FROM segment ORDER BY first')
  return {
    chainId: () => chainId.get(),
    hash: number => hexOf(hash.get(positionOf(number, 0))),
    parentHash: number => hexOf(parentHash.get(positionOf(number, 0))),
    ranges: () => merged(segments.all()),
  }
}

/** Number of the newest stored block, -1 where there is none. */
export const newestBlock = (db: Db): (() => number) => {
  const newest = db.prepare<[], number | null>('SELECT max(last) FROM segment').pluck()
  return () => newest.get() ?? -1
}

/** The keys that a store's hashes are made with. Each store has its own, so that they tell one file from another. */
export const hashKeys = (db: Db): [number, number] =>
  db.prepare("SELECT value FROM meta WHERE key LIKE 'hash_key_%' ORDER BY key").pluck().all() as [number, number]

const hexOf = (bytes: Buffer | undefined): string | undefined => bytes && `0x${bytes.toString('hex')}`
