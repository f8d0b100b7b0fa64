import { refuse } from '../../lib/errors.ts'
import { type BoundPlaces, within } from '../conditions.ts'
import { createDateReader } from '../dates.ts'
import { boolean, type JsonNode, known, string, unexpected, where } from '../json-node.ts'
import { isMeta } from '../meta.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { type Clause, onlyField } from './clause.ts'

export const range: Clause = {
  doc: 'The field lies within bounds: gte or gt, and lte or lt; or from and to, with include_lower and include_upper. For dates, format and time_zone say how the bounds are written.',
  example: { timestamp: { gte: 'now-7d/d', lt: 'now/d' } },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('range', place)
    const { format, time_zone, relation, ...given } = known(at, EXPECTED, KEYS)
    if (isMeta(name)) {
      throw refuse('illegal_argument_exception', `${where(at)}: [${name}] does not support range queries.`)
    }
    if (relation) checkRelation(relation)
    for (const flag of [given.include_lower, given.include_upper]) if (flag) boolean(flag)
    const dateFormat = format && { place: format, text: string(format, 'a date format') }
    const zone = time_zone && { place: time_zone, text: string(time_zone, 'a time zone') }
    const bounds = { ...lower(given), ...upper(given) }
    return onField(name, at, scope, field => {
      const option = format ?? time_zone
      if (option !== undefined && field.compare !== 'instant') {
        throw refuse('illegal_argument_exception', `${where(option)}: [${field.path}] is not a date.`)
      }
      const dates = createDateReader({
        ...scope,
        format: dateFormat,
        zone,
      })
      return constant(within(field, bounds, dates))
    })
  },
}

const BOUNDS = ['gt', 'gte', 'lt', 'lte', 'from', 'to', 'include_lower', 'include_upper'] as const
const KEYS = [...BOUNDS, 'format', 'time_zone', 'relation'] as const
const EXPECTED = 'an object such as {"gte": 1, "lt": 9}'

type Given = { [bound in (typeof BOUNDS)[number]]?: JsonNode | undefined }

const lower = ({ gt, gte, from, include_lower }: Given): BoundPlaces => {
  const place = sole({ gt, gte, from, include_lower })
  if (place === undefined) return {}
  return isIncluded(place, [gt, gte], include_lower) ? { gte: place } : { gt: place }
}

const upper = ({ lt, lte, to, include_upper }: Given): BoundPlaces => {
  const place = sole({ lt, lte, to, include_upper })
  if (place === undefined) return {}
  return isIncluded(place, [lt, lte], include_upper) ? { lte: place } : { lt: place }
}

/** A bound says by its name whether it is included; of the older spelling it is, unless the option says otherwise. */
const isIncluded = (
  place: JsonNode,
  [strict, loose]: readonly [JsonNode | undefined, JsonNode | undefined],
  option: JsonNode | undefined,
): boolean => place === loose || (place !== strict && (option === undefined || boolean(option)))

/** The bound that is given; null means that there is none. The option goes with the older spelling. */
const sole = (given: Given): JsonNode | undefined => {
  const options = Object.entries(given).filter(([name]) => name.startsWith('include_'))
  const bounds = Object.entries(given).filter(
    (bound): bound is [string, JsonNode] => bound[1] !== undefined && !bound[0].startsWith('include_'),
  )
  const [first, second] = bounds.filter(([, { value }]) => value !== null)
  if (first && second)
    throw refuse(
      'parsing_exception',
      `${where(first[1])}: [${first[0]}] and [${second[0]}] exclude each other. Keep one of them.`,
    )
  const isNew = first && !['from', 'to'].includes(first[0])
  const [[name, option] = []] = options
  if (isNew && option !== undefined)
    throw refuse('parsing_exception', `${where(option)}: [${name}] works with [from] and [to], not with [${first[0]}].`)
  return first?.[1]
}

/** Every field has points rather than ranges as its values: of these the three relations mean the same. */
const checkRelation = (place: JsonNode): void => {
  const name = string(place, EXPECTED_RELATION).toLowerCase()
  if (!['intersects', 'contains', 'within'].includes(name)) throw unexpected(place, EXPECTED_RELATION)
}
const EXPECTED_RELATION = '"intersects", "contains" or "within"'
