import type { FieldPath } from '../../mapping/index.ts'
import { UTC, type Zone, zoneOf } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import { type JsonNode, string } from '../json-node.ts'
import type { Format, Values } from './ast.ts'
import type { AggregationScope, Body } from './kinds/kind.ts'
import { numberWriterOf } from './number-text.ts'

/** How values of a field are written beside their number; undefined where they are not. */
export const formatOf = (
  values: Pick<Values, 'fields' | 'type'>,
  given: { format?: JsonNode | undefined; time_zone?: JsonNode | undefined },
  { place, scope }: Pick<Body, 'place' | 'scope'>,
): Format => {
  const { format } = given
  if (format && typeof format.value === 'string') scope.budget.name(format.value, format)
  switch (values.type) {
    case 'date': {
      const text = format ? string(format, 'a date format') : formatOfField(firstOf(values.fields))
      const write = dateWriterOf(format ?? place, text, zoneIn(given.time_zone, scope))
      return value =>
        Math.abs(value) < FURTHEST ? write(value) : (BEYOND.get(text) ?? '+292278994-08-17T07:12:55.807Z')
    }
    case 'boolean':
      return value => (value === 0 ? 'false' : 'true')
    case 'keyword':
      return undefined
    default:
      return format && numberWriterOf(format, string(format, 'a format of numbers'))
  }
}

export const zoneIn = (place: JsonNode | undefined, scope: AggregationScope): Zone =>
  place === undefined ? UTC : zoneOf(place, string(place, 'a time zone'), scope.budget)

/** The furthest that dates reach here; Elasticsearch shows the greatest long for what lies beyond, such as squares of dates. */
const FURTHEST = 8.64e15
const BEYOND: ReadonlyMap<string, string> = new Map([
  ['epoch_second', '9223372036854775.807'],
  ['epoch_millis', '9223372036854775807'],
])

/** Where kinds write their dates in several ways, that of the first name counts, as Elasticsearch joins what indexes answer. */
const firstOf = (fields: Values['fields']): FieldPath | undefined =>
  Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))[0]?.[1]

/** As the field is mapped. */
const formatOfField = (field: FieldPath | undefined): string =>
  field?.kind === 'seconds' ? 'epoch_second' : 'strict_date_optional_time'
