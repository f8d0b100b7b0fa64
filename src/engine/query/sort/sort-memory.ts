import { retry } from '../../../lib/errors.ts'
import type { Range } from '../../../lib/ranges.ts'
import { type Limits, overLimit } from '../../../limits/index.ts'
import { KINDS } from '../../../mapping/index.ts'
import { blockOf } from '../../schema.ts'
import type { SearchMatch } from '../search-match.ts'

/** Bytes taken by matches during a search. */
export type Scale = ReturnType<typeof createScale>

/** Bytes of a match with its list of keys, and of each key except texts and large numbers. */
const FOUND_BYTES = 100
const KEY_BYTES = 16
const TEXT_BYTES = 24

export const createScale = (limits: Limits) => {
  let held = 0
  return {
    /** Throws if the total exceeds the limit. */
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

/** Compact sorted hits without sort keys, since a slow client may keep an answer open for long. */
export type HeldHits = ReturnType<typeof hold>

export const hold = (found: readonly SearchMatch[]) => {
  const positions = Float64Array.from(found, ({ position }) => position)
  const kinds = Uint8Array.from(found, ({ kind }) => KINDS.indexOf(kind))
  return {
    length: found.length,
    /** A range of hits, half-open. */
    slice: (from: number, to: number): SearchMatch[] =>
      Array.from(positions.subarray(from, to), (position, i) => ({
        kind: KINDS[kinds[from + i]!]!,
        position,
        keys: [],
      })),
    /** Whether a hit from this index on is in these blocks. */
    isIn: (blocks: Range, from: number): boolean =>
      positions.subarray(from).some(one => blockOf(one) >= blocks.from && blockOf(one) <= blocks.to),
    /** Index after a hit. */
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
