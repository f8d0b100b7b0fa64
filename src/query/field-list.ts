import { refuse } from '../lib/errors.ts'
import { type FieldPath, lookup, queryPaths } from '../mapping/index.ts'
import { type JsonNode, named, scalar, string, unexpected, where } from './json-node.ts'
import { isMeta } from './meta.ts'
import { automatonOf } from './regexp/automaton.ts'
import { parseWildcard } from './regexp/wildcard.ts'
import { checkKnown, isInSight, type Scope } from './scope.ts'

/** A field that a text is looked for in, and how much it counts. */
export interface Weighted {
  field: FieldPath
  boost: number
}

/** Names of fields with `*` in them and `^2` behind them, as a clause lists them. */
export interface FieldName {
  name: string
  boost: number
  place: JsonNode
}

export const readFieldName = (place: JsonNode): FieldName => {
  const text = string(place, 'the name of a field, such as "event^2"')
  const [, name = text, boost = '1'] = /^(.*)\^([^^]*)$/s.exec(text) ?? []
  const factor = /^\d{1,9}(\.\d{1,9})?$/.test(boost) ? Number(boost) : Number.NaN
  if (Number.isNaN(factor)) throw unexpected(place, 'the name of a field with a number behind ^, such as "event^2"')
  return { name, boost: factor, place }
}

export const ALL_FIELDS = '*'

/** The fields of the kind that these names mean, so far as they are in sight. Names that nothing has are refused. */
export const fieldsNamed = (names: readonly FieldName[], scope: Scope): Weighted[] => {
  const found = new Map<string, Weighted>()
  for (const { name, boost, place } of names) {
    const fields = name.includes('*') ? fieldsLike(name, place, scope) : oneField(name, place, scope)
    for (const field of fields) {
      const { boost: other = 1 } = found.get(field.path) ?? {}
      if (isInSight(field, scope)) found.set(field.path, { field, boost: boost * other })
    }
  }
  return [...found.values()]
}

const oneField = (name: string, place: JsonNode, scope: Scope): FieldPath[] => {
  const field = lookup(scope.kind, name)
  if (field) return [field]
  if (isMeta(name))
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: ${named(name)} is not a field that text is searched in. Put it into a clause of its own.`,
    )
  checkKnown(name, place, scope)
  return []
}

const fieldsLike = (name: string, place: JsonNode, { kind, kinds, budget }: Scope): FieldPath[] => {
  budget.text(name, place)
  const matches = automatonOf(parseWildcard(name, false))
  const of = (kind: Scope['kind']) => [...queryPaths(kind).values()].filter(({ path }) => matches(path))
  const found = of(kind)
  if (found.length > 0 || kinds.some(other => of(other).length > 0)) return found
  throw refuse('query_shard_exception', `${where(place)}: no field of ${kinds.join(', ')} is like ${named(name)}.`)
}

/** Names as a clause gives them: one, or a list. */
export const readFieldNames = (places: readonly JsonNode[]): FieldName[] =>
  places.map(place => readFieldName({ path: place.path, value: scalar(place, 'the name of a field') }))
