import type { Document } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Reader } from '../reader.ts'
import type { Documents } from './documents.ts'
import { type Found, sortValues } from './sort.ts'

export interface Hit {
  kind: Kind
  document: Document
  sort: unknown[] | undefined
}

export interface Loading {
  /** Documents as they are answered. */
  shown: Documents
  /** Documents whose integers can be computed with. */
  exact: Documents
  reader: Reader
}

/** The hits that these matches are; what is gone meanwhile is left out. */
export const load = (
  { sort }: Pick<SearchRequest, 'sort'>,
  found: readonly Found[],
  { shown, exact, reader }: Loading,
): Hit[] =>
  found.flatMap((one): Hit[] => {
    reader.check()
    const [document] = shown.load(one.kind, [one.position])
    if (!document) return []
    return [
      { kind: one.kind, document, sort: sort.length ? sortValues(sort, one, { documents: exact, reader }) : undefined },
    ]
  })
