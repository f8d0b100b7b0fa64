import { refuse } from '../lib/errors.ts'
import { ALL, NONE, type Node } from './ast.ts'
import { type JsonNode, named, scalar, where } from './json-node.ts'
import type { Scope } from './scope.ts'
import { ids, or } from './simplify.ts'

/** Fields that are no part of the mapping: what a hit shows of itself beside its `_source`. */
export const META_FIELDS = ['_id', '_type', '_index'] as const

export const isMeta = (name: string): name is (typeof META_FIELDS)[number] =>
  (META_FIELDS as readonly string[]).includes(name)

/** The condition on a field that is no part of the mapping, or undefined where the name is none of them. */
export const onMetaField = (name: string, values: readonly JsonNode[], scope: Scope): Node | undefined => {
  if (name === '_id') {
    const place = values[0]
    if (place !== undefined) checkIdsInSight(place, scope)
    return ids(values.map(place => canonicalId(scalar(place, 'an id'))))
  }
  if (name === '_type') return or(values.map(place => decided(scalar(place, 'an entity') === scope.kind)))
  if (name === '_index') return or(values.map(place => decided(isIndex(scalar(place, 'the name of an index'), scope))))
  return undefined
}

/** The condition that a text of such a field passes a test: ids are looked up whole. */
export const testedMetaField = (
  clause: string,
  name: string,
  place: JsonNode,
  scope: Scope,
  test: (text: string) => boolean,
): Node | undefined => {
  if (name === '_type') return decided(test(scope.kind))
  if (name === '_index') return decided(namesOf(scope).some(test))
  if (name !== '_id') return undefined
  throw refuse('illegal_argument_exception', `${where(place)}: ${named(name)} does not support ${clause} queries.`)
}

const decided = (holds: boolean): Node => (holds ? ALL : NONE)

/** An index goes by the name of its entity, and by that with the network before it. */
const namesOf = ({ kind, index }: Scope): string[] => (index === undefined ? [kind] : [`${index}-${kind}`, kind])

/** As Elasticsearch has it, names of indices may hold `*`. */
const isIndex = (text: string, scope: Scope): boolean => {
  const names = namesOf(scope)
  if (!text.includes('*')) return names.includes(text) || (scope.index === undefined && text.endsWith(`-${scope.kind}`))
  const parts = text.split('*')
  return names.some(name => matchesParts(name, parts))
}

const matchesParts = (name: string, parts: readonly string[]): boolean => {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= name.length - last.length
}

export const checkIdsInSight = (place: JsonNode, scope: Scope): void => {
  if (scope.nested === undefined) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: ids belong to documents, not to the elements of [${scope.nested}]. Put this condition next to the nested clause, both in one bool.`,
  )
}

/**
 * Ids begin with a hash, which is the same hash in any letter case: explorers and wallets differ in it. The rest of an id
 * is taken as it is.
 */
export const canonicalId = (id: string): string => id.replace(/^0[xX][0-9a-fA-F]+/, hash => hash.toLowerCase())
