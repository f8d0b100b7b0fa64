import { ChainsieveError, refuse } from '../lib/errors.ts'
import { fits } from '../lib/wildcard.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import { isObject, type JsonNode, list, members, named, unexpected, where } from './json-node.ts'
import { readDouble } from './numbers.ts'
import type { Collapse } from './request.ts'

/** `[{"event": 2}, {"*": 0.5}]`, or one object with all of it: what scores count in each kind. The first name that fits counts. */
export const parseIndicesBoost = (
  place: JsonNode,
  index: string | undefined,
  collapse: Collapse | undefined,
): ReadonlyMap<Kind, number> => {
  const boosts = new Map<Kind, number>()
  for (const [name, at] of entriesOf(place)) {
    if (typeof at.value === 'string') throw unexpected(at, 'a number')
    const boost = readDouble(at)
    if (boost < 0)
      throw refuse('illegal_argument_exception', `${where(at)}: boost must be a positive float, got ${boost}.`)
    const kinds = kindsOf(name, index)
    if (kinds.length === 0 && !name.includes('*')) throw noIndex(name, at)
    for (const kind of kinds) if (!boosts.has(kind)) boosts.set(kind, boost)
  }
  if (boosts.size > 0 && collapse && collapse.innerHits.length > 0)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: [indices_boost] is not supported beside inner_hits of collapse: leave one of the two out.`,
    )
  return boosts
}

const EXPECTED = 'a list such as [{"event": 2}]'

const entriesOf = (place: JsonNode): [name: string, place: JsonNode][] => {
  if (isObject(place.value)) return members(place, EXPECTED)
  return list(place, EXPECTED).map(at => {
    const [first, second] = members(at, 'an object such as {"event": 2}')
    if (first === undefined || second !== undefined)
      throw unexpected(at, 'an object with one name, such as {"event": 2}')
    return first
  })
}

/** A kind goes by its own name, and by that with the network before it; the network stands for all of its kinds. */
const kindsOf = (name: string, index: string | undefined): readonly Kind[] => {
  if (name === '_all' || name === index) return KINDS
  const plain = name.replace(/^\d{4}-/, '')
  return KINDS.filter(kind => [kind, `${index}-${kind}`].some(known => known === plain || fits(known, name)))
}

const noIndex = (name: string, place: JsonNode) =>
  new ChainsieveError(
    'refuse',
    'index_not_found_exception',
    `${where(place)}: no such index ${named(name)} (known: ${KINDS.join(', ')}).`,
  )
