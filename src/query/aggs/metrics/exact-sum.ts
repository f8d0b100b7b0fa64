/** A sum of integers of any size, without loss. */
export interface ExactSum {
  /** An integer that a double holds exactly. */
  add(value: number): void
  addBig(value: bigint): void
  merge(other: ExactSum): void
  total(): bigint
}

/** `total`: what a stored sum came to. */
export const createExactSum = (total = 0n): ExactSum => {
  let big = total
  // Small ones are added as doubles, as long as their sum is exact.
  let small = 0
  return {
    add(value) {
      const next = small + value
      if (Number.isSafeInteger(next)) small = next
      else {
        big += BigInt(small) + BigInt(value)
        small = 0
      }
    },
    addBig(value) {
      big += value
    },
    merge(other) {
      big += other.total()
    },
    total: () => big + BigInt(small),
  }
}
