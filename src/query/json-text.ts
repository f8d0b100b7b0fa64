import { type Json, Numeral } from './json.ts'

/** JSON as text, its numbers as they were written. */
export const textOfJson = (value: Json): string => {
  if (value instanceof Numeral) return value.text
  if (value instanceof Map)
    return `{${Array.from(value as ReadonlyMap<string, Json>, ([name, inner]) => `${JSON.stringify(name)}:${textOfJson(inner)}`).join()}}`
  if (Array.isArray(value)) return `[${value.map(textOfJson).join()}]`
  return JSON.stringify(value)
}
