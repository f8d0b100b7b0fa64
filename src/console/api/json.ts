/** Lossless JSON: integers that a double cannot hold are bigints. */
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

/** An own member; undefined if there is none. */
export const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** What a table has under a name that people or servers choose: `constructor` is in none. */
export const ownEntry = <T>(table: Readonly<Partial<Record<string, T>>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** Value at a path such as `blockNumber.num`, which is itself a name in arguments of some networks. */
export const valueAt = (value: Json | undefined, path: string): Json | undefined =>
  member(value, path) ?? path.split('.').reduce<Json | undefined>(member, value)

export const textAt = (value: Json | undefined, path: string): string | undefined => {
  const found = valueAt(value, path)
  return typeof found === 'string' ? found : undefined
}

/** List at a path; empty by default. */
export const listAt = (value: Json | undefined, path: string): Json[] => {
  const found = valueAt(value, path)
  return Array.isArray(found) ? found : []
}
