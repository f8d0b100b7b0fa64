import { refuse } from '../../../lib/errors.ts'
import { boolean, type JsonNode, known, unexpected, where } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import type { Edges, SpecOf } from '../ast.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { checkOrder, count, number, readOrder } from '../options.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

export const histogram: AggregationKind = {
  doc: 'A bucket for each interval of a number.',
  example: { field: 'gasUsed.num', interval: 50_000 },
  on: 'tx',
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "gasUsed.num", "interval": 1000}', KEYS, [])
    if (keys.script) throw scripts(keys.script)
    if (keys.interval === undefined) throw unexpected(place, 'an object with [interval]')
    const interval = readDouble(keys.interval)
    if (interval <= 0)
      throw refuse(
        'illegal_argument_exception',
        `${where(keys.interval)}: [interval] must be >0 for histogram aggregation`,
      )
    const values = readValues(place, keys, scope, 'numeric')
    const [extended, hard] = [edgesOf(keys.extended_bounds, readDouble), edgesOf(keys.hard_bounds, readDouble)]
    checkWithin(place, extended, hard)
    return {
      kind: 'histogram',
      values,
      interval,
      offset: number(keys.offset) ?? 0,
      minDocCount: count(keys.min_doc_count, 0, 0),
      order: readOrder(keys.order, [{ by: '_key', ascending: true }]),
      keyed: keys.keyed !== undefined && boolean(keys.keyed),
      format: formatOf(scope, place, values, keys),
      extended,
      hard,
    }
  },
  check: (place, spec, aggs) => checkOrder(place, (spec as SpecOf<'histogram'>).order, aggs),
}

const KEYS = [
  'field',
  'interval',
  'offset',
  'min_doc_count',
  'order',
  'keyed',
  'format',
  'missing',
  'extended_bounds',
  'hard_bounds',
  'script',
] as const

/** The least and the greatest value; either may be left out. */
export const edgesOf = (place: JsonNode | undefined, read: (place: JsonNode) => number): Edges | undefined => {
  if (place === undefined || place.value === null) return undefined
  const { min, max } = known(place, 'an object with [min] and [max]', ['min', 'max'], [])
  const edges = {
    min: min === undefined || min.value === null ? undefined : read(min),
    max: max === undefined || max.value === null ? undefined : read(max),
  }
  if (edges.min !== undefined && edges.max !== undefined && edges.min > edges.max)
    throw refuse('illegal_argument_exception', `${where(place)}: [min] must not be greater than [max]`)
  return edges
}

export const checkWithin = (place: JsonNode, extended: Edges | undefined, hard: Edges | undefined): void => {
  const { min: low = Number.NEGATIVE_INFINITY, max: high = Number.POSITIVE_INFINITY } = hard ?? {}
  if (!extended || ((extended.min ?? low) >= low && (extended.max ?? high) <= high)) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: Extended bounds have to be inside hard bounds, hard bounds: [${low}--${high}], extended bounds: [${extended.min}--${extended.max}]`,
  )
}
