import { createByteWriter } from '../../lib/bytes.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import type { TopHits } from '../../query/aggs/result.ts'
import { numberedAs, positionOfOrdinal } from '../query/places.ts'
import { bySortKeys, type Found, sortKeysOf } from '../query/sort.ts'
import { hidesScores } from '../show/hits.ts'
import { type Aggregator, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { countsOf, ordinalAt } from './batch.ts'

interface TopState extends State {
  counts: Float64Array
  best: Found[][]
}

/** Documents whose keys are read in one go. */
const CHUNK = 500

export const createTopHits = ({ size, from, sort, source }: SpecOf<'top_hits'>, context: Context): Aggregator => {
  // Where the page of the search begins is nothing to its buckets.
  const paging = { from: 0, size, after: undefined, tiebreak: undefined }
  const request = { ...context.request, ...paging, sort, source }
  const keys = sortKeysOf(request, context.reader, context.exact)
  const order = bySortKeys(keys)
  const counts = createNumbers()
  const best: Found[][] = []
  const wanted = from + size
  const trim = (found: Found[]): Found[] => found.sort(order).slice(0, wanted)
  const out = createByteWriter(1 << 12)

  return {
    collect(at, batch): TopState {
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
      if (wanted > 0)
        for (let i = 0; i < batch.count; i++) {
          chunk.push({ kind: at.kind, position: positionOfOrdinal(at.header, numbered, ordinalAt(batch, i)), keys: [] })
          owners.push(batch.owners ? batch.owners[i]! : 0)
          if (chunk.length === CHUNK) take()
        }
      take()
      const kept = here.map(trim)
      return { counts: countsOf(batch), best: kept, bytes: kept.reduce((sum, { length }) => sum + 100 * length, 100) }
    },
    merge(state, owners) {
      const part = state as TopState
      counts.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) {
        const owner = owners[i]!
        counts.values[owner]! += part.counts[i]!
        best[owner] = trim([...(best[owner] ?? []), ...part.best[i]!])
      }
    },
    finish() {},
    result(owner): TopHits {
      const found = (best[owner] ?? []).slice(from)
      out.clear()
      const hits = context.hits.writer(request, context.index)(found, out)
      const score = hits > 0 && !hidesScores({ sort }) ? '1.0' : 'null'
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
