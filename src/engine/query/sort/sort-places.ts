import { KINDS } from '../../../mapping/index.ts'
import type { Place, Sort } from '../../../query/request.ts'

/** Whether a sort is by the place in the chain itself. */
export const isByPlace = ({ by }: Pick<Sort, 'by'>): boolean => by === '_doc' || by === '_shard_doc'

/** Several kinds may stand at one position. */
export const comparePlaces = (a: Place, b: Place, descending: boolean): number =>
  (descending ? -1 : 1) * (a.position - b.position || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
