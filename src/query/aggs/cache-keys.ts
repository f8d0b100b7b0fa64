import { type JsonValue, Numeral } from '../json.ts'

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
