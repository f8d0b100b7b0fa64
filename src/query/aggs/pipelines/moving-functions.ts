import { refuse } from '../../../lib/errors.ts'

/** Functions over the numbers in a window, the oldest first: those of `MovingFunctions` in Elasticsearch. NaN where they find nothing. */
export type MovingFunction = (values: readonly number[]) => number

const sum = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

const unweightedAvg: MovingFunction = values => (values.length === 0 ? Number.NaN : sum(values) / values.length)

const linearWeightedAvg: MovingFunction = values => {
  let total = 0
  // Elasticsearch counts one more than the weights add up to.
  let weights = 1
  for (const [i, value] of values.entries()) {
    total += value * (i + 1)
    weights += i + 1
  }
  return values.length === 0 ? Number.NaN : total / weights
}

const stdDev: MovingFunction = values => {
  const mean = unweightedAvg(values)
  return Math.sqrt(sum(values.map(value => (value - mean) ** 2)) / values.length)
}

const ewma =
  (alpha: number): MovingFunction =>
  values => {
    let average = Number.NaN
    for (const [i, value] of values.entries()) average = i === 0 ? value : value * alpha + average * (1 - alpha)
    return average
  }

const holt =
  (alpha: number, beta: number): MovingFunction =>
  values => {
    let [level, trend] = [Number.NaN, 0]
    for (const [i, value] of values.entries()) {
      const last = level
      level = i === 0 ? value : alpha * value + (1 - alpha) * (last + trend)
      if (i > 0) trend = beta * (level - last) + (1 - beta) * trend
    }
    return level
  }

interface Seasons {
  alpha: number
  beta: number
  gamma: number
  /** How many numbers make a season. */
  period: number
  multiplicative: boolean
  /** Where it stands in the request, for the refusal of too few numbers. */
  at: string
}

/** Keeps a multiplicative season from dividing by zero. */
const PADDING = 0.0000000001

const holtWinters =
  ({ alpha, beta, gamma, period, multiplicative, at }: Seasons): MovingFunction =>
  values => {
    if (values.length < 2 * period) {
      throw refuse(
        'illegal_argument_exception',
        `${at}: Holt-Winters aggregation requires at least (2 * period == 2 * ${period} == ${2 * period}) data-points to function. Only [${values.length}] were provided. Widen the window, or use another function.`,
      )
    }
    const padded = values.map(value => value + (multiplicative ? PADDING : 0))
    const first = sum(padded.slice(0, period)) / period
    // Elasticsearch finds out the trend of the first season and does not use it.
    let [level, trend] = [first, 0]
    const seasonal = padded.map((value, i) => (i < period && first !== 0 ? value / first : 0))
    for (let i = period; i < padded.length; i++) {
      const [value, season] = [padded[i]!, seasonal[i - period]!]
      const [lastLevel, lastTrend] = [level, trend]
      const expected = lastLevel + lastTrend
      level = alpha * (multiplicative ? value / season : value - season) + (1 - alpha) * expected
      trend = beta * (level - lastLevel) + (1 - beta) * lastTrend
      const found = multiplicative ? value / expected : value - (lastLevel - lastTrend)
      seasonal[i] = gamma * found + (1 - gamma) * season
    }
    const season = seasonal[padded.length - period]!
    return multiplicative ? (level + trend) * season : level + trend + season
  }

export const MOVING = { sum, unweightedAvg, linearWeightedAvg, stdDev, ewma, holt, holtWinters }

export const extremeOf =
  (pick: (a: number, b: number) => number): MovingFunction =>
  values =>
    values.length === 0 ? Number.NaN : values.reduce((a, b) => pick(a, b))
