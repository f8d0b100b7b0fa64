import { overLimit } from '../../limits/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { rangeKey } from '../../query/aggs/buckets/range.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import { type Batch, filtered } from './batch.ts'
import type { Grouped } from './group.ts'
import { createKeyed } from './keyed.ts'
import { createSource } from './sources.ts'
import { eachValue, gathered } from './values.ts'

export const createRange = (spec: SpecOf<'range' | 'date_range'>, inner: Inner, context: Context): Aggregator => {
  const { ranges, values, keyed: isKeyed } = spec
  const source = createSource(values, undefined, context)
  const keyed = createKeyed(
    (at, batch, wantsInner) => {
      const found = source.read(at, batch)
      const values = found.form === 'several' ? undefined : gathered(found, batch)
      return choices(
        batch,
        wantsInner,
        chosenBy(
          ranges,
          ({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
            if (values) return filtered(batch, (_, i) => values[i]! >= from && values[i]! < to)
            const inside = new Uint8Array(batch.count)
            eachValue(found, batch, (i, value) => {
              if (value >= from && value < to) inside[i] = 1
            })
            return filtered(batch, (_, i) => inside[i] === 1)
          },
          batch,
          context,
        ),
      )
    },
    inner,
    context.reader.check,
  )
  return {
    ...listed(keyed),
    result(owner): Buckets {
      context.count(ranges.length)
      const buckets = bucketsByKey(keyed, owner)
      return {
        is: 'buckets',
        type: spec.kind,
        members: [],
        keyed: isKeyed,
        buckets: ranges.map((range, i): Bucket => {
          const bucket = buckets.get(i) ?? -1
          return {
            ...rangeKey(range, spec),
            docCount: keyed.counts[bucket] ?? 0,
            results: resultsOf(inner, bucket),
          }
        }),
      }
    },
    number: () => null,
  }
}

export const listed = (
  keyed: ReturnType<typeof createKeyed>,
): Pick<Aggregator, 'collect' | 'merge' | 'finish' | 'bytes'> => ({
  collect: keyed.collect,
  merge: keyed.merge,
  finish: () => keyed.finish(),
  bytes: keyed.bytes,
})

/** The buckets of one above by their key. */
export const bucketsByKey = (keyed: ReturnType<typeof createKeyed>, owner: number): Map<number, number> =>
  new Map(Array.from(keyed.in(owner), bucket => [keyed.keys[bucket]!, bucket]))

/** What each choice lets through. Documents that many of them let through multiply from level to level. */
export const chosenBy = <T>(
  all: readonly T[],
  choose: (one: T) => Batch,
  { buckets }: Batch,
  { reader, limits }: Context,
): Batch[] => {
  let bytes = all.length * buckets * SLOT_BYTES
  return all.map(one => {
    reader.check()
    if (bytes > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    const batch = choose(one)
    bytes += batch.count * DOCUMENT_BYTES
    return batch
  })
}

/** Of a bucket that may come to be, and of a document in one. */
const [SLOT_BYTES, DOCUMENT_BYTES] = [12, 16]

/** Buckets by the number of a choice: a document may lie in several. */
export const choices = (batch: Batch, wantsInner: boolean, chosen: readonly Batch[]): Grouped => {
  const { buckets } = batch
  const slots = new Float64Array(chosen.length * buckets)
  for (const [choice, { count, owners }] of chosen.entries())
    if (owners) for (let i = 0; i < count; i++) slots[choice * buckets + owners[i]!]!++
    else slots[choice * buckets]! += count
  const numbers = new Int32Array(slots.length).fill(-1)
  let size = 0
  for (let slot = 0; slot < slots.length; slot++) if (slots[slot]! > 0) numbers[slot] = size++
  const rows = { owners: new Uint32Array(size), keys: new Float64Array(size), counts: new Float64Array(size) }
  for (let slot = 0; slot < slots.length; slot++) {
    const row = numbers[slot]!
    if (row < 0) continue
    rows.owners[row] = slot % buckets
    rows.keys[row] = Math.floor(slot / buckets)
    rows.counts[row] = slots[slot]!
  }
  if (!wantsInner) return { rows, inner: undefined }
  const total = chosen.reduce((sum, { count }) => sum + count, 0)
  const list = new Uint32Array(total)
  const owners = new Uint32Array(total)
  let at = 0
  for (const [choice, one] of chosen.entries())
    for (let i = 0; i < one.count; i++) {
      list[at] = one.list ? one.list[i]! : one.from + i
      owners[at++] = numbers[choice * buckets + (one.owners ? one.owners[i]! : 0)]!
    }
  return { rows, inner: { count: total, list, from: 0, owners, buckets: size } }
}
