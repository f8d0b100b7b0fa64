import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { type JsonValue, Numeral, textOfJson } from '../json.ts'
import { bracketName, isJsonMap, type JsonNode, members, unexpected, where } from '../json-node.ts'
import { REFUSED_AGGREGATIONS } from '../refused.ts'
import type { Aggregation, Aggregations } from './ast.ts'
import { AGGREGATIONS } from './kinds/index.ts'
import type { AggregationKind, AggregationScope } from './kinds/kind.ts'
import { PIPELINES, parsePipeline } from './pipelines/index.ts'
import type { PipelineAggregation } from './pipelines/pipeline.ts'
import { orderPipelines } from './pipelines/tree.ts'

export const parseAggregations = (place: JsonNode, scope: AggregationScope): Aggregations => {
  const counter = { left: scope.budget.limits.aggregations }
  return readAggregations(place, scope, [], counter)
}

interface AggregationCounter {
  left: number
}

const readAggregations = (
  place: JsonNode,
  scope: AggregationScope,
  around: readonly Pick<Aggregation, 'spec' | 'gives'>[],
  counter: AggregationCounter,
): Aggregations => {
  const { limits } = scope.budget
  if (around.length >= limits.aggregationDepth) throw overLimit('aggregationDepth', limits, where(place))
  const aggs: Aggregation[] = []
  const pipelines: PipelineAggregation[] = []
  for (const [name, at] of members(
    place,
    'aggregations by name, such as {"names": {"terms": {"field": "event.raw"}}}',
  )) {
    if (counter.left-- <= 0) throw overLimit('aggregations', limits)
    checkAggregationName(name, at)
    scope.budget.name(name, at)
    scope.budget.clauses(1, at)
    const parts = aggregationParts(name, at)
    checkMeta(parts.meta, at, limits)
    const pipeline = parsePipeline(name, parts.type, parts.body)
    if (pipeline) {
      if (parts.inner) throw noneInside(name, parts.type, parts.inner)
      pipelines.push({ ...pipeline, ...parts.meta })
    } else aggs.push(readAggregation(name, parts, scope, around, counter))
  }
  return { aggs, pipelines: orderPipelines(pipelines, aggs, around.at(-1)) }
}

interface AggregationParts {
  type: string
  body: JsonNode
  inner: JsonNode | undefined
  meta: { meta?: JsonValue }
}

const aggregationParts = (name: string, place: JsonNode): AggregationParts => {
  let inner: JsonNode | undefined
  let meta: { meta?: JsonValue } = {}
  let typed: [type: string, body: JsonNode] | undefined
  for (const [key, at] of members(place, 'an aggregation, such as {"terms": {"field": "event.raw"}}')) {
    if (key === 'aggs' || key === 'aggregations') {
      if (inner)
        throw refuse('parsing_exception', `${where(at)}: Found two sub aggregation definitions under [${name}]`)
      inner = at
    } else if (key === 'meta') meta = { meta: at.value }
    else if (typed)
      throw refuse(
        'parsing_exception',
        `${where(at)}: Found two aggregation type definitions in [${name}]: [${typed[0]}] and ${bracketName(key)}`,
      )
    else typed = [key, at]
  }
  if (!typed) throw refuse('parsing_exception', `${where(place)}: Missing definition for aggregation [${name}]`)
  const [type, body] = typed
  return { type, body, inner, meta }
}

const readAggregation = (
  name: string,
  { type, body, inner, meta }: AggregationParts,
  scope: AggregationScope,
  around: readonly Pick<Aggregation, 'spec' | 'gives'>[],
  counter: AggregationCounter,
): Aggregation => {
  const kind = aggregationKindOf(type, body)
  const dates = around.findLast(({ spec }) => spec.kind === 'date_histogram')?.spec
  const rounding = dates?.kind === 'date_histogram' ? dates.rounding : undefined
  const spec = kind.read(body, scope, { name, around: around.map(({ spec }) => spec.kind), rounding })
  const hasInside = kind.gives === 'bucket' || kind.gives === 'buckets'
  const isEmpty = inner && members(inner, 'aggregations').length === 0
  if (inner && !isEmpty && !hasInside) throw noneInside(name, type, inner)
  const inside =
    inner && hasInside
      ? readAggregations(inner, kind.inside?.(spec, scope) ?? scope, [...around, { spec, gives: kind.gives }], counter)
      : NO_AGGREGATIONS
  kind.check?.(body, spec, inside.aggs)
  return { name, spec, gives: kind.gives, ...inside, ...meta }
}

