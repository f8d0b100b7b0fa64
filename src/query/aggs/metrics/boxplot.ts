import type { Member, Metric } from '../result.ts'
import { type Format, named } from './metric.ts'

/** Values in their order, and what percentiles tell of them. */
export interface Quartiles {
  values: ArrayLike<number>
  quantile(part: number): number
}

/** The whiskers reach to the furthest values within one and a half of the box's height. */
export const boxplotOf = ({ values, quantile }: Quartiles, format: Format): Metric => {
  const isEmpty = values.length === 0
  const [q1, q2, q3] = [quantile(0.25), quantile(0.5), quantile(0.75)] as const
  const reach = 1.5 * (q3 - q1)
  const numbers: [name: string, value: number][] = [
    ['min', isEmpty ? Number.POSITIVE_INFINITY : values[0]!],
    ['max', isEmpty ? Number.NEGATIVE_INFINITY : values[values.length - 1]!],
    ['q1', q1],
    ['q2', q2],
    ['q3', q3],
    ['lower', first(values, value => value >= q1 - reach)],
    ['upper', last(values, value => value <= q3 + reach)],
  ]
  const texts = format ? numbers.map(([name, value]): Member => [`${name}_as_string`, format(value)]) : []
  return {
    is: 'metric',
    type: 'boxplot',
    body: [...numbers, ...texts],
    number: named(new Map(numbers.map(([name, value]) => [name, Number.isFinite(value) ? value : null]))),
  }
}

const first = (values: ArrayLike<number>, holds: (value: number) => boolean): number => {
  for (let i = 0; i < values.length; i++) if (holds(values[i]!)) return values[i]!
  return Number.NaN
}

const last = (values: ArrayLike<number>, holds: (value: number) => boolean): number => {
  for (let i = values.length - 1; i >= 0; i--) if (holds(values[i]!)) return values[i]!
  return Number.NaN
}
