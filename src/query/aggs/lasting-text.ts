import { type Json, Numeral } from '../json.ts'

/** Aggregations as texts by which what they found is kept. */
export interface LastingTexts {
  /** The same where they find the same in a segment, whatever of it is shown. */
  found: string
  /** The same where they are the same. */
  whole: string
}

/** Undefined where they show hits or look at all segments at once. */
export const lastingTexts = (aggregations: Json): LastingTexts | undefined => {
  const whole = textOf(aggregations)
  if (whole.length > LONGEST || /"top_hits"|"top_metrics"/.test(whole)) return undefined
  return { found: foundOf(aggregations), whole }
}

const LONGEST = 20_000

type Members = ReadonlyMap<string, Json>

/** By names of aggregations; bounds that only add empty buckets are left out, as a window that moves on has others. */
const foundOf = (aggregations: Json): string => {
  if (!(aggregations instanceof Map)) return textOf(aggregations)
  return written(aggregations as Members, one => (one instanceof Map ? written(one as Members, ofMember) : textOf(one)))
}

const ofMember = (value: Json, name: string): string => {
  if (name === 'aggs' || name === 'aggregations') return foundOf(value)
  if ((name !== 'date_histogram' && name !== 'histogram') || !(value instanceof Map)) return textOf(value)
  return textOf(new Map([...(value as Members)].filter(([option]) => option !== 'extended_bounds')))
}

const written = (members: Members, write: (value: Json, name: string) => string): string =>
  `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${write(value, name)}`).join()}}`

const textOf = (value: Json): string => {
  if (value instanceof Numeral) return value.text
  if (value instanceof Map) return written(value as Members, textOf)
  return Array.isArray(value) ? `[${value.map(textOf).join()}]` : JSON.stringify(value)
}
