import type { SpecOf } from '../../query/aggs/ast.ts'
import { type Scale, scalesOf, timeKey } from '../../query/aggs/buckets/auto-date-histogram.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf, type State } from './aggregator.ts'
import { group, type Rows } from './group.ts'
import { createKeyed } from './keyed.ts'
import { createSource } from './sources.ts'

/** The length of buckets is known once all times are: until then each time is a bucket of its own. */
export const createAutoDateHistogram = (
  spec: SpecOf<'auto_date_histogram'>,
  inner: Inner,
  context: Context,
): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const { check } = context.reader
  const fine = createKeyed((at, batch, wantsInner) => group(source.read(at, batch), batch, wantsInner), inner, check)
  const coarse = createKeyed(
    () => {
      throw new Error('nothing is collected here')
    },
    inner,
    check,
  )
  const waiting: { state: State & Rows; owners: Uint32Array }[] = []
  const scales = new Map<number, Scale>()
  const allScales = scalesOf(spec)

  const ends = (): Map<number, [least: number, greatest: number]> => {
    const found = new Map<number, [number, number]>()
    for (const { state, owners } of waiting)
      for (let i = 0; i < state.keys.length; i++) {
        const owner = owners[state.owners[i]!]!
        const key = state.keys[i]!
        const known = found.get(owner)
        if (!known) found.set(owner, [key, key])
        else if (key < known[0]) known[0] = key
        else if (key > known[1]) known[1] = key
      }
    return found
  }

  return {
    collect: fine.collect,
    merge: (state, owners) => void waiting.push({ state: state as State & Rows, owners }),
    finish() {
      for (const [owner, [least, greatest]] of ends()) scales.set(owner, allScales.of(least, greatest))
      for (const { state, owners } of waiting) {
        const keys = state.keys.map((key, i) => startOf(scales.get(owners[state.owners[i]!]!)!, key))
        coarse.merge({ ...state, keys } as State, owners)
      }
      waiting.length = 0
      coarse.finish()
    },
    result(owner): Buckets {
      const scale = scales.get(owner)
      const known = new Map(Array.from(coarse.in(owner), bucket => [coarse.keys[bucket]!, bucket]))
      const starts = scale?.starts ?? []
      context.count(starts.length)
      return {
        is: 'buckets',
        type: 'auto_date_histogram',
        members: [],
        keyed: false,
        buckets: starts.map((key): Bucket => {
          const bucket = known.get(key) ?? -1
          return {
            ...timeKey(key, spec),
            docCount: coarse.counts[bucket] ?? 0,
            results: resultsOf(inner, bucket),
          }
        }),
        after: [['interval', scale?.name ?? allScales.shortest]],
      }
    },
    number: () => null,
    bytes: () => coarse.bytes(),
  }
}

const startOf = ({ starts }: Scale, time: number): number => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= time) low = middle
    else high = middle - 1
  }
  return starts[low]!
}
