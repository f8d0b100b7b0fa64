import { type Hit, loadInto } from '../../engine/query/hits.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Page } from '../asker.ts'
import { createFoundHits, type FoundHits } from './found.ts'

/** Hits as objects. */
export const loadPage = (
  request: SearchRequest,
  { hits }: Pick<Page, 'hits'>,
  found: FoundHits = createFoundHits(),
): Hit[] => {
  const loaded: Hit[] = []
  found.add(hits)
  loadInto(loaded, request, { ...found, reader: undefined })(hits)
  return loaded
}
