import type { Document } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Reader } from '../reader.ts'
import type { Documents } from './documents.ts'
import type { Found } from './found.ts'
import { sortValues } from './sort/sort-values.ts'

export interface Hit {
  kind: Kind
  document: Document
  sort: unknown[] | undefined
  /** Where scores differ, or are another than 1. */
  score?: number | undefined
}

export interface Loading {
  /** Documents as they are answered. */
  shown: Documents
  /** Documents whose integers can be computed with. */
  exact: Documents
  reader: Reader
}

interface LoadingAnywhere extends Omit<Loading, 'reader'> {
  /** Undefined where documents tell all. */
  reader: Reader | undefined
}

/** Takes matches as hits, and tells how many these are: what is gone meanwhile is left out. */
export type Take = (found: readonly Found[]) => number

/** Hits as objects. */
export const loadInto =
  (
    hits: Hit[],
    request: Pick<SearchRequest, 'sort' | 'parts' | 'tiebreak'>,
    { shown, exact, reader }: LoadingAnywhere,
  ): Take =>
  found => {
    const sortOf = sortValues(request, { documents: exact, reader })
    const before = hits.length
    for (const one of found) {
      reader?.check()
      const [document] = shown.load(one.kind, [one.position])
      if (document)
        hits.push({ kind: one.kind, document, sort: request.sort.length ? sortOf(one) : undefined, score: one.score })
    }
    return hits.length - before
  }
