import { isMemorySmall } from '../lib/granted-memory.ts'
import { type Job, YOUNG_MB } from './messages.ts'

/** Memory of one of several networks that are indexed side by side. */
export interface NetworkMemory {
  /** Objects of the indexing thread that live shortly. */
  youngMb: number
  /** Pages of the store that its writer keeps, and its indexing thread. */
  writerCacheMb: number
  readerCacheMb: number
}

/** What all networks of a process take together, as long as each has the least that it needs. */
const ALL = { youngMb: 96, writerCacheMb: 256, readerCacheMb: 128 }
const MOST = { writerCacheMb: 128, readerCacheMb: 64 }
const LEAST = { youngMb: 6, writerCacheMb: 16, readerCacheMb: 8 }

/** Few networks have as much as one alone; of many each has its part. */
export const memoryOf = (job: Job['type'], networks: number, isSmall = isMemorySmall()): NetworkMemory => {
  if (isSmall) return LEAST
  const part = (what: keyof NetworkMemory, most: number) =>
    Math.min(most, Math.max(LEAST[what], Math.floor(ALL[what] / networks)))
  return {
    // What ends by itself runs alone.
    youngMb: job === 'follow' || job === 'watch' ? part('youngMb', YOUNG_MB[job]) : YOUNG_MB[job],
    writerCacheMb: part('writerCacheMb', MOST.writerCacheMb),
    readerCacheMb: part('readerCacheMb', MOST.readerCacheMb),
  }
}
