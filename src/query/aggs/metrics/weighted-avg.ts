import { type Format, single } from './metric.ts'
import { addTo } from './moments.ts'

export interface WeightedMean {
  add(value: number, weight: number): void
  merge(other: WeightedMean): void
  result(format: Format): ReturnType<typeof single>
  /** Numbers of which `weightedMeanOf` makes the same again. */
  state(): Float64Array<ArrayBuffer>
}

export const createWeightedMean = (): WeightedMean => weightedMeanOf(new Float64Array(4))

export const weightedMeanOf = (state: Float64Array<ArrayBuffer>): WeightedMean => {
  const sums = state.slice()
  return {
    add(value, weight) {
      addTo(sums, VALUES, value * weight)
      addTo(sums, WEIGHTS, weight)
    },
    merge(other) {
      const more = other.state()
      addTo(sums, VALUES, more[VALUES]!)
      addTo(sums, WEIGHTS, more[WEIGHTS]!)
    },
    result: format => single('weighted_avg', sums[WEIGHTS] === 0 ? null : sums[VALUES]! / sums[WEIGHTS]!, format),
    state: () => sums.slice(),
  }
}

const [VALUES, WEIGHTS] = [0, 2] as const
