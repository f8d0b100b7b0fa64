import { overLimit } from '../../limits/index.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { createRows, firstRows, type Grouped, group } from './group.ts'
import { createKeyed, type Keyed, type Wanted } from './keyed.ts'
import type { Found } from './values.ts'

/** A kind of aggregation with several buckets: how documents are grouped, and which buckets are shown. */
export interface Bucketing {
  type: string
  /** Whether the answer has buckets by their names. */
  isNamed?: boolean
  group(at: At, batch: Batch, wantsInner: boolean): Grouped
  /** Where the first few buckets by a number are shown. */
  wanted?: Wanted | undefined
  /** Called with all that was found: adds buckets without documents. */
  complete?(keyed: Keyed, owners: number): void
  /** What is shown of one bucket above: keys with the numbers of their buckets, -1 for one without documents. */
  show(owner: number, keyed: Keyed): Shown
  /** What is shown of a key. */
  describe(key: number): Pick<Bucket, 'name' | 'key' | 'number'>
  /** Bytes that are taken beside the buckets. */
  bytes?(): number
}

export type Entry = readonly [key: number, bucket: number]
export interface Shown extends Partial<Pick<Buckets, 'members' | 'after'>> {
  entries: readonly Entry[]
}

export const createBuckets = (kind: Bucketing, inner: Inner, context: Context): Aggregator => {
  const keyed = createKeyed(kind.group, inner, context.reader.check, kind.wanted)
  return {
    collect: keyed.collect,
    ...(kind.wanted && { shrink: keyed.shrink }),
    merge: keyed.merge,
    finish(owners) {
      kind.complete?.(keyed, owners)
      keyed.finish()
    },
    result(owner): Buckets {
      const { entries, ...others } = kind.show(owner, keyed)
      context.count(entries.length)
      return {
        ...{ is: 'buckets', type: kind.type, members: [], keyed: kind.isNamed ?? false, ...others },
        buckets: entries.map(
          ([key, bucket]): Bucket => ({
            ...kind.describe(key),
            docCount: keyed.counts[bucket] ?? 0,
            results: resultsOf(inner, bucket),
          }),
        ),
      }
    },
    number: () => null,
    bytes: () => keyed.bytes() + (kind.bytes?.() ?? 0),
  }
}

/** Groups documents by their values. */
export const groupBy =
  (read: (at: At, batch: Batch) => Found): Bucketing['group'] =>
  (at, batch, wantsInner) =>
    group(read(at, batch), batch, wantsInner)

export const entriesOf = ({ keys }: Keyed, buckets: readonly number[]): Entry[] =>
  buckets.map(bucket => [keys[bucket]!, bucket])

/** Buckets of choices, which are shown in their order whatever they let through. */
export const createChoices = <T>(
  all: readonly T[],
  {
    choose,
    ...kind
  }: Pick<Bucketing, 'type' | 'isNamed'> & {
    /** What each choice lets through of a batch, one after the other. */
    choose(at: At, batch: Batch): (one: T) => Batch
    describe(one: T): Pick<Bucket, 'name' | 'key' | 'number'>
  },
  inner: Inner,
  context: Context,
): Aggregator =>
  createBuckets(
    {
      ...kind,
      group: (at, batch, wantsInner) => choices(batch, wantsInner, chosenBy(all, choose(at, batch), batch, context)),
      show(owner, keyed) {
        const buckets = new Map(Array.from(keyed.in(owner), bucket => [keyed.keys[bucket]!, bucket]))
        return { entries: all.map((_, i) => [i, buckets.get(i) ?? -1]) }
      },
      describe: key => kind.describe(all[key]!),
    },
    inner,
    context,
  )

/** Documents that many choices let through multiply from level to level. */
const chosenBy = <T>(
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
  const numbers = new Int32Array(slots.length)
  const all = createRows(slots.length)
  let size = 0
  for (let slot = 0; slot < slots.length; slot++) {
    if (slots[slot] === 0) continue
    all.owners[size] = slot % buckets
    all.keys[size] = Math.floor(slot / buckets)
    all.counts[size] = slots[slot]!
    numbers[slot] = size++
  }
  const rows = firstRows(all, size)
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
