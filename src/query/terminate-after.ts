import { refuse } from '../lib/errors.ts'
import { type JsonNode, scalar, where } from './json-node.ts'
import { readDouble } from './numbers.ts'
import type { Collapse } from './request.ts'

/** What does not go with a search that ends early. */
export interface Beside {
  size: number
  cursor: unknown
  collapse: Collapse | undefined
  given: Partial<Record<'slice' | 'resume' | 'post_filter' | 'aggs' | 'aggregations', JsonNode>>
}

/** How many matches of each kind count; undefined where all do. As Elasticsearch does it, fractions are cut off. */
export const parseTerminateAfter = (place: JsonNode, { size, cursor, collapse, given }: Beside): number | undefined => {
  scalar(place, 'the number of matches after which the search ends')
  const most = Math.trunc(readDouble(place))
  if (most < 0) throw refuse('illegal_argument_exception', `${where(place)}: terminateAfter must be > 0.`)
  if (most === 0) return undefined
  const others = [
    ...(size < 0 ? ['"size": -1'] : []),
    ...(cursor === undefined ? [] : ['scroll or pit']),
    ...(['slice', 'resume'] as const).filter(name => given[name]),
    ...(collapse && collapse.innerHits.length > 0 ? ['inner_hits of collapse'] : []),
    ...(given.post_filter && (given.aggs ?? given.aggregations) ? ['post_filter with aggregations'] : []),
  ]
  if (others.length === 0) return most
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [terminate_after] is not supported beside ${others.join(', ')}: leave one of the two out.`,
  )
}
