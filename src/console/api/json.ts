/** JSON without loss: an integer that a double does not hold is a bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [name: string]: Json
}

export const parseJson = (text: string): Json =>
  JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source ?? '') ? BigInt(source!) : value,
  ) as Json

export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? JSON.rawJSON(String(inner)) : inner), indent)

const INTEGER = /^-?\d+$/

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member of an object's own; undefined where it has none, or is no object. */
export const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** What stands at a path such as `blockNumber.num`. */
export const at = (value: Json | undefined, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>(member, value)

export const textAt = (value: Json | undefined, path: string): string | undefined => {
  const found = at(value, path)
  return typeof found === 'string' ? found : undefined
}

/** The list at a path; empty where there is none. */
export const listAt = (value: Json | undefined, path: string): Json[] => {
  const found = at(value, path)
  return Array.isArray(found) ? found : []
}

/**
 * The members of a JSON object's text, each as it is written: what is sent on must not lose a digit or a key that occurs twice. The text
 * has to be JSON.
 */
export const membersOf = (text: string): [name: string, raw: string][] => {
  const members: [string, string][] = []
  let depth = 0
  let [name, start] = ['', 0]
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      if (++depth === 1) start = index + 1
    } else if (token === '}' || token === ']' || (token === ',' && depth === 1)) {
      const raw = text.slice(start, index).trim()
      if (depth === 1 && raw !== '') members.push([name, raw])
      if (depth === 1) start = index + 1
      if (token !== ',') depth--
    } else if (token === ':' && depth === 1) {
      name = JSON.parse(text.slice(start, index)) as string
      start = index + 1
    }
  }
  return members
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g
