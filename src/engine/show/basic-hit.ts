import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import { compilePredicate } from '../../query/predicate.ts'
import type { SearchRequest } from '../../query/request.ts'
import { asFloat } from '../../query/statistics.ts'
import { CLOSE, piece } from '../forms/json.ts'
import { type Documents, fieldsRead } from '../query/documents.ts'
import type { SearchMatch } from '../query/search-match.ts'
import { sortValues, type ValuesFrom } from '../query/sort/sort-values.ts'
import type { WriteHits } from './hits.ts'
import { ROW_MARK, type RowShape } from './row.ts'
import type { Show } from './source-writers.ts'

export interface PlainOptions extends ValuesFrom {
  between: number
  /** Sort values that are read already. */
  sortOf?: ((one: SearchMatch) => unknown[]) | undefined
  /** Throws if the search is to stop. */
  check(): void
  /** Appends a hit up to its `sort`; 0 if there is none. */
  write(one: SearchMatch, score: string, out: ByteWriter): number
}

/** Appends hits with their envelope and `_source` alone. */
export const createPlainWriter = (
  request: SearchRequest,
  { between, check, write, sortOf: known, ...from }: PlainOptions,
): WriteHits => {
  const { sort } = request
  const scoreOf = scoreWriter(hidesScores(request))
  const namesOf = matchedNames(request, from.documents)
  const sortOf = known ?? sortValues(request, from)
  return (found, out) => {
    let hits = 0
    for (let i = 0; i < found.length; i++) {
      if (i % HITS_PER_CHECK === 0) check()
      const one = found[i]!
      const before = out.length
      if (hits > 0) out.byte(between)
      if (write(one, scoreOf(one), out) === 0) {
        out.truncate(before)
        continue
      }
      if (sort.length) out.text(`,"sort":${JSON.stringify(sortOf(one))}`)
      if (namesOf) out.text(namesOf(one))
      out.byte(CLOSE)
      hits++
    }
    return hits
  }
}

/** Hits between two checks. */
const HITS_PER_CHECK = 8

/** Writes the names of the clauses that a hit matches; undefined if no clause has a name. */
export const matchedNames = (
  { names }: Pick<SearchRequest, 'names'>,
  documents: Documents,
): ((found: SearchMatch) => string) | undefined => {
  if (names === undefined) return undefined
  const tests = names.map(({ name, kind, query }) => ({ name, kind, test: compilePredicate(kind, query) }))
  const fields = fieldsRead({ op: 'and', of: names.map(({ query }) => query) })
  return ({ kind, position }) => {
    const [document] = documents.load(kind, [position], fields)
    const matched = tests.filter(it => document !== undefined && it.kind === kind && it.test(document))
    if (matched.length === 0) return ''
    return `,"matched_queries":${JSON.stringify([...new Set(matched.map(({ name }) => name))])}`
  }
}

/** Writes a hit up to `sort`; returns bytes before its score, or 0 without such a document. */
export type WriteHit = (position: number, score: string, out: ByteWriter) => number
export const hitWriter = (
  { find, id, routing, ...show }: Show,
  envelope: string,
  source: ReturnType<Show['source']>,
  parents: boolean,
): WriteHit => {
  const parent = parents ? show.parent : undefined
  const head = piece(envelope)
  const toSource = source ? ',"_source":' : ''
  const behindId = piece(`","_score":`)
  const behindScore = piece(routing ? ',"_routing":"' : toSource)
  const behindRouting = piece(`","_parent":"`)
  const behindParent = piece(`"${toSource}`)
  return (position, score, out) => {
    if (!find(position)) return 0
    const start = out.length
    out.bytes(head)
    id(out)
    out.bytes(behindId)
    const before = out.length - start
    out.ascii(score)
    out.bytes(behindScore)
    if (routing) {
      routing(out)
      if (parent) {
        out.bytes(behindRouting)
        parent(out)
      }
      out.bytes(behindParent)
    }
    source?.(out)
    return before
  }
}
/** Writes hits as rows, and `_source` alone of those that have another shape. */
export const rowWriter = (show: Show, source: ReturnType<Show['source']>, shape: RowShape): WriteHit => {
  const row = show.row?.(shape)
  return (position, _score, out) => {
    if (!show.find(position)) return 0
    if (row) {
      const start = out.length
      out.byte(ROW_MARK)
      if (row(out)) return 1
      out.truncate(start)
    }
    out.bytes(BARE_HEAD)
    source?.(out)
    return BARE_HEAD.length
  }
}
const BARE_HEAD = piece('{"_source":')
export const envelopeOf = (index: string, kind: Kind): string =>
  `{"_index":${JSON.stringify(`${index}-${kind}`)},"_type":"${kind}","_id":"`
/** Neighbours often have the same score. */
export const scoreWriter = (isHidden: boolean): ((found: Pick<SearchMatch, 'score'>) => string) => {
  if (isHidden) return () => 'null'
  let last = 1
  let text = '1'
  return ({ score = 1 }) => {
    if (score !== last) {
      last = score
      text = `${asFloat(score)}`
    }
    return text
  }
}
/** As in Elasticsearch: with a sort, scores need `_score` in it or `track_scores`. */
export const hidesScores = ({ sort, trackScores }: Pick<SearchRequest, 'sort' | 'trackScores'>): boolean =>
  sort.length > 0 && !trackScores && !sort.some(({ by }) => by === '_score')
