import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, named, string, where } from '../../json-node.ts'
import { DAY, SECOND } from '../../time-zone.ts'
import { CALENDAR_UNITS, type CalendarUnit } from '../calendar.ts'
import { lengthOf } from '../intervals.ts'
import type { Member, Metric } from '../result.ts'
import { alongHistogram } from './inside.ts'
import { simpleValue } from './pipeline.ts'

export const derivative = alongHistogram(
  'The difference to the previous bucket; with `unit`, also per unit of time.',
  ['unit', 'gap_policy'],
  ({ unit }, format) => {
    const length = unit && unitOf(unit)
    return () => {
      let [last, lastKey]: [number | undefined, number] = [undefined, 0]
      return (value, { number = 0 }) => {
        const before = last
        const units = length === undefined ? undefined : (number - lastKey) / length
        ;[last, lastKey] = [value, number]
        if (before === undefined || value === undefined) return undefined
        const found = simpleValue(value - before, format, 'derivative')
        return units === undefined ? found : normalized(found, simpleValue((value - before) / units, format))
      }
    }
  },
  { unit: '1h' },
)

const normalized = (found: Metric, perUnit: Metric): Metric => ({
  ...found,
  body: [...found.body, ...perUnit.body.map(([name, value]): Member => [`normalized_${name}`, value])],
  number: rest => (rest === 'normalized_value' ? perUnit.number(undefined) : found.number(rest)),
})

const unitOf = (place: JsonNode): number => {
  const text = string(place, 'a unit, such as "1h"')
  const calendar = CALENDAR_UNITS.get(text)
  const length = calendar ? (MEAN[calendar.name] ?? calendar.least) : lengthOf(text)
  if (length !== undefined && length > 0) return length
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: failed to parse ${named(text)} as a time value. Write a length such as "90m" or a unit of the calendar such as "day".`,
  )
}

/** A mean year has 365.2425 days. */
const YEAR = 365.2425 * DAY
const MEAN: Partial<Record<CalendarUnit['name'], number>> = {
  month: YEAR / 12,
  quarter: YEAR / 4,
  year: YEAR,
  second: SECOND,
}
