import { MISSING, valueAt } from '../index/column-codec.ts'
import { numberedAs } from '../query/places.ts'
import type { SortKeys } from '../query/sort.ts'
import { type At, type Batch, filtered, ordinalAt } from './batch.ts'
import { blockIndexes } from './columns.ts'

/** Documents that may be among the first few of their buckets: by a number that is told without a look at them. */
export const promising = (at: At, batch: Batch, wanted: number, keys: SortKeys): Batch => {
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
