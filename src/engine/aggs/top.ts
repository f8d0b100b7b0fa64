import type { SearchRequest } from '../../query/request.ts'
import { numberedAs, positionOfOrdinal } from '../query/places.ts'
import type { Scoring } from '../query/score/scoring.ts'
import { bySortKeys, type Found, sortKeysOf } from '../query/sort.ts'
import { type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { type At, type Batch, countsOf, emptied, ordinalAt } from './batch.ts'
import { promising } from './promising.ts'

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
