import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { overLimit } from '../../limits/index.ts'
import { type JsonNode, members, named, unexpected, where } from '../json-node.ts'
import type { Aggregation } from './ast.ts'
import { AGGREGATIONS, REFUSED } from './kinds/index.ts'
import type { AggregationKind, AggregationScope } from './kinds/kind.ts'

/** Reads the aggregations of a request. */
export const parseAggregations = (place: JsonNode, scope: AggregationScope): Aggregation[] => {
  const counter = { left: scope.budget.limits.aggregations }
  return readAll(place, scope, [], counter)
}

const readAll = (
  place: JsonNode,
  scope: AggregationScope,
  around: readonly string[],
  counter: { left: number },
): Aggregation[] => {
  if (around.length >= scope.budget.limits.aggregationDepth)
    throw overLimit('aggregationDepth', scope.budget.limits, where(place))
  return members(place, 'aggregations by name, such as {"names": {"terms": {"field": "event.raw"}}}').map(
    ([name, at]) => {
      if (counter.left-- <= 0) throw overLimit('aggregations', scope.budget.limits)
      checkName(name, at)
      return readOne(name, at, scope, around, counter)
    },
  )
}

const readOne = (
  name: string,
  place: JsonNode,
  scope: AggregationScope,
  around: readonly string[],
  counter: { left: number },
): Aggregation => {
  scope.budget.clauses(1, place)
  let inner: JsonNode | undefined
  let meta: JsonNode | undefined
  let typed: [type: string, body: JsonNode] | undefined
  for (const [key, at] of members(place, 'an aggregation, such as {"terms": {"field": "event.raw"}}')) {
    if (key === 'aggs' || key === 'aggregations') {
      if (inner)
        throw refuse('parsing_exception', `${where(at)}: Found two sub aggregation definitions under [${name}]`)
      inner = at
    } else if (key === 'meta') meta = at
    else if (typed)
      throw refuse(
        'parsing_exception',
        `${where(at)}: Found two aggregation type definitions in [${name}]: [${typed[0]}] and ${named(key)}`,
      )
    else typed = [key, at]
  }
  if (!typed) throw refuse('parsing_exception', `${where(place)}: Missing definition for aggregation [${name}]`)
  const [type, body] = typed
  const kind = kindOf(type, body)
  const spec = kind.read(body, scope, { name, around })
  if (inner && !kind.buckets && members(inner, 'aggregations').length > 0)
    throw refuse(
      'aggregation_initialization_exception',
      `${where(inner)}: Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`,
    )
  const aggs =
    inner && kind.buckets ? readAll(inner, kind.inside?.(spec, scope) ?? scope, [...around, type], counter) : []
  kind.check?.(body, spec, aggs)
  return { name, spec, aggs, ...(meta && { meta: meta.value }) }
}

const kindOf = (type: string, place: JsonNode): AggregationKind => {
  if (Object.hasOwn(AGGREGATIONS, type)) return AGGREGATIONS[type as keyof typeof AGGREGATIONS]
  const names = Object.keys(AGGREGATIONS)
  if (Object.hasOwn(REFUSED, type))
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: the aggregation [${type}] is not supported. ${REFUSED[type]} Supported are ${names.join(', ')}.`,
    )
  throw refuse(
    'parsing_exception',
    `${where(place)}: Unknown aggregation type ${named(type)}.${didYouMean(type, names)} Supported are ${names.join(', ')}.`,
  )
}

const checkName = (name: string, place: JsonNode) => {
  if (/[[\]>]/.test(name) || name === '')
    throw refuse(
      'parsing_exception',
      `${where(place)}: Invalid aggregation name ${named(name)}. Aggregation names can contain any character except '[', ']', and '>'`,
    )
}

/** The member that holds them; both names are taken, one of them at a time. */
export const aggregationsIn = (keys: { aggs?: JsonNode; aggregations?: JsonNode }): JsonNode | undefined => {
  if (keys.aggs && keys.aggregations) throw unexpected(keys.aggregations, 'either [aggs] or [aggregations]')
  return keys.aggs ?? keys.aggregations
}
