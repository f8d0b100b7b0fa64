import type { Format, SpecOf } from './ast.ts'
import type { Member, Metric, Value } from './result.ts'

/** What simple metrics follow from. */
export interface Summary {
  count: number
  sum: number
  least: number
  greatest: number
  /** Sum of squares, where it is asked for. */
  squares: number
}

interface Options {
  format: Format | undefined
}

const single = (type: string, value: number | null, { format }: Options): Metric => ({
  is: 'metric',
  type,
  body: [['value', value], ...(format && value !== null ? [['value_as_string', format(value)] as Member] : [])],
  number: rest => (rest === undefined || rest === 'value' ? value : undefined),
})

const some = (count: number, value: number): number | null => (count === 0 ? null : value)

/** Writes each. */
export const summaries = {
  avg: ({ count, sum }: Summary, options: Options) => single('avg', some(count, sum / count), options),
  sum: ({ sum }: Summary, options: Options) => single('sum', sum, options),
  min: ({ count, least }: Summary, options: Options) => single('min', some(count, least), options),
  max: ({ count, greatest }: Summary, options: Options) => single('max', some(count, greatest), options),
  stats: (summary: Summary, options: Options): Metric => {
    const members = statsMembers(summary)
    return {
      is: 'metric',
      type: 'stats',
      body: [...members, ...(summary.count > 0 ? texts(members.slice(1), options.format) : [])],
      number: numberAmong(members),
    }
  },
  extended_stats: (summary: Summary, options: Pick<SpecOf<'extended_stats'>, 'format' | 'sigma'>): Metric =>
    extendedStats(summary, options),
}

const statsMembers = ({ count, sum, least, greatest }: Summary): Member[] => [
  ['count', BigInt(count)],
  ['min', some(count, least)],
  ['max', some(count, greatest)],
  ['avg', some(count, sum / count)],
  ['sum', sum],
]

const texts = (members: readonly Member[], format: Format | undefined): Member[] =>
  format ? members.map(([name, value]): Member => [`${name}_as_string`, shown(format(Number(value)))]) : []

/** Here, and only here, Elasticsearch writes a boolean as one. */
const shown = (text: string): Value => (text === 'true' ? true : text === 'false' ? false : text)

const numberAmong =
  (members: readonly (readonly [string, Value | number])[]) =>
  (rest: string | undefined): number | null | undefined => {
    const found = members.find(([name]) => name === rest)
    return found && (found[1] === null ? null : Number(found[1]))
  }

const extendedStats = (
  summary: Summary,
  { format, sigma }: Pick<SpecOf<'extended_stats'>, 'format' | 'sigma'>,
): Metric => {
  const { count, sum, squares } = summary
  const population = Math.max(0, (squares - (sum * sum) / count) / count)
  const sampling = count === 1 ? Number.NaN : Math.max(0, (squares - (sum * sum) / count) / (count - 1))
  const avg = sum / count
  const [deviation, deviationSampling] = [Math.sqrt(population), Math.sqrt(sampling)]
  const bounds: [string, number][] = [
    ['upper', avg + deviation * sigma],
    ['lower', avg - deviation * sigma],
    ['upper_population', avg + deviation * sigma],
    ['lower_population', avg - deviation * sigma],
    ['upper_sampling', avg + deviationSampling * sigma],
    ['lower_sampling', avg - deviationSampling * sigma],
  ]
  const more: [string, number][] = [
    ['sum_of_squares', squares],
    ['variance', population],
    ['variance_population', population],
    ['variance_sampling', sampling],
    ['std_deviation', deviation],
    ['std_deviation_population', deviation],
    ['std_deviation_sampling', deviationSampling],
  ]
  const orNull = ([name, value]: [string, number]): Member => [name, count === 0 ? null : value]
  const members: Member[] = [...statsMembers(summary), ...more.map(orNull)]
  const named = new Map(bounds.map(orNull) as [string, Value][])
  const number = numberAmong([
    ...members,
    ...bounds.map(([name, value]) => [`std_${name}`, count === 0 ? null : value] as const),
  ] as (readonly [string, Value])[])
  const body: Member[] = [...members, ['std_deviation_bounds', named]]
  if (format && count > 0) {
    body.push(...texts(members.slice(1), format))
    body.push(['std_deviation_bounds_as_string', new Map(bounds.map(([name, value]) => [name, format(value)]))])
  }
  return { is: 'metric', type: 'extended_stats', body, number }
}
