import { refuse } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import { parseJson } from './json.ts'
import { bodyNode, inside, isObject, known, string } from './json-node.ts'
import { parseKeepAlive } from './time-value.ts'

/** The point in time that a search is within. */
export interface PitKeys {
  id: string
  /** Its keep-alive from now on; undefined where that it was opened with holds. */
  keepAliveMs: number | undefined
}

/** The member `pit` of a body, which says what the search is of: it is read before all else. */
export const pitOf = (body: string | undefined, limits: Limits): PitKeys | undefined => {
  if (!body?.includes('"pit"')) return undefined
  const root = parseJson(body, limits)
  const value = isObject(root) ? root.get('pit') : undefined
  if (value === undefined) return undefined
  const place = inside(bodyNode(root), 'pit', value)
  const { id, keep_alive } = known(place, 'an object such as {"id": "…", "keep_alive": "1m"}', ['id', 'keep_alive'], [])
  if (id === undefined)
    throw refuse('illegal_argument_exception', 'point in time id is not provided: write "pit": {"id": "…"}.')
  return {
    id: string(id, 'the id of a point in time'),
    keepAliveMs: keep_alive && parseKeepAlive('keep_alive', string(keep_alive, 'a time such as "1m"')),
  }
}
