import { type Json, Numeral } from '../json.ts'

/** Aggregations as text by which what they found is kept; undefined where they mean something else at another moment, or show hits. */
export const lastingText = (aggregations: Json): string | undefined => {
  const text = textOf(aggregations)
  return text.length > LONGEST || /\bnow\b|"top_hits"/.test(text) ? undefined : text
}

const LONGEST = 20_000

const textOf = (value: Json): string => {
  if (value instanceof Numeral) return value.text
  if (value instanceof Map)
    return `{${Array.from(value as ReadonlyMap<string, Json>, ([name, inner]) => `${JSON.stringify(name)}:${textOf(inner)}`).join()}}`
  return Array.isArray(value) ? `[${value.map(textOf).join()}]` : JSON.stringify(value)
}
