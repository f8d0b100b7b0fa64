import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { type Grouped, group } from './group.ts'
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
