/**
 * Where values lie, for percentiles and ranks. As long as there are at most twenty times `compression` distinct values all of
 * them are kept, and percentiles are Hazen's; beyond, neighbours are put together, the fewer the nearer they are to an end.
 */
export const createDigest = (compression: number) => {
  const most = Math.ceil(Math.min(Math.max(compression, 10), MOST_COMPRESSION) * 20)
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  /** Of each centroid, in order: its mean, its weight, and below zero for the weight where it stands for different values. */
  let [means, weights] = [new Float64Array(0), new Float64Array(0)]
  let size = 0
  let count = 0
  return {
    /** Adds different values, which ascend, each as often as its weight says. */
    add(values: Float64Array, moreWeights: Float64Array) {
      const more = values.length
      if (more === 0) return
      count = moreWeights.reduce((sum, weight) => sum + weight, count)
      min = Math.min(min, values[0]!)
      max = Math.max(max, values[more - 1]!)
      const toMeans = new Float64Array(size + more)
      const toWeights = new Float64Array(size + more)
      let to = 0
      for (let a = 0, b = 0; a < size || b < more; ) {
        const isOurs = b >= more || (a < size && means[a]! <= values[b]!)
        const mean = isOurs ? means[a]! : values[b]!
        const weight = isOurs ? weights[a++]! : moreWeights[b++]!
        // Equal values are one, unless one of the two stands for different values.
        if (to > 0 && toMeans[to - 1] === mean && weight > 0 && toWeights[to - 1]! > 0) toWeights[to - 1]! += weight
        else {
          toMeans[to] = mean
          toWeights[to++] = weight
        }
      }
      size = to > most ? compress(toMeans, toWeights, to, count, most) : to
      // What is short is kept in arrays of its size.
      means = size < toMeans.length / 2 ? toMeans.slice(0, size) : toMeans
      weights = size < toWeights.length / 2 ? toWeights.slice(0, size) : toWeights
    },
    /** The value below which a part (0 to 1) of the values lies; NaN where there are none. */
    quantile: (part: number): number => quantile(means, weights, size, { count, min, max }, part * count),
    /** The part (0 to 1) of the values that lies below a value; NaN where there are none. */
    rank: (value: number): number => rank(means, weights, size, count, value),
    centroids: () => ({ min, max, means: means.subarray(0, size), weights: weights.subarray(0, size) }),
    /** Memory that it takes. */
    bytes: () => means.byteLength + weights.byteLength,
  }
}

export type Digest = ReturnType<typeof createDigest>

/** Bounds the memory of one digest: some 500 kB. */
const MOST_COMPRESSION = 1000

/** Puts neighbours together in place, to at most half as many; returns how many there are then. */
const compress = (means: Float64Array, weights: Float64Array, size: number, count: number, most: number): number => {
  const perTurn = most / 4 / Math.PI
  const limitFrom = (part: number) => {
    const step = Math.asin(2 * part - 1) + 1 / perTurn
    return step >= Math.PI / 2 ? count : ((Math.sin(step) + 1) / 2) * count
  }
  let to = 0
  let before = 0
  let limit = limitFrom(0)
  for (let i = 1; i < size; i++) {
    const [weight, more] = [Math.abs(weights[to]!), Math.abs(weights[i]!)]
    if (before + weight + more <= limit) {
      means[to]! += ((means[i]! - means[to]!) * more) / (weight + more)
      weights[to] = -(weight + more)
      continue
    }
    before += weight
    limit = limitFrom(Math.min(1, before / count))
    to++
    means[to] = means[i]!
    weights[to] = weights[i]!
  }
  return to + 1
}

interface Ends {
  count: number
  min: number
  max: number
}

/** Equal values lie side by side, a centroid of different ones in its middle; between two of them the value grows evenly. */
const quantile = (means: Float64Array, weights: Float64Array, size: number, ends: Ends, index: number): number => {
  if (size === 0) return Number.NaN
  let [left, leftValue] = [0.5, ends.min]
  let before = 0
  for (let i = 0; i < size; i++) {
    const weight = Math.abs(weights[i]!)
    const half = weights[i]! > 0 ? 0.5 : weight / 2
    const [first, last] = [before + half, before + weight - half]
    if (index <= first) return between(left, index, first, leftValue, means[i]!)
    if (index <= last) return means[i]!
    ;[left, leftValue] = [last, means[i]!]
    before += weight
  }
  return between(left, index, ends.count - 0.5, leftValue, ends.max)
}

const between = (left: number, at: number, right: number, low: number, high: number): number => {
  if (at <= left) return low
  if (at >= right) return high
  return low * ((right - at) / (right - left)) + high * ((at - left) / (right - left))
}

/** As the t-digest tells it: each value covers half of the way to its neighbours; from the last but one's cover on, it is all. */
const rank = (means: Float64Array, weights: Float64Array, size: number, count: number, value: number): number => {
  if (size === 0) return Number.NaN
  if (size === 1) return value < means[0]! ? 0 : 1
  let before = 0
  let left = 0
  for (let i = 0; i < size; i++) {
    const [mean, weight] = [means[i]!, Math.abs(weights[i]!)]
    const right = i + 1 < size ? (means[i + 1]! - mean) / 2 : 0
    // The first covers as much to its left as to its right.
    if (i === 0) left = weight > 1 && weights[i]! > 0 ? 0 : right
    if (i === size - 1 && (weights[i]! < 0 || weight === 1)) return 1
    if (value < mean + right || (i === size - 1 && value < mean)) {
      return Math.min(1, Math.max(0, (before + covered(value, mean, weights[i]!, left, right)) / count))
    }
    before += weight
    left = right
  }
  return 1
}

/** How much of a centroid lies below a value: equal values cover nothing but the ways to the neighbours of both ends. */
const covered = (value: number, mean: number, weight: number, left: number, right: number): number => {
  const part = (from: number, to: number) => (to > from ? (value - from) / (to - from) : value < from ? 0 : 1)
  if (weight <= 1) return Math.abs(weight) * part(mean - left, mean + right)
  return value < mean ? part(mean - left, mean) : weight - 1 + part(mean, mean + right)
}
