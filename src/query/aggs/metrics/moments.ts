/** What simple metrics follow from. Of nothing, `min` is infinite and `max` minus infinite. */
export interface Totals {
  count: number
  sum: number
  sumOfSquares: number
  min: number
  max: number
}

export interface Moments {
  add(value: number): void
  /** Adds the values from `start` up to `end`. */
  addMany(values: ArrayLike<number>, start?: number, end?: number): void
  merge(other: Moments): void
  totals(): Totals
  /** Numbers of which `momentsOf` makes the same again: they may be stored. */
  state(): Float64Array<ArrayBuffer>
}

/** Sums are compensated as Elasticsearch compensates them (Kahan), so that they do not depend much on the order. */
export const createMoments = (): Moments =>
  momentsOf(Float64Array.of(0, 0, 0, 0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY))

export const momentsOf = (state: Float64Array<ArrayBuffer>): Moments => {
  const values = state.slice()
  const add = (value: number) => {
    values[COUNT]!++
    addTo(values, SUM, value)
    addTo(values, SQUARES, value * value)
    if (value < values[MIN]!) values[MIN] = value
    if (value > values[MAX]!) values[MAX] = value
  }
  return {
    add,
    addMany(values, start = 0, end = values.length) {
      for (let i = start; i < end; i++) add(values[i]!)
    },
    merge(other) {
      const more = other.state()
      values[COUNT]! += more[COUNT]!
      for (const at of [SUM, SQUARES]) {
        addTo(values, at, more[at]!)
        values[at + 1]! += more[at + 1]!
      }
      values[MIN] = Math.min(values[MIN]!, more[MIN]!)
      values[MAX] = Math.max(values[MAX]!, more[MAX]!)
    },
    totals: () => ({
      count: values[COUNT]!,
      sum: values[SUM]!,
      sumOfSquares: values[SQUARES]!,
      min: values[MIN]!,
      max: values[MAX]!,
    }),
    state: () => values.slice(),
  }
}

const [COUNT, SUM, SQUARES, MIN, MAX] = [0, 1, 3, 5, 6] as const

/** Adds to a sum at a place of an array, behind which its compensation stands. */
export const addTo = (sums: Float64Array, at: number, value: number): void => {
  const sum = sums[at]!
  if (!Number.isFinite(value) || !Number.isFinite(sum)) {
    sums[at] = sum + value
    return
  }
  const corrected = value + sums[at + 1]!
  const next = sum + corrected
  sums[at + 1] = corrected - (next - sum)
  sums[at] = next
}
