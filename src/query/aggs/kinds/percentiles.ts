import { refuse } from '../../../lib/errors.ts'
import { boolean, elements, type JsonNode, known, unexpected, where } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { count, number } from '../options.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

const quantiles = (kind: 'percentiles' | 'percentile_ranks', doc: string, example: object): AggregationKind => ({
  doc,
  example,
  on: 'tx',
  buckets: false,
  read(place, scope) {
    const member = kind === 'percentiles' ? 'percents' : 'values'
    const keys = known(place, 'an object such as {"field": "gasUsed.num"}', KEYS, [])
    const other = kind === 'percentiles' ? keys.values : keys.percents
    if (other) throw unexpected(other, `[${member}]`)
    if (keys.script) throw scripts(keys.script)
    const given = keys[member]
    const of = given === undefined ? DEFAULT : elements(given).map(readDouble)
    if ((given === undefined && kind === 'percentile_ranks') || of.length === 0)
      throw unexpected(given ?? place, `a list of [${member}]`)
    if (kind === 'percentiles') for (const percent of of) checkPercent(percent, given!)
    const values = readValues(place, keys, scope, 'numeric')
    return {
      kind,
      values,
      of: of.toSorted((a, b) => a - b),
      keyed: keys.keyed === undefined || boolean(keys.keyed),
      compression: compressionOf(keys.tdigest),
      hdrDigits: keys.hdr && digitsOf(keys.hdr),
      format: formatOf(scope, place, values, keys),
    }
  },
})

const checkPercent = (percent: number, place: JsonNode) => {
  if (percent >= 0 && percent <= 100) return
  throw refuse('illegal_argument_exception', `${where(place)}: percent must be in [0,100], got [${percent}]`)
}

const compressionOf = (place: JsonNode | undefined): number => {
  const given = place && number(known(place, 'an object with [compression]', ['compression'], []).compression)
  if (given !== undefined && given < 0) throw unexpected(place!, 'a [compression] from 0 on')
  return given ?? 100
}

const digitsOf = (place: JsonNode): number => {
  const { number_of_significant_value_digits: digits } = known(
    place,
    'an object with [number_of_significant_value_digits]',
    ['number_of_significant_value_digits'],
    [],
  )
  const value = count(digits, 0, 3)
  if (value > 5) throw unexpected(digits!, 'a number from 0 to 5')
  return value
}

const KEYS = ['field', 'missing', 'format', 'keyed', 'percents', 'values', 'tdigest', 'hdr', 'script'] as const
const DEFAULT = [1, 5, 25, 50, 75, 95, 99]

export const percentiles = quantiles('percentiles', 'The values at given percentiles. They are exact.', {
  field: 'gasUsed.num',
  percents: [50, 95],
})
export const percentileRanks = quantiles('percentile_ranks', 'The percentage of values at or below given ones.', {
  field: 'gasUsed.num',
  values: [21_000],
})
