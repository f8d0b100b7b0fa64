import type { Rows } from './group.ts'
import { inOrder, mergeRows, type Part, upTo } from './merging.ts'

/** What stands for the values of each bucket once there are too many to keep. */
interface Sketches {
  add(owner: number, values: Float64Array<ArrayBuffer>, counts: Float64Array): void
  /** Values of a bucket from which on its sketch is smaller. */
  least: number
  bytes(): number
}

/** Bytes of a value with its count and its bucket above. */
export const ROW_BYTES = 20

/** Values of buckets as they come; equal ones become one when they take more than `most` bytes, and sketches when that does not help. */
export const createValueStore = <P extends Part>(sketches: Sketches, most: number, check: () => void) => {
  let waiting: (P | Part)[] | undefined = []
  let bytes = 0
  let room = most

  const sketch = (part: Part) => {
    const { starts, keys, counts } = inOrder([part], check)
    for (let owner = 0; owner + 1 < starts.length; owner++) {
      const [from, to] = [starts[owner]!, starts[owner + 1]!]
      if (from < to) sketches.add(owner, keys.slice(from, to), counts.slice(from, to))
    }
  }

  const shorten = (parts: readonly Part[]) => {
    const { starts, keys, counts } = mergeRows(parts, check)
    const above = starts.length - 1
    const rows: Rows = { owners: ownersOf(starts), keys: keys.slice(), counts: counts.slice() }
    bytes = keys.length * ROW_BYTES
    if (bytes > most && keys.length >= above * sketches.least) {
      sketch({ rows, owners: upTo(above) })
      waiting = undefined
      bytes = 0
    } else {
      waiting = [{ rows, owners: upTo(above) }]
      room = Math.max(most, 2 * bytes)
    }
  }

  return {
    add(part: P, size: number) {
      if (!waiting) return sketch(part)
      waiting.push(part)
      bytes += size
      if (bytes > room) shorten(waiting)
    },
    /** All that was added, once; undefined where it is in the sketches. */
    take(): (P | Part)[] | undefined {
      const all = waiting
      if (waiting) waiting = []
      return all
    },
    bytes: () => bytes + sketches.bytes(),
  }
}

/** The owner of each row, from where the rows of each begin. */
const ownersOf = (starts: Uint32Array): Uint32Array => {
  const owners = new Uint32Array(starts.at(-1)!)
  for (let owner = 0; owner + 1 < starts.length; owner++) owners.fill(owner, starts[owner], starts[owner + 1])
  return owners
}
