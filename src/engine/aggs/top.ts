import type { SearchRequest } from '../../query/request.ts'
import { MISSING, valueAt } from '../index/column-codec.ts'
import { numberedAs, positionOfOrdinal } from '../query/places.ts'
import type { Scoring } from '../query/score/scoring.ts'
import { bySortKeys, type Found, type SortKeys, sortKeysOf } from '../query/sort.ts'
import { type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { type At, type Batch, countsOf, emptied, filtered, ordinalAt } from './batch.ts'
import { blockIndexes } from './values.ts'

interface TopState extends State {
  counts: Float64Array
  best: Found[][]
}

/** The first documents of each bucket above. */
export interface Top {
  collect(at: At, batch: Batch): TopState
  merge(state: TopState, owners: Uint32Array): void
  best(owner: number): Found[]
  count(owner: number): number
  bytes(): number
}

/** Documents whose keys are read in one go. */
const CHUNK = 500

/** So many in the order of a request. */
export const createTop = (
  request: SearchRequest,
  wanted: number,
  scoring: Scoring | undefined,
  context: Context,
): Top => {
  const keys = sortKeysOf(request, context.reader, context.exact, scoring)
  const order = bySortKeys(keys)
  const counts = createNumbers()
  const best: Found[][] = []
  const trim = (found: Found[]): Found[] => found.sort(order).slice(0, wanted)

  return {
    collect(at, batch) {
      const here: Found[][] = Array.from({ length: batch.buckets }, () => [])
      const numbered = numberedAs(at.kind)
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
        ...{ counts: countsOf(batch), best: kept },
        bytes: kept.reduce((sum, { length }) => sum + 100 * length, 100),
      }
    },
    merge(part, owners) {
      counts.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) {
        const owner = owners[i]!
        counts.values[owner]! += part.counts[i]!
        best[owner] = trim([...(best[owner] ?? []), ...part.best[i]!])
      }
    },
    best: owner => best[owner] ?? [],
    count: owner => counts.values[owner] ?? 0,
    bytes: () => best.reduce((sum, list) => sum + 100 * (list?.length ?? 0), counts.bytes()),
  }
}

/** Documents that may be among the first few of their buckets: by a number that is told without a look at them. */
const promising = (at: At, batch: Batch, wanted: number, keys: SortKeys): Batch => {
  const { buckets, count, owners } = batch
  if (count <= buckets * wanted || buckets * wanted > MOST) return batch
  if (keys.chain && !keys.compare) return atEnds(batch, wanted, keys.descending)
  const rank = rankIn(at, keys)
  if (!rank) return batch
  /** The best numbers of each bucket, descending. */
  const best = new Float64Array(buckets * wanted).fill(Number.NEGATIVE_INFINITY)
  // The newest documents come last.
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
  // Of equal ones another key decides.
  return filtered(batch, (ordinal, i) => rank(ordinal) >= best[((owners ? owners[i]! : 0) + 1) * wanted - 1]!)
}

const MOST = 2 ** 20

/** The first few documents of each bucket, or the last few. */
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

/** Greater ones come first. Undefined where no number tells. */
const rankIn = (at: At, keys: SortKeys): ((ordinal: number) => number) | undefined => {
  const sign = keys.descending ? 1 : -1
  if (keys.chain) {
    const blocks = blockIndexes(at, numberedAs(at.kind))
    const { times } = at.header
    return keys.byTime ? ordinal => sign * times[blocks[ordinal]!]! : ordinal => sign * blocks[ordinal]!
  }
  const column = keys.first?.missing === '_last' ? keys.column(at.kind) : undefined
  const bounds = column?.bounds(at.segment)
  const data = column?.data(at.segment)
  // What is as great as that may be no key.
  if (!bounds || !data || (Number.isFinite(column!.greatest) && bounds.greatest >= column!.greatest)) return undefined
  return ordinal => {
    const number = valueAt(data, ordinal)
    return number === MISSING ? Number.NEGATIVE_INFINITY : sign * number
  }
}
