import { mergeRows, type Part, rowsOf, upTo, type ValuesByBucket } from './merging.ts'

interface Limits {
  /** Bytes up to which all values are kept. */
  most: number
  /** ValuesByBucket of a bucket, in the mean, from which on it pays to keep them in another way. */
  least: number
  check(): void
}

/** Bytes of a value with its count and its bucket above. */
export const ROW_BYTES = 20

/**
 * Keeps values of buckets as they come. Equal ones become one when all take more than `most` bytes; where that is not enough,
 * `shorten` gives fewer values in place of all, or keeps them itself.
 */
export const createValueStore = <P extends Part>(
  shorten: (all: ValuesByBucket) => ValuesByBucket | undefined,
  { most, least, check }: Limits,
) => {
  let waiting: (P | Part)[] = []
  let bytes = 0
  let room = most

  const join = () => {
    let all: ValuesByBucket | undefined = mergeRows(waiting, check)
    if (all.keys.length * ROW_BYTES > most && all.keys.length >= (all.starts.length - 1) * least) all = shorten(all)
    waiting = all ? [{ rows: rowsOf(all), owners: upTo(all.starts.length - 1) }] : []
    bytes = all ? all.keys.length * ROW_BYTES : 0
    room = Math.max(most, 2 * bytes)
  }

  return {
    add(part: P, size: number) {
      waiting.push(part)
      bytes += size
      if (bytes > room) join()
    },
    /** All that is left. */
    all: (): readonly (P | Part)[] => waiting,
    clear() {
      waiting = []
    },
    bytes: () => bytes,
  }
}
