import type { SearchRequest } from '../../query/request.ts'
import { MISSING, valueAt } from '../index/column-codec.ts'
import { numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import type { SearchScoring } from '../query/scores/scoring.ts'
import type { SearchMatch } from '../query/search-match.ts'
import { bySortKeys, type SortKeys, sortKeysOf } from '../query/sort/sort.ts'
import { type AggregationContext, type AggregationState, createNumbers, lengthFor } from './aggregator.ts'
import { type Batch, type BatchView, countsByBucket, emptyBatch, filterBatch, ordinalAt } from './batch.ts'
import { blockIndexes } from './values.ts'

interface BestState<T> extends AggregationState {
  counts: Float64Array
  best: T[][]
  scores: Float64Array
}

/** Collects the first `wanted` items of each bucket; `cost` is the bytes of one. */
export const createBest = <T>(wanted: number, compare: (a: T, b: T) => number, cost: number) => {
  const [counts, scores] = [createNumbers(), createNumbers()]
  const best: T[][] = []
  const trim = (all: T[]): T[] => all.sort(compare).slice(0, wanted)
  return {
    open(batch: Batch, withScores: boolean) {
      const here: T[][] = Array.from({ length: batch.buckets }, () => [])
      const greatest = new Float64Array(withScores ? batch.buckets : 0)
      return {
        add(owner: number, one: T) {
          const list = here[owner]!
          list.push(one)
          if (list.length > 4 * wanted + 50) here[owner] = trim(list)
        },
        score(owner: number, score: number) {
          if (score > greatest[owner]!) greatest[owner] = score
        },
        state(): BestState<T> {
          const kept = here.map(trim)
          const bytes = kept.reduce((sum, { length }) => sum + cost * length, 100)
          return { counts: countsByBucket(batch), best: kept, scores: greatest, bytes }
        },
      }
    },
    merge(state: AggregationState, owners: Uint32Array) {
      const part = state as BestState<T>
      counts.reserve(lengthFor(owners))
      scores.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) {
        const owner = owners[i]!
        counts.values[owner]! += part.counts[i]!
        best[owner] = trim([...(best[owner] ?? []), ...part.best[i]!])
        if (part.scores[i]! > scores.values[owner]!) scores.values[owner] = part.scores[i]!
      }
    },
    finish() {},
    of: (owner: number): T[] => best[owner] ?? [],
    count: (owner: number) => counts.values[owner] ?? 0,
    score: (owner: number) => scores.values[owner] ?? 0,
    bytes: () => best.reduce((sum, list) => sum + cost * (list?.length ?? 0), counts.bytes()),
  }
}

const CHUNK = 500

/** The first documents of each bucket in the request's sort order. */
export const createTop = (
  request: SearchRequest,
  wanted: number,
  { scoring, greatest = false }: { scoring: SearchScoring | undefined; greatest?: boolean },
  context: AggregationContext,
) => {
  const keys = sortKeysOf(request, context.reader, context.exact, scoring)
  const best = createBest(wanted, bySortKeys(keys), 100)
  return {
    ...best,
    collect(at: BatchView, batch: Batch): AggregationState {
      const here = best.open(batch, greatest)
      if (greatest) {
        const scores = scoring!.in(at.kind, at.segment)
        for (let i = 0; i < batch.count; i++) here.score(batch.owners?.[i] ?? 0, scores[ordinalAt(batch, i)]!)
      }
      const numbered = numberedAs(at.kind)
      let chunk: SearchMatch[] = []
      let owners: number[] = []
      const take = () => {
        context.reader.check()
        keys.fill(chunk, at.segment)
        for (const [i, found] of chunk.entries()) here.add(owners[i]!, found)
        chunk = []
        owners = []
      }
      const few = wanted > 0 ? bestCandidates(at, batch, wanted, keys) : emptyBatch(batch)
      for (let i = 0; i < few.count; i++) {
        chunk.push({ kind: at.kind, position: positionOfOrdinal(at.header, numbered, ordinalAt(few, i)), keys: [] })
        owners.push(few.owners ? few.owners[i]! : 0)
        if (chunk.length === CHUNK) take()
      }
      take()
      return here.state()
    },
  }
}

/** Documents that can be among the first of their buckets, by a number that needs no record. */
const bestCandidates = (at: BatchView, batch: Batch, wanted: number, keys: SortKeys): Batch => {
  const { buckets, count, owners } = batch
  if (count <= buckets * wanted || buckets * wanted > MAX_BEST) return batch
  if (keys.chain && !keys.compare) return atEnds(batch, wanted, keys.descending)
  const rank = rankIn(at, keys)
  if (!rank) return batch
  /** The best numbers of each bucket, descending. */
  const best = new Float64Array(buckets * wanted).fill(Number.NEGATIVE_INFINITY)
  const backwards = keys.chain && keys.descending
  for (let j = 0; j < count; j++) {
    const i = backwards ? count - 1 - j : j
    const number = rank(ordinalAt(batch, i))
    const start = (owners ? owners[i]! : 0) * wanted
    let place = start + wanted - 1
    if (!(number > best[place]!)) continue
    for (; place > start && number > best[place - 1]!; place--) best[place] = best[place - 1]!
    best[place] = number
  }
  // Another key decides between equal ones.
  return filterBatch(batch, (ordinal, i) => rank(ordinal) >= best[((owners ? owners[i]! : 0) + 1) * wanted - 1]!)
}

const MAX_BEST = 2 ** 20

const atEnds = (batch: Batch, wanted: number, fromLast: boolean): Batch => {
  const { count, list, from, owners, buckets } = batch
  const left = new Uint32Array(buckets).fill(wanted)
  const kept: number[] = []
  for (let j = 0; j < count; j++) {
    const i = fromLast ? count - 1 - j : j
    const owner = owners ? owners[i]! : 0
    if (left[owner] === 0) continue
    left[owner]!--
    kept.push(i)
  }
  return {
    ...{ count: kept.length, from: 0, buckets },
    list: Uint32Array.from(kept, i => (list ? list[i]! : from + i)),
    owners: owners && Uint32Array.from(kept, i => owners[i]!),
  }
}

/** Greater ranks come first. Undefined if no column gives a rank. */
const rankIn = (at: BatchView, keys: SortKeys): ((ordinal: number) => number) | undefined => {
  const sign = keys.descending ? 1 : -1
  if (keys.chain) {
    const blocks = blockIndexes(at, numberedAs(at.kind))
    const { times } = at.header
    return keys.byTime ? ordinal => sign * times[blocks[ordinal]!]! : ordinal => sign * blocks[ordinal]!
  }
  const column = keys.first?.missing === '_last' ? keys.column(at.kind) : undefined
  const bounds = column?.bounds(at.segment)
  const data = column?.data(at.segment)
  // Values at the column's maximum are not exact.
  if (!bounds || !data || (Number.isFinite(column!.greatest) && bounds.greatest >= column!.greatest)) return undefined
  return ordinal => {
    const number = valueAt(data, ordinal)
    return number === MISSING ? Number.NEGATIVE_INFINITY : sign * number
  }
}
