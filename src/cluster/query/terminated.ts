import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import { META_FIELDS } from '../indices/meta.ts'
import { unsupported } from '../unsupported.ts'
import type { Dsl } from './dsl.ts'
import type { Looking } from './joins.ts'
import { hiddenClauses } from './visibility.ts'

/** Where the matches of each kind end that count: the position of the last one. Absent where all of them do. */
export type Ends = ReadonlyMap<Kind, number>

/** A page of a cluster has no more. */
const MOST = 10_000

/** Looks up the last match that counts, of a search that ends early. */
export const resolveEnds = async (
  { terminateAfter: most, minScore, parts }: SearchRequest,
  compile: (part: SearchRequest['parts'][number]) => Dsl,
  { ask, visible }: Looking,
): Promise<Ends> => {
  const ends = new Map<Kind, number>()
  if (most === undefined) return ends
  if (minScore !== undefined) throw unsupported('terminate_after with min_score', 'leave one of the two out')
  if (most >= MOST) throw unsupported(`terminate_after of ${MOST} or more`, 'use track_total_hits to count no further')
  for (const part of parts) {
    if (part.query.op === 'none') continue
    const { hits } = (await ask([part.kind], {
      query: { bool: { filter: [compile(part)], must_not: hiddenClauses(visible) } },
      ...{ sort: [{ [META_FIELDS.position]: 'asc' }], from: most - 1, size: 2 },
      ...{ _source: false, track_total_hits: false },
    })) as { hits: { hits: { sort: [number] }[] } }
    const [last, more] = hits.hits
    if (last && more) ends.set(part.kind, last.sort[0])
  }
  return ends
}
