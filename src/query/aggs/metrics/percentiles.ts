import { javaDouble } from '../../numbers.ts'
import type { Format } from '../ast.ts'
import type { Member, Metric, Value } from '../result.ts'
import { named } from './numbers.ts'

/** `keyed`: as an object by percent, else as a list. */
interface PercentileOptions {
  keyed: boolean
  format: Format
  /** Whether texts in a list are named after the percent, as those of percentiles_bucket are. */
  namesTexts?: boolean
}

/** Percents, from 0 to 100. */
export const percentilesOf = (
  { quantile }: { quantile(part: number): number },
  percents: readonly number[],
  options: PercentileOptions,
): Metric => {
  const at = (percent: number) => quantile(percent / 100)
  return ofMany('tdigest_percentiles', percents, at, options)
}

/** The percents of the values that lie below some values. */
export const percentileRanksOf = (
  { rank }: { rank(value: number): number },
  values: readonly number[],
  options: PercentileOptions,
): Metric => {
  const at = (value: number) => rank(value) * 100
  return ofMany('tdigest_percentile_ranks', values, at, options)
}

const ofMany = (
  type: string,
  of: readonly number[],
  at: (one: number) => number,
  { keyed, format, namesTexts = false }: PercentileOptions,
): Metric => {
  const numbers = of.map((one): [number, number | null] => {
    const value = at(one)
    return [one, Number.isNaN(value) ? null : value]
  })
  return {
    is: 'metric',
    type,
    body: [['values', keyed ? asObject(numbers, format) : asList(numbers, format, namesTexts)]],
    number(rest) {
      if (rest === undefined || !/^-?\d+(?:\.\d+)?(?:[eE]-?\d+)?$/.test(rest)) return undefined
      const value = at(Number(rest))
      return Number.isNaN(value) ? null : value
    },
  }
}

const asObject = (numbers: readonly [number, number | null][], format: Format): Value =>
  new Map(
    numbers.flatMap(([one, value]): Member[] => {
      const name = javaDouble(one)
      const members: Member[] = [[name, value]]
      if (format && value !== null) members.push([`${name}_as_string`, format(value)])
      return members
    }),
  )

const asList = (numbers: readonly [number, number | null][], format: Format, namesTexts: boolean): Value =>
  numbers.map(
    ([key, value]): Value =>
      new Map<string, Value>([
        ['key', key],
        ['value', value],
        ...(format && value !== null
          ? [[namesTexts ? `${javaDouble(key)}_as_string` : 'value_as_string', format(value)] as const]
          : []),
      ]),
  )

/** Values in their order, and what percentiles tell of them. */
interface Quartiles {
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
