import type { Document } from '../../documents/document.ts'
import { asBigint, asJson } from '../../documents/show.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Node } from '../../query/ast.ts'
import { compile } from '../../query/predicate.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { DocumentReader, Pages, Result, SimilarDocument } from '../port.ts'
import type { Reader } from '../reader.ts'
import { findBest, type Part } from './best.ts'
import { createDocuments, type Documents } from './documents.ts'
import { evaluate } from './evaluate.ts'
import { hold } from './held.ts'
import { type Hit, type Loading, load } from './hits.ts'
import { positionsOfIds } from './lookup.ts'
import { check, type SearchOptions } from './options.ts'
import { type Cursor, type Progress, pagesOf, walk } from './pages.ts'
import { planQuery } from './plan.ts'
import { type SimilarRequest, similarContracts } from './similar.ts'
import { isChainOrder } from './sort.ts'

/** Searches one network's store, without leaving the thread. */
export interface Searcher extends Pick<DocumentReader, 'search' | 'pages' | 'get' | 'similar'> {
  search(request: SearchRequest, options: SearchOptions): Result
  pages(request: SearchRequest, options: SearchOptions, after?: Cursor): Pages & { pages: Iterable<Hit[]> }
  get(kind: Kind, id: string): Document | undefined
  similar(request: SimilarRequest): SimilarDocument[] | undefined
}

export const createSearcher = (reader: Reader, limits: Limits = DEFAULT_LIMITS): Searcher => {
  const shown = createDocuments({ reader, big: asJson, bloom: logsBloomOf })
  const exact = createDocuments({ reader, big: asBigint, bloom: logsBloomOf })

  const loading: Loading = { shown, exact, reader }

  const prepare = (request: SearchRequest): Part[] =>
    request.parts.map(({ kind, query }) => ({
      kind,
      evaluation: evaluate({ kind, plan: planQuery(kind, query, reader), reader, ask: asking(exact) }),
    }))

  return {
    search(request, options) {
      reader.begin(() => check(options))
      try {
        const parts = prepare(request)
        const total = countAll(request, parts, reader)
        const found = findBest(request, parts, { exact, reader, limits })
        return { total, hits: load(request, found.slice(request.from), loading) }
      } finally {
        reader.end()
      }
    },
    pages(request, options, after) {
      const progress: Progress = { at: after }
      const at = () => progress.at
      const walked = () => walk(request, options, { prepare, loading, limits }, progress)
      if (after && isChainOrder(request)) return { total: -1, pages: walked(), at }
      reader.begin(() => check(options))
      try {
        const parts = prepare(request)
        const total = after ? -1 : countAll(request, parts, reader)
        if (isChainOrder(request)) return { total, pages: walked(), at }
        // Another order than the chain's has to be known whole before the first hit.
        const all = { ...request, from: 0, size: Number.POSITIVE_INFINITY }
        const held = hold(findBest(all, parts, { exact, reader, limits }))
        const from = after ? held.behind(after) : request.from
        return { total, pages: pagesOf(held, from, request, { loading, progress }), at }
      } finally {
        reader.end()
      }
    },
    similar(request) {
      reader.begin()
      try {
        return similarContracts(reader, request)?.map(({ position, similarity }) => ({
          document: shown.load('contract', [position])[0]!,
          similarity,
        }))
      } finally {
        reader.end()
      }
    },
    get(kind, id) {
      reader.begin()
      try {
        return shown.load(kind, positionsOfIds(kind, [id.toLowerCase()], reader).slice(-1))[0]
      } finally {
        reader.end()
      }
    },
  }
}

const asking =
  (documents: Documents) =>
  (kind: Kind, node: Node, positions: readonly number[]): boolean[] => {
    const test = compile(kind, node)
    return documents.load(kind, positions).map(document => document !== undefined && test(document))
  }

const countAll = ({ trackTotal }: SearchRequest, parts: Part[], reader: Reader): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of reader.segments()) {
    reader.check()
    for (const { evaluation } of parts) total += evaluation.count(segment)
    if (total >= most) return most
  }
  return total
}
