import { refuse } from '../lib/errors.ts'
import { isObject, type JsonNode, members, where } from './json-node.ts'

/** Keys that clients send along and that cannot change an answer, each with the reason. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  stats: 'names a group of searches in statistics that are not kept',
}

/** Keys of Elasticsearch that are not supported, and what to do instead. What asks for nothing, such as an empty object, is accepted. */
export const REFUSED_KEYS: Readonly<Record<string, string>> = {
  profile: 'Time the search itself: the answer tells how long it `took`.',
  runtime_mappings: 'There are no scripts: compute it from `_source`.',
  indices_boost: 'Search one kind at a time.',
  rescore: 'Sort by a field, or put what counts into the query.',
  suggest: 'Names are suggested by GET …/es/suggest?q=.',
  terminate_after: 'Ask for "size" hits, and bound the count by "track_total_hits".',
  ext: 'There are no plugins.',
  knn: 'Contracts alike are found by GET …/es/contract/{address}/similar.',
}

export const checkRefused = (body: JsonNode): void => {
  for (const [name, place] of members(body, 'an object')) {
    if (!Object.hasOwn(REFUSED_KEYS, name) || asksNothing(place)) continue
    const remedy = REFUSED_KEYS[name]!.replaceAll('`', '')
    throw refuse('illegal_argument_exception', `${where(place)}: [${name}] is not supported. ${remedy}`)
  }
}

const asksNothing = ({ value }: JsonNode): boolean =>
  value === null ||
  value === false ||
  value === 0 ||
  (isObject(value) && value.size === 0) ||
  (Array.isArray(value) && value.length === 0)
