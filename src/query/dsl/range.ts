import { refuse } from '../../lib/errors.ts'
import type { Bounds } from '../ast.ts'
import { within } from '../conditions.ts'
import { createDateReader } from '../dates.ts'
import { type JsonNode, known, members, string, where } from '../json-node.ts'
import { onField } from '../scope.ts'
import { type Clause, onlyField } from './clause.ts'

export const range: Clause = {
  doc: 'The field lies within bounds: gte or gt, and lte or lt. On dates, format and time_zone tell how they are written.',
  example: { timestamp: { gte: 'now-7d/d', lt: 'now/d' } },
  lower(place, scope) {
    const [name, at] = onlyField('range', place)
    for (const [key, legacy] of members(at, EXPECTED)) if (LEGACY.includes(key)) throw legacyBound(legacy)
    const { gt, gte, lt, lte, format, time_zone } = known(at, EXPECTED, KEYS)
    if (name === '_id' || name === '_type') {
      throw refuse('illegal_argument_exception', `${where(at)}: [${name}] does not support range queries.`)
    }
    return onField(name, at, scope, field => {
      const option = format ?? time_zone
      if (option !== undefined && field.compare !== 'instant') {
        throw refuse('illegal_argument_exception', `${where(option)}: [${field.path}] is no date.`)
      }
      const bounds = { ...sole('gt', gt, 'gte', gte), ...sole('lt', lt, 'lte', lte) }
      const dates = createDateReader({
        ...scope,
        format: format && { place: format, text: string(format, 'a date format') },
        zone: time_zone && { place: time_zone, text: string(time_zone, 'a time zone') },
      })
      return within(field, bounds, dates)
    })
  },
}

const KEYS = ['gt', 'gte', 'lt', 'lte', 'format', 'time_zone'] as const
const LEGACY = ['from', 'to', 'include_lower', 'include_upper']
const EXPECTED = 'an object such as {"gte": 1, "lt": 9}'

/** The bound that is given; null means that there is none. */
const sole = (
  strict: 'gt' | 'lt',
  exclusive: JsonNode | undefined,
  loose: 'gte' | 'lte',
  inclusive: JsonNode | undefined,
): { [bound in keyof Bounds]: JsonNode } => {
  const [a, b] = [exclusive, inclusive].map(place => (place?.value === null ? undefined : place))
  if (a !== undefined && b !== undefined) {
    throw refuse('parsing_exception', `${where(a)}: [${strict}] and [${loose}] exclude each other. Keep one of them.`)
  }
  return { ...(a && { [strict]: a }), ...(b && { [loose]: b }) }
}

const legacyBound = (place: JsonNode) =>
  refuse(
    'parsing_exception',
    `${where(place)}: the older spelling of bounds is not supported. Instead of from and to, include_lower and include_upper, write gte or gt and lte or lt.`,
  )
