import type { SearchRequest } from '../../../query/request.ts'
import type { Reader } from '../../reader.ts'
import type { Part } from '../found.ts'
import { segmentsOf } from './segment-pruning.ts'

/** How many documents match, as far as that is asked for; -1 where it is not. */
export const countAll = ({ trackTotal }: Pick<SearchRequest, 'trackTotal'>, parts: Part[], reader: Reader): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of segmentsOf(parts, reader)) {
    reader.check()
    for (const { evaluation } of parts) total += evaluation.count(segment)
    if (total >= most) return most
  }
  return total
}
