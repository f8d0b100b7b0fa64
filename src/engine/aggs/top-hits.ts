import { createByteWriter } from '../../lib/bytes.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { javaDouble } from '../../query/aggs/java-double.ts'
import type { TopHits } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'
import { asFloat } from '../../query/similarity.ts'
import { numberedAs, positionOfOrdinal } from '../query/places.ts'
import { BEST_FIRST } from '../query/score/scoring.ts'
import { bySortKeys, type Found, sortKeysOf } from '../query/sort.ts'
import { hidesScores } from '../show/hits.ts'
import { type Aggregator, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { type Batch, countsOf, emptied, ordinalAt } from './batch.ts'
import { promising } from './promising.ts'

interface TopState extends State {
  counts: Float64Array
  best: Found[][]
  /** The greatest score in each bucket, where it is wanted and not that of the first hit. */
  scores: Float64Array
}

/** Documents whose keys are read in one go. */
const CHUNK = 500

export const createTopHits = (spec: SpecOf<'top_hits'>, context: Context): Aggregator => {
  const { size, from, sort } = spec
  const request = requestOf(spec, context.request)
  const scoring = spec.scored ? context.scoring() : undefined
  const isScored = scoring !== undefined && scoring.uniform === undefined
  const ordered = sort.length === 0 && isScored ? { ...request, sort: BEST_FIRST } : request
  const keys = sortKeysOf(ordered, context.reader, context.exact, scoring)
  // Where scores are but one of several keys, Elasticsearch does not look for the greatest one.
  const showsGreatest = !hidesScores(request) && (sort.length < 2 || request.trackScores === true)
  const wantsGreatest = isScored && showsGreatest
  const order = bySortKeys(keys)
  const counts = createNumbers()
  const best: Found[][] = []
  const greatest = createNumbers()
  const wanted = from + size
  const trim = (found: Found[]): Found[] => found.sort(order).slice(0, wanted)
  const out = createByteWriter(1 << 12)

  return {
    collect(at, batch): TopState {
      const here: Found[][] = Array.from({ length: batch.buckets }, () => [])
      const numbered = numberedAs(at.kind)
      const scores = new Float64Array(wantsGreatest ? batch.buckets : 0)
      if (wantsGreatest) greatestOf(scoring.in(at.kind, at.segment), batch, scores)
      let chunk: Found[] = []
      let owners: number[] = []
      const take = () => {
        context.reader.check()
        keys.fill(chunk, at.segment)
        for (const [i, found] of chunk.entries()) {
          const list = here[owners[i]!]!
          list.push(found)
          if (list.length > 4 * wanted + 50) here[owners[i]!] = trim(list)
        }
        chunk = []
        owners = []
      }
      const few = wanted > 0 ? promising(at, batch, wanted, keys) : emptied(batch)
      for (let i = 0; i < few.count; i++) {
        chunk.push({ kind: at.kind, position: positionOfOrdinal(at.header, numbered, ordinalAt(few, i)), keys: [] })
        owners.push(few.owners ? few.owners[i]! : 0)
        if (chunk.length === CHUNK) take()
      }
      take()
      const kept = here.map(trim)
      return {
        counts: countsOf(batch),
        best: kept,
        scores,
        bytes: kept.reduce((sum, { length }) => sum + 100 * length, 100),
      }
    },
    merge(state, owners) {
      const part = state as TopState
      counts.reserve(lengthFor(owners))
      greatest.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) {
        const owner = owners[i]!
        counts.values[owner]! += part.counts[i]!
        if (wantsGreatest && part.scores[i]! > greatest.values[owner]!) greatest.values[owner] = part.scores[i]!
        best[owner] = trim([...(best[owner] ?? []), ...part.best[i]!])
      }
    },
    finish() {},
    result(owner): TopHits {
      const found = (best[owner] ?? []).slice(from)
      scoring?.mark(found)
      out.clear()
      const hits = context.hits.writer(request, context.index)(found, out)
      const most = wantsGreatest ? asFloat(greatest.values[owner] ?? 0) : asFloat(scoring?.uniform ?? 1)
      const score = hits > 0 && showsGreatest ? javaDouble(most) : 'null'
      const total = context.total(counts.values[owner] ?? 0)
      return {
        is: 'hits',
        type: 'top_hits',
        hits: `{"total":${total},"max_score":${score},"hits":[${Buffer.from(out.view()).toString()}]}`,
      }
    },
    number: () => null,
    bytes: () => best.reduce((sum, list) => sum + 100 * (list?.length ?? 0), counts.bytes()),
  }
}

/** What the search itself shows of its hits is nothing to these. */
const requestOf = (
  { size, sort, source, shown, trackScores, scored }: SpecOf<'top_hits'>,
  { parts, names }: SearchRequest,
): SearchRequest => ({
  parts: parts.map(({ kind, query, score, marks }) => ({
    ...{ kind, query },
    ...(scored && score && { score }),
    ...(marks && { marks }),
  })),
  ...{ sort, from: 0, size, source, trackTotal: true },
  ...(names && { names }),
  ...(shown && { shown }),
  ...(trackScores && { trackScores }),
})

const greatestOf = (scores: Float64Array, batch: Batch, into: Float64Array) => {
  for (let i = 0; i < batch.count; i++) {
    const owner = batch.owners ? batch.owners[i]! : 0
    const score = scores[ordinalAt(batch, i)]!
    if (score > into[owner]!) into[owner] = score
  }
}
