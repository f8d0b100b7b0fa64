import type { Db } from '../sqlite/database.ts'
import type { WindowEntry } from '../windows/entries.ts'
import type { WindowBlock } from '../windows/window.ts'

/** What a rule of the target `State` with `when` read at a block. */
export interface ReadingRows extends WindowBlock {
  rule: number
  /** `revision` of the rule that it was read for. */
  revision: number
  hash: string
  receivedAt: number
  entries: WindowEntry[]
}

type DecidedBlock = WindowBlock & { hash: string; entries?: WindowEntry[] }

/**
 * Stored blocks that a rule can decide: up to the one before the next that it reads, which is
 * divisible by `every`. `upto`: the last one that was decided; undefined before the first reading.
 */
export const createReadingBlocks = (db: Db) => {
  const at = db.prepare<[number], { hash: Buffer; time: number }>('SELECT hash, time FROM block WHERE number = ?')

  const neighbours = function* (from: number, to: number): Generator<DecidedBlock> {
    for (let number = from; number <= to; number++) {
      const found = at.get(number)
      if (found === undefined) return
      yield { number, time: found.time, hash: `0x${found.hash.toString('hex')}` }
    }
  }

  return function* (
    every: number,
    upto: number | undefined,
    reading: ReadingRows | undefined,
  ): Generator<DecidedBlock> {
    const beforeNext = (number: number) => Math.ceil((number + 1) / every) * every - 1
    if (upto !== undefined)
      yield* neighbours(upto + 1, Math.min(beforeNext(upto), (reading?.number ?? Number.POSITIVE_INFINITY) - 1))
    if (reading === undefined || reading.number <= (upto ?? -1)) return
    const { number, time, hash, entries } = reading
    yield { number, time, hash, entries }
    yield* neighbours(number + 1, beforeNext(number))
  }
}
