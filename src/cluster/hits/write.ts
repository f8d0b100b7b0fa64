import { asJson, readDocument } from '../../documents/show.ts'
import { CLOSE, COMMA, OPEN, OPEN_LIST } from '../../engine/forms/json.ts'
import type { SearchMatch } from '../../engine/query/search-match.ts'
import { createPlainWriter, envelopeOf, hidesScores, hitWriter } from '../../engine/show/basic-hit.ts'
import { createRichWriter, isRich, type Relating } from '../../engine/show/full-hit.ts'
import type { DocumentShowing, Hits, HitsWriting } from '../../engine/show/hits.ts'
import type { Show } from '../../engine/show/source-writers.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { byKind, KINDS, type Kind } from '../../mapping/index.ts'
import { compileSourcePaths, hasAmounts, showsAll } from '../../query/hits/source-filter.ts'
import type { InnerHits, SearchRequest, SourceFilter } from '../../query/request.ts'
import type { ClusterHit, FoundHits } from './cluster-hit.ts'
import { eachMember, endOfValue, nameAt } from './scan.ts'

interface ClusterHitsWriting extends HitsWriting {
  /** Network name in `_index`. */
  index: string
  check(): void
  /** Value of `sort` of a hit; by default read from its document. */
  sortOf?: ((one: SearchMatch) => unknown[]) | undefined
}

/** Writes hits of a cluster in the same form as those of the engine. */
export const createClusterHits = (found: FoundHits) => {
  const shows = byKind(KINDS, kind => createShow(kind, found))
  const sourceOf: Parameters<typeof createRichWriter>[1]['sourceOf'] = (kind, filter) => shows[kind].source(filter)
  const { shown, exact } = found
  return {
    writer(request: SearchRequest, { index, check, sortOf, ...how }: ClusterHitsWriting) {
      const write: Hits['writer'] = (inner, index, { totals = 'integer', parents = true, between = COMMA } = {}) => {
        const sorted = inner === request ? sortOf : shownSort
        if (isRich(inner))
          return createRichWriter(inner, {
            ...{ reader: undefined, check, related: RELATED, index, totals, parents, between, shown, exact },
            ...{ shows, sourceOf },
            ...{ writer: write, hidesScores: hidesScores(inner), sortOf: sorted },
          })
        const { parts, source } = inner
        const writers = new Map(
          parts.map(({ kind }) => [
            kind,
            hitWriter(shows[kind], envelopeOf(index, kind), sourceOf(kind, source), parents),
          ]),
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
    /** In the form of an answer to `get`. */
    document(hit: ClusterHit, index: string, out: ByteWriter, { source = true, bare = false }: DocumentShowing = {}) {
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

/** Related hits arrived with the hit itself. */
const relatedTo = (inner: InnerHits | SearchRequest) => (hit: SearchMatch) => (hit as ClusterHit).related!.get(inner)!
const shownSort = (hit: SearchMatch): unknown[] => (hit as ClusterHit).shownSort!
const RELATED: Relating = { by: relatedTo, group: (_collapse, _among, inner) => relatedTo(inner) }

/** Kinds without a parent document. */
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
      if (filter === true || showsAll(kind, filter)) return out => out.bytes(hit.bytes)
      const cut = compileSourceTrim(filter)
      return out => out.text(cut(hit.bytes))
    },
  }
}

/** Result of a filter on a member: kept, dropped, or to be parsed and filtered. */
type Left = 'whole' | 'none' | 'part'
/** Applies a source filter. Kept members are not parsed, which preserves digits of numbers. */
export const compileSourceTrim = (filter: Exclude<SourceFilter, boolean>): ((source: Buffer) => string) => {
  const { includes, excludes, flatArgs, eth } = filter
  if (includes.length === 0 && excludes.length === 0 && !flatArgs && !eth) return source => source.toString()
  const { of, cut } = compileSourcePaths(filter)

  const ofObject = (name: string): Left => {
    if (cut(CUT_PROBE, name) === CUT_PROBE && of(name) === 'whole') return eth && hasAmounts(name) ? 'part' : 'whole'
    const reaches = includes.length === 0 || includes.some(it => it.includes('*') || it.startsWith(`${name}.`))
    return of(name) === 'none' && (includes.length === 0 || !reaches) ? 'none' : 'part'
  }
  const left = { value: memoized(name => of(name)), object: memoized(ofObject) }

  return source => {
    let shown = ''
    eachMember(source, 0, (from, nameFrom) => {
      const to = endOfValue(source, from)
      const name = nameAt(source, nameFrom, from)
      const first = source[from]
      const what = left[first === OPEN || first === OPEN_LIST ? 'object' : 'value'](name)
      const whole = what === 'none' ? undefined : source.toString('utf8', from, to)
      const text = what === 'part' ? partOf(whole!, name) : whole
      if (text !== undefined) shown += `${shown === '' ? '' : ','}"${name}":${text}`
      return to
    })
    return `{${shown}}`
  }

  function partOf(text: string, name: string): string | undefined {
    const some = cut(readDocument(text, asJson), name)
    return some === undefined ? undefined : JSON.stringify(some)
  }
}
const CUT_PROBE = {}
/** Cached, since documents have few different member names. */
const memoized = (decide: (name: string) => Left): ((name: string) => Left) => {
  const known = new Map<string, Left>()
  return name => {
    let what = known.get(name)
    if (what === undefined) {
      what = decide(name)
      known.set(name, what)
    }
    return what
  }
}
