import type { Request } from './queries.ts'
import { split } from './sample.ts'

/** Parts of which the bodies of searches are made. */

export const search = (entities: string, label: string, body?: object): Request => ({
  label,
  entities,
  ...(body && { body: JSON.stringify(body) }),
})

export const filter = (...clauses: object[]) => ({ query: { bool: { filter: clauses } } })
export const should = (...clauses: object[]) => ({ query: { bool: { should: clauses } } })
export const term = (field: string, value: unknown) => ({ term: { [field]: value } })
export const range = (field: string, bounds: object) => ({ range: { [field]: bounds } })
export const nested = (...clauses: object[]) => ({ nested: { path: 'args', query: { bool: { filter: clauses } } } })

/** An argument of a sample, by its name and its value. */
export const argument = (key: string) => {
  const [name, hex] = split(key)
  return nested(term('args.name', name), term('args.value.hex', hex))
}
