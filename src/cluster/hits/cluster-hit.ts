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

/** A match that came from a cluster. Of a long answer there are thousands at once, of which most are but copied. */
export class ClusterHit implements SearchMatch {
  readonly id: string
  readonly kind: Kind
  readonly position: number
  /** To which its document belongs. */
  readonly batch: number
  readonly routing: string | undefined
  readonly parent: string | undefined
  readonly keys = NO_KEYS
  score?: number
  explanation?: Explanation
  /** `_source` as it is shown. */
  readonly bytes: Buffer
  /** What it shows as `sort`, where it is not a hit of the search itself. */
  shownSort?: unknown[] | undefined
  /** What `inner_hits` show, but for elements of its own lists. */
  related?: RelatedHits
  readonly #sort: Buffer | undefined

  /** `uniform`: the score of all hits; undefined where they tell theirs. */
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

  /** The text of `_source`. */
  get source(): string {
    return this.bytes.toString()
  }

  /** What the cluster sorted it by, as JSON text: where its next page begins. */
  get sort(): string | undefined {
    return this.#sort?.toString()
  }
}

/** What a hit brings along, by what asks for it: of a clause its inner hits, of a group the search within it. */
type RelatedHits = ReadonlyMap<InnerHits | SearchRequest, Related & { found: ClusterHit[] }>

const NO_KEYS: SearchMatch['keys'] = []

/** A hit as an object; integers that a double does not hold are bigints, or as they are shown. */
export const clusterDocument = (hit: ClusterHit, big: BigIntegers): Document => ({
  _id: hit.id,
  ...(hit.routing !== undefined && { _routing: hit.routing }),
  ...(hit.parent !== undefined && { _parent: hit.parent }),
  _source: readDocument(hit.source, big) as Record<string, unknown>,
})

/** Hits with all that they bring along, and what that brings along. */
const withRelated = (hits: readonly ClusterHit[]): ClusterHit[] =>
  hits.flatMap(hit => [hit, ...[...(hit.related?.values() ?? [])].flatMap(({ found }) => withRelated(found))])

/** The hits of an answer, by their places. */
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
    /** Each is asked for several times in a row. */
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
    /** Of those at its place this one is meant, until others are added. */
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
