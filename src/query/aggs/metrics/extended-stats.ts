import type { Metric } from '../result.ts'
import { type Format, named } from './metric.ts'
import type { Totals } from './moments.ts'
import { statMembers, statNumbers } from './stats.ts'

/** `sigma`: how many standard deviations the bounds lie from the mean. */
export const extendedStatsOf = (totals: Totals, sigma: number, format: Format, type = 'extended_stats'): Metric => {
  const { count, sum, sumOfSquares } = totals
  const spread = Math.max(0, sumOfSquares - (sum * sum) / count)
  const population = spread / count
  const sampling = spread / (count - 1)
  const [deviation, deviationSampling] = [Math.sqrt(population), Math.sqrt(sampling)]
  const bound = (by: number) => sum / count + by * sigma
  const spreads: [name: string, value: number][] = [
    ['sum_of_squares', sumOfSquares],
    ['variance', population],
    ['variance_population', population],
    ['variance_sampling', sampling],
    ['std_deviation', deviation],
    ['std_deviation_population', deviation],
    ['std_deviation_sampling', deviationSampling],
  ]
  const bounds: [name: string, value: number][] = [
    ['upper', bound(deviation)],
    ['lower', bound(-deviation)],
    ['upper_population', bound(deviation)],
    ['lower_population', bound(-deviation)],
    ['upper_sampling', bound(deviationSampling)],
    ['lower_sampling', bound(-deviationSampling)],
  ]
  const orNull = ([name, value]: [string, number]): [string, number | null] => [name, count === 0 ? null : value]
  const numbers = statNumbers(totals)
  const body = statMembers(numbers, format)
  body.push(...spreads.map(orNull), ['std_deviation_bounds', new Map(bounds.map(orNull))])
  if (format && count > 0) {
    for (const [name, value] of spreads) body.push([`${name}_as_string`, format(value)])
    body.push(['std_deviation_bounds_as_string', new Map(bounds.map(([name, value]) => [name, format(value)]))])
  }
  for (const [name, value] of spreads.map(orNull)) numbers.set(name, value)
  for (const [name, value] of bounds.map(orNull)) numbers.set(`std_${name}`, value)
  return { is: 'metric', type, body, number: named(numbers) }
}