const NO_AGGREGATIONS: Aggregations = { aggs: [], pipelines: [] }

const noneInside = (name: string, type: string, place: JsonNode) =>
  refuse(
    'aggregation_initialization_exception',
    `${where(place)}: Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`,
  )

const aggregationKindOf = (type: string, place: JsonNode): AggregationKind => {
  if (Object.hasOwn(AGGREGATIONS, type)) return AGGREGATIONS[type as keyof typeof AGGREGATIONS]
  const names = [...Object.keys(AGGREGATIONS), ...Object.keys(PIPELINES)]
  const remedy = REFUSED_AGGREGATIONS.get(type)
  if (remedy !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: the aggregation [${type}] is not supported. ${remedy} Supported are ${names.join(', ')}.`,
    )
  throw refuse(
    'parsing_exception',
    `${where(place)}: Unknown aggregation type ${bracketName(type)}.${didYouMean(type, names)} Supported are ${names.join(', ')}.`,
  )
}

const checkMeta = ({ meta }: AggregationParts['meta'], place: JsonNode, limits: Limits) => {
  if (meta !== undefined && textOfJson(meta).length > limits.meta)
    throw overLimit('meta', limits, `${where(place)}.meta`)
}

const checkAggregationName = (name: string, place: JsonNode) => {
  if (/[[\]>]/.test(name) || name === '')
    throw refuse(
      'parsing_exception',
      `${where(place)}: Invalid aggregation name ${bracketName(name)}. Aggregation names can contain any character except '[', ']', and '>'`,
    )
}

/** Either name is accepted, but not both. */
export const aggregationsIn = (
  keys: { readonly [key in 'aggs' | 'aggregations']?: JsonNode | undefined },
): JsonNode | undefined => {
  if (keys.aggs && keys.aggregations) throw unexpected(keys.aggregations, 'either [aggs] or [aggregations]')
  const given = keys.aggs ?? keys.aggregations
  return given && isJsonMap(given.value) && given.value.size === 0 ? undefined : given
}

export interface AggregationCacheKeys {
  /** Identifies states of segments, whatever is shown of them. */
  found: string
  /** Identifies answers. */
  whole: string
}

/** Undefined if they show hits. */
export const aggregationCacheKeys = (aggregations: JsonValue): AggregationCacheKeys | undefined => {
  const whole = jsonText(aggregations)
  if (whole.length > MAX_KEY_LENGTH || /"top_hits"|"top_metrics"/.test(whole)) return undefined
  return { found: foundOf(aggregations), whole }
}

const MAX_KEY_LENGTH = 20_000
type AggregationMembers = ReadonlyMap<string, JsonValue>

/** Without bounds that only add empty buckets, since those of a moving window change. */
const foundOf = (aggregations: JsonValue): string => {
  if (!(aggregations instanceof Map)) return jsonText(aggregations)
  return membersText(aggregations as AggregationMembers, one =>
    one instanceof Map ? membersText(one as AggregationMembers, ofMember) : jsonText(one),
  )
}

const ofMember = (value: JsonValue, name: string): string => {
  if (name === 'aggs' || name === 'aggregations') return foundOf(value)
  if ((name !== 'date_histogram' && name !== 'histogram') || !(value instanceof Map)) return jsonText(value)
  return jsonText(new Map([...(value as AggregationMembers)].filter(([option]) => option !== 'extended_bounds')))
}

const membersText = (members: AggregationMembers, write: (value: JsonValue, name: string) => string): string =>
  `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${write(value, name)}`).join()}}`

const jsonText = (value: JsonValue): string => {
  if (value instanceof Numeral) return value.text
  if (value instanceof Map) return membersText(value as AggregationMembers, jsonText)
  return Array.isArray(value) ? `[${value.map(jsonText).join()}]` : JSON.stringify(value)
}
