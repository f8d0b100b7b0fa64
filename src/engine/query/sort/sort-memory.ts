import { retry } from '../../../lib/errors.ts'
import type { Range } from '../../../lib/ranges.ts'
import { type Limits, overLimit } from '../../../limits/index.ts'
import { KINDS } from '../../../mapping/index.ts'
import { blockOf } from '../../schema.ts'
import type { SearchMatch } from '../search-match.ts'

/** Memory of matches on their way to become hits. */
export type Scale = ReturnType<typeof createScale>

/** A match with its list of keys, and each key beside what a text or a large number takes. */
const FOUND_BYTES = 100
const KEY_BYTES = 16
const TEXT_BYTES = 24

export const createScale = (limits: Limits) => {
  let held = 0
  return {
    /** Refuses what makes it too much. */
    add(found: readonly SearchMatch[]): void {
      held += found.length * (FOUND_BYTES + (found[0]?.keys.length ?? 0) * KEY_BYTES)
      for (const { keys } of found)
        for (const key of keys)
          if (typeof key === 'string' || typeof key === 'bigint' || Buffer.isBuffer(key))
            held += TEXT_BYTES + (typeof key === 'bigint' ? 8 : key.length)
      if (held > limits.queryMemory) throw overLimit('queryMemory', limits)
    },
    clear(): void {
      held = 0
    },
  }
}

/** Hits in the order that was asked for, without what they were sorted by: an answer may be held for as long as its client reads it. */
export type HeldHits = ReturnType<typeof hold>

export const hold = (found: readonly SearchMatch[]) => {
  const positions = Float64Array.from(found, ({ position }) => position)
  const kinds = Uint8Array.from(found, ({ kind }) => KINDS.indexOf(kind))
  return {
    length: found.length,
    /** From one place up to another. */
    slice: (from: number, to: number): SearchMatch[] =>
      Array.from(positions.subarray(from, to), (position, i) => ({
        kind: KINDS[kinds[from + i]!]!,
        position,
        keys: [],
      })),
    /** Whether one of them, from a place on, is in these blocks. */
    isIn: (blocks: Range, from: number): boolean =>
      positions.subarray(from).some(one => blockOf(one) >= blocks.from && blockOf(one) <= blocks.to),
    /** The place behind a hit. */
    behind({ kind, position }: SearchMatch): number {
      const number = KINDS.indexOf(kind)
      const place = positions.findIndex((other, i) => other === position && kinds[i] === number)
      if (place >= 0) return place + 1
      throw retry(
        'search_phase_execution_exception',
        'the last hit of the answer is no longer in the chain, so the answer cannot continue: search again',
      )
    },
  }
}
