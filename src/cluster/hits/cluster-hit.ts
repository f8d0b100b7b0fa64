import type { Document } from '../../documents/document.ts'
import { asBigint, asJson, type BigIntegers, readDocument } from '../../documents/show.ts'
import type { Documents } from '../../engine/query/documents.ts'
import { type Hit, loadInto } from '../../engine/query/hits.ts'
import type { Related } from '../../engine/query/inner-hits.ts'
import type { SearchMatch } from '../../engine/query/search-match.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { InnerHits, SearchRequest } from '../../query/request.ts'
import type { Explanation } from '../../query/score.ts'
import { shownId, splitBytes } from '../indices/names.ts'
import type { Page } from '../query-client.ts'
import type { ScannedHit } from './scan.ts'

/** A hit from a cluster. Lazy, since large answers have thousands that are mostly just copied. */
export class ClusterHit implements SearchMatch {
  readonly id: string
  readonly kind: Kind
  readonly position: number
  /** Batch of its document. */
  readonly batch: number
  readonly routing: string | undefined
  readonly parent: string | undefined
  readonly keys = NO_KEYS
  score?: number
  explanation?: Explanation
  /** `_source` as shown. */
  readonly bytes: Buffer
  /** Value shown as `sort` if it is an inner hit. */
  shownSort?: unknown[] | undefined
  /** Hits shown in `inner_hits`, except elements of its own lists. */
  related?: RelatedHits
  readonly #sort: Buffer | undefined

  /** `uniform`: score of all hits; undefined if each has its own. */
  constructor({ id, score: own, explanation, sort, source, last }: ScannedHit, uniform: number | undefined) {
    const score = uniform ?? own
    const { shown, meta } = splitBytes(source, last)
    this.id = shownId(id)
    this.kind = KINDS[meta.kind]!
    this.position = meta.position
    this.batch = meta.batch
    this.routing = meta.routing
    this.parent = meta.parent
    this.bytes = shown
    this.#sort = sort
    if (score !== null && score !== 1) this.score = score
    if (explanation) this.explanation = explanation
  }

  /** Text of `_source`. */
  get source(): string {
    return this.bytes.toString()
  }

  /** Sort values from the cluster as JSON text: the cursor of the next page. */
  get sort(): string | undefined {
    return this.#sort?.toString()
  }
}

/** Related hits, by the inner hits of a clause or the search within a group. */
type RelatedHits = ReadonlyMap<InnerHits | SearchRequest, Related & { found: ClusterHit[] }>

const NO_KEYS: SearchMatch['keys'] = []

/** A hit as an object; integers beyond a double become bigints, or text as shown. */
export const clusterDocument = (hit: ClusterHit, big: BigIntegers): Document => ({
  _id: hit.id,
  ...(hit.routing !== undefined && { _routing: hit.routing }),
  ...(hit.parent !== undefined && { _parent: hit.parent }),
  _source: readDocument(hit.source, big) as Record<string, unknown>,
})

/** Hits with all related hits, recursively. */
const withRelated = (hits: readonly ClusterHit[]): ClusterHit[] =>
  hits.flatMap(hit => [hit, ...[...(hit.related?.values() ?? [])].flatMap(({ found }) => withRelated(found))])

/** Hits of an answer by position. */
export type FoundHits = ReturnType<typeof createFoundHits>

export const createFoundHits = () => {
  let all: readonly ClusterHit[] = []
  let byPlace: Map<string, ClusterHit> | undefined
  let used: ClusterHit | undefined
  const at = (kind: Kind, position: number) => {
    if (used?.position === position && used.kind === kind) return used
    byPlace ??= new Map(withRelated(all).map(hit => [`${hit.kind} ${hit.position}`, hit]))
    return byPlace.get(`${kind} ${position}`)
  }
  const read = (big: BigIntegers): Documents => {
    /** Cached, since each hit is read several times in a row. */
    let last: { hit: ClusterHit; document: Document } | undefined
    return {
      load: (kind, positions) =>
        positions.map(position => {
          const hit = at(kind, position)
          if (!hit) return undefined
          if (last?.hit !== hit) last = { hit, document: clusterDocument(hit, big) }
          return last.document
        }),
    }
  }
  return {
    add(hits: readonly ClusterHit[]) {
      all = hits
      byPlace = used = undefined
    },
    /** Selects this hit among those at its position, until hits are added. */
    use(hit: ClusterHit) {
      used = hit
    },
    ...{ at, shown: read(asJson), exact: read(asBigint) },
  }
}

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
