import { javaDouble } from '../java-double.ts'
import type { Member, Metric, Value } from '../result.ts'
import type { Digest } from './digest.ts'
import type { Format } from './metric.ts'

/** `keyed`: as an object by percent, else as a list. */
export interface PercentileOptions {
  keyed: boolean
  format: Format
  /** Whether texts in a list are named after the percent, as those of percentiles_bucket are. */
  namesTexts?: boolean
}

/** Percents, from 0 to 100. */
export const percentilesOf = (
  digest: Pick<Digest, 'quantile'>,
  percents: readonly number[],
  options: PercentileOptions,
): Metric => {
  const at = (percent: number) => digest.quantile(percent / 100)
  return ofMany('tdigest_percentiles', percents, at, options)
}

/** The percents of the values that lie below some values. */
export const percentileRanksOf = (
  digest: Pick<Digest, 'rank'>,
  values: readonly number[],
  options: PercentileOptions,
): Metric => {
  const at = (value: number) => digest.rank(value) * 100
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
