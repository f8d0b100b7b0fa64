import { type Digest, digestOf } from '../../query/aggs/metrics/digest.ts'
import { type Aggregator, lengthFor, type State } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import type { Grouped, Rows } from './group.ts'
import { createKeyed, type Keyed } from './keyed.ts'

import { quantileOf, rankOf, type Sorted, sortedOf } from './sorted.ts'

/** What percentiles are told from. */
export interface Quantiles extends Pick<Digest, 'quantile' | 'rank'> {
  sorted: Sorted
}

/** Puts documents into a bucket for each of their values. */
type GroupOf = (at: At, batch: Batch, wantsInner: boolean) => Grouped

/** The different values of each bucket above, with their counts. Too many of them are put together by a sketch. */
export interface QuantileStore extends Pick<Aggregator, 'collect' | 'merge' | 'finish' | 'bytes'> {
  of(owner: number): Quantiles
}

/** `most`: bytes up to which all values are kept. */
export const createQuantiles = (groupOf: GroupOf, compression: number, most: number): QuantileStore => {
  const { collect } = createKeyed(groupOf, [])
  const known = new Map<number, Quantiles>()
  /** One of the two. */
  let exact: Keyed | undefined = createKeyed(groupOf, [])
  let digests: Digest[] = []
  let above = 0

  const toDigests = (all: Keyed, owners: number) => {
    digests = Array.from({ length: owners }, (_, owner) => {
      const buckets = all.in(owner)
      return digestFrom(
        Float64Array.from(buckets, bucket => all.keys[bucket]!),
        Float64Array.from(buckets, bucket => all.counts[bucket]!),
        compression,
      )
    })
    exact = undefined
  }

  const mergeSketched = ({ owners: rowOwners, keys, counts }: Rows, owners: Uint32Array) => {
    const places = Uint32Array.from(keys, (_, i) => i).sort((a, b) => rowOwners[a]! - rowOwners[b]!)
    for (let from = 0, to = 0; from < places.length; from = to) {
      const owner = rowOwners[places[from]!]!
      while (to < places.length && rowOwners[places[to]!] === owner) to++
      const here = places.subarray(from, to)
      const more = digestFrom(
        Float64Array.from(here, place => keys[place]!),
        Float64Array.from(here, place => counts[place]!),
        compression,
      )
      const number = owners[owner]!
      if (digests[number]) digests[number].merge(more)
      else digests[number] = more
    }
  }

  return {
    collect,
    merge(state, owners) {
      if (!exact) return mergeSketched(state as State & Rows, owners)
      exact.merge(state, owners)
      above = Math.max(above, lengthFor(owners))
      if (exact.bytes() <= most) return
      // Sketches of few values each would take more than these.
      if (exact.keys.length < above * Math.max(MANY, 20 * compression)) return
      exact.finish()
      toDigests(exact, above)
    },
    finish: () => exact?.finish(),
    of(owner) {
      let found = known.get(owner)
      if (!found) {
        found = exact ? exactly(exact, owner) : roughly(digests[owner])
        known.set(owner, found)
      }
      return found
    },
    bytes: () => exact?.bytes() ?? digests.reduce((sum, digest) => sum + (digest?.bytes() ?? 0) + 500, 0),
  }
}

/** Values of a bucket from which on a sketch is smaller. */
const MANY = 5000

const exactly = ({ keys, counts, in: within }: Keyed, owner: number): Quantiles => {
  const buckets = within(owner)
  const sorted = sortedOf(
    Float64Array.from(buckets, bucket => keys[bucket]!),
    Float64Array.from(buckets, bucket => counts[bucket]!),
  )
  return { sorted, quantile: part => quantileOf(sorted, part), rank: value => rankOf(sorted, value) }
}

const roughly = (digest: Digest | undefined): Quantiles => {
  if (!digest) return { sorted: NOTHING, quantile: () => Number.NaN, rank: () => Number.NaN }
  const { means, weights, min, max } = digest.state()
  const sorted = sortedOf(Float64Array.of(min, ...means, max), Float64Array.of(0, ...weights.map(Math.abs), 0))
  return { sorted, quantile: digest.quantile, rank: digest.rank }
}

const NOTHING: Sorted = { values: new Float64Array(0), ends: new Float64Array(0), total: 0 }

const digestFrom = (values: Float64Array<ArrayBuffer>, counts: Float64Array, compression: number): Digest => {
  const { values: means, ends } = sortedOf(values, counts)
  const weights = ends.map((end, i) => (i === 0 ? end : end - ends[i - 1]!))
  const whole = digestOf({
    ...{ compression, means, weights },
    min: means[0] ?? Number.POSITIVE_INFINITY,
    max: means.at(-1) ?? Number.NEGATIVE_INFINITY,
  })
  // What is merged is made as short as a sketch has to be.
  const short = digestOf({ ...EMPTY, compression })
  short.merge(whole)
  return short
}

const EMPTY = {
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  means: new Float64Array(0),
  weights: new Float64Array(0),
}
