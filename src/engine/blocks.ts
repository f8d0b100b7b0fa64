import type { Db } from '../sqlite/database.ts'
import { parentHashIn } from './documents/records/block.ts'

/** What the blocks of a store are linked by, of the state that the connection sees: hashes as `0x` hex. */
export interface Blocks {
  hash(number: number): string | undefined
  parentHash(number: number): string | undefined
}

export const createBlocks = (db: Db): Blocks => {
  const hash = db.prepare<[number], Buffer>('SELECT hash FROM block WHERE number = ?').pluck()
  const record = db.prepare<[number], Buffer>('SELECT record FROM block WHERE number = ?').pluck()
  return {
    hash(number) {
      const bytes = hash.get(number)
      return bytes && `0x${bytes.toString('hex')}`
    },
    parentHash(number) {
      const bytes = record.get(number)
      return bytes && parentHashIn(bytes, number)
    },
  }
}
