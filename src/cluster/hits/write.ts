import { CLOSE, COMMA } from '../../engine/forms/json.ts'
import type { Found } from '../../engine/query/found.ts'
import type { DocumentShowing, Hits, HitsWriting, WriteHits } from '../../engine/show/hits.ts'
import { createPlainWriter, envelopeOf, hidesScores, hitWriter } from '../../engine/show/plain.ts'
import { createRichWriter, isRich, type Relating } from '../../engine/show/rich.ts'
import type { Show } from '../../engine/show/shows.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { byKind, KINDS, type Kind } from '../../mapping/index.ts'
import type { InnerHits, SearchRequest } from '../../query/request.ts'
import { compileCut } from './cut.ts'
import type { ClusterHit, FoundHits } from './found.ts'

export interface ClusterHitsWriting extends HitsWriting {
  /** The network's name as it stands in `_index`. */
  index: string
  check(): void
  /** What hits show as `sort`; read from documents where nothing is said. */
  sortOf?: ((one: Found) => unknown[]) | undefined
}

/** Writes hits of a cluster as the engine writes its own. */
export interface ClusterHits {
  writer(request: SearchRequest, writing: ClusterHitsWriting): WriteHits
  /** As an answer to `get` shows it. */
  document(hit: ClusterHit, index: string, out: ByteWriter, how?: DocumentShowing): void
}

export const createClusterHits = (found: FoundHits): ClusterHits => {
  const shows = byKind(KINDS, kind => createShow(kind, found))
  const sourceOf: Parameters<typeof createRichWriter>[1]['sourceOf'] = (kind, filter) => shows[kind].source(filter)
  const { shown, exact } = found
  return {
    writer(request, { index, check, sortOf, ...how }) {
      const write: Hits['writer'] = (inner, index, { totals = 'integer', between = COMMA } = {}) => {
        const sorted = inner === request ? sortOf : shownSort
        if (isRich(inner))
          return createRichWriter(inner, {
            ...{ reader: undefined, check, related: RELATED, index, totals, between, shown, exact, shows, sourceOf },
            ...{ writer: write, hidesScores: hidesScores(inner), sortOf: sorted },
          })
        const { parts, source } = inner
        const writers = new Map(
          parts.map(({ kind }) => [kind, hitWriter(shows[kind], envelopeOf(index, kind), sourceOf(kind, source))]),
        )
        return createPlainWriter(inner, {
          ...{ documents: exact, reader: undefined, between, check, sortOf: sorted },
          write(one, score, to) {
            found.use(one as ClusterHit)
            return writers.get(one.kind)!(one.position, score, to)
          },
        })
      }
      return write(request, index, how)
    },
    document(hit, index, out, { source = true, bare = false } = {}) {
      const show = shows[hit.kind]
      show.find(hit.position)
      const write = show.source(source)
      if (bare) {
        write?.(out)
        return
      }
      out.text(envelopeOf(index, hit.kind))
      show.id(out)
      out.ascii(write ? '","found":true,"_source":' : '","found":true')
      write?.(out)
      out.byte(CLOSE)
    },
  }
}

/** It came with the hits. */
const relatedTo = (inner: InnerHits | SearchRequest) => (hit: Found) => (hit as ClusterHit).related!.get(inner)!
const shownSort = (hit: Found): unknown[] => (hit as ClusterHit).shownSort!
const RELATED: Relating = { by: relatedTo, group: (_collapse, _among, inner) => relatedTo(inner) }

/** Blocks, contracts and tokens are below no other document. */
const TOPS: ReadonlySet<Kind> = new Set(['block', 'contract', 'token'])

const createShow = (kind: Kind, found: FoundHits): Show => {
  let hit: ClusterHit
  const below = !TOPS.has(kind)
  return {
    find(position) {
      const one = found.at(kind, position)
      if (one) hit = one
      return one !== undefined
    },
    id: out => out.ascii(hit.id),
    routing: below ? out => out.ascii(hit.routing!) : undefined,
    parent: below ? out => out.ascii(hit.parent!) : undefined,
    source(filter) {
      if (filter === false) return undefined
      if (filter === true) return out => out.bytes(hit.bytes)
      const cut = compileCut(filter)
      return out => out.text(cut(hit.bytes))
    },
  }
}
