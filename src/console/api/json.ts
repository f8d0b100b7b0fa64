/** JSON without loss: an integer that a double does not hold is a bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [name: string]: Json
}

export const parseJson = (text: string): Json =>
  JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source ?? '') ? BigInt(source!) : value,
  ) as Json

export const stringifyJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? JSON.rawJSON(String(inner)) : inner), indent)

const INTEGER = /^-?\d+$/

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member of an object's own; undefined where it has none, or is no object. */
export const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** What stands at a path such as `blockNumber.num`. */
export const valueAt = (value: Json | undefined, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>(member, value)

export const textAt = (value: Json | undefined, path: string): string | undefined => {
  const found = valueAt(value, path)
  return typeof found === 'string' ? found : undefined
}

/** The list at a path; empty where there is none. */
export const listAt = (value: Json | undefined, path: string): Json[] => {
  const found = valueAt(value, path)
  return Array.isArray(found) ? found : []
}
