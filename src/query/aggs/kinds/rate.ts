import { CALENDAR_UNITS, type CalendarUnit } from '../../dates/calendar.ts'
import type { Rounding } from '../../dates/rounding.ts'
import { type JsonNode, toText, unexpected } from '../../json-node.ts'
import { nodeKey, optionalKey } from '../../keys.ts'
import { formatOfValues, readFieldValues } from '../fields.ts'
import { numberWriterOf } from '../number-format.ts'
import { aggregation, illegal, nameKey, scriptKey } from './kind.ts'

const RATE_MODES = ['sum', 'value_count'] as const
const EXPECTED_MODE = '"sum" or "value_count"'

export const rateKind = aggregation({
  doc: 'Inside a `date_histogram`: the documents of each bucket, or with `field` the sum of a number, per `unit` of time (second to year; by default the interval). `mode` may be `value_count`. Months, quarters and years are divided by each other, or by their days.',
  example: { unit: 'hour' },
  gives: 'number',
  keys: {
    ...{ field: nameKey, missing: nodeKey, format: nameKey, script: scriptKey },
    unit: optionalKey(at => {
      const unit = CALENDAR_UNITS.get(toText(at, EXPECTED_UNIT))
      if (unit === undefined) throw unexpected(at, EXPECTED_UNIT)
      return { at, unit }
    }),
    mode: optionalKey(at => {
      const mode = RATE_MODES.find(mode => mode === toText(at, EXPECTED_MODE))
      if (mode === undefined) throw unexpected(at, EXPECTED_MODE)
      return mode
    }),
  },
  spec({ unit, mode, ...keys }, body) {
    const { place, at } = body
    if (at.rounding === undefined)
      throw illegal(
        place,
        'The rate aggregation can only be used inside a date_histogram. Put it there, or use sum or value_count.',
      )
    if (mode !== undefined && keys.field === undefined)
      throw illegal(place, 'The mode parameter is only supported when field is set.')
    const values = keys.field && readFieldValues(mode === 'value_count' ? 'any' : 'numeric', keys, body)
    const { format } = keys
    return {
      ...{ kind: 'rate', values, counts: mode === 'value_count' },
      ...(unit ? unitsIn(at.rounding, unit.unit, unit.at) : EVEN),
      format: values
        ? formatOfValues(values, keys, body)
        : format && numberWriterOf(format, toText(format, 'a format of numbers')),
    }
  },
})

const EXPECTED_UNIT = `a unit of time: ${[...new Set([...CALENDAR_UNITS.values()].map(({ name }) => name))].join(', ')}`

interface UnitsInBuckets {
  isEven: boolean
  unitsFrom(start: number): number
}

const EVEN: UnitsInBuckets = { isEven: true, unitsFrom: () => 1 }

/** As Elasticsearch, which does not divide days into months. */
const unitsIn = ({ of: { interval }, next }: Rounding, unit: CalendarUnit, at: JsonNode): UnitsInBuckets => {
  const months = MONTHS[unit.name]
  const length = typeof interval === 'number' ? interval : interval.least
  const inBucket = typeof interval === 'number' ? undefined : MONTHS[interval.name]
  if (months === undefined && inBucket === undefined) return { isEven: true, unitsFrom: () => length / unit.least }
  if (months === undefined) return { isEven: false, unitsFrom: start => (next(start) - start) / unit.least }
  if (inBucket !== undefined) return { isEven: true, unitsFrom: () => inBucket / months }
  throw illegal(
    at,
    `Cannot use month-based rate unit [${unit.name}] with a histogram whose interval is no month, quarter or year: only week, day, hour, minute and second are supported for this histogram.`,
  )
}

const MONTHS: { [name in CalendarUnit['name']]?: number } = { month: 1, quarter: 3, year: 12 }
