import type { State } from '../../../engine/aggs/aggregator.ts'
import { keyedState } from '../../../engine/aggs/told.ts'
import { type Answered, countIn } from '../answer.ts'
import type { Gathering, Told } from './kind.ts'

/** A bucket, with the number that its key has in all networks. */
export interface KeyedBucket {
  key: number
  bucket: Answered | undefined
}

/** Buckets by keys: `bucketsIn` gives those of one bucket above. Those without documents are none. */
export const gatherKeyed = (
  told: Told,
  gathering: Pick<Gathering, 'within'>,
  bucketsIn: (found: Answered | undefined) => readonly KeyedBucket[],
): State =>
  keyedBy(told, gathering, found =>
    bucketsIn(found)
      .map(({ key, bucket }) => ({ key: key + 0, bucket }))
      .filter(({ bucket }) => countIn(bucket) > 0)
      .sort((a, b) => a.key - b.key),
  )

/** The same of buckets that are in the order of their keys. */
export const keyedBy = (
  told: Told,
  { within }: Pick<Gathering, 'within'>,
  bucketsIn: (found: Answered | undefined) => readonly KeyedBucket[],
): State => {
  const all = told.flatMap((found, owner) => bucketsIn(found).map(one => ({ owner, ...one })))
  const rows = {
    owners: Uint32Array.from(all, ({ owner }) => owner),
    keys: Float64Array.from(all, ({ key }) => key),
    counts: Float64Array.from(all, ({ bucket }) => countIn(bucket)),
  }
  return keyedState(rows, told.length, within(all.map(({ bucket }) => bucket)))
}
