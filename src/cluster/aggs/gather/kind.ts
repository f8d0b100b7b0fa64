import type { State } from '../../../engine/aggs/aggregator.ts'
import type { AggregationType, SpecOf } from '../../../query/aggs/ast.ts'
import type { Value } from '../../../query/ast.ts'
import type { Answered } from '../answer.ts'

/** What the cluster answered to one aggregation, in each of some buckets above; undefined stands for a bucket without documents. */
export type Told = readonly (Answered | undefined)[]

export interface Gathering {
  name: string
  /** The number of a value, or of a combination of some, which all networks share. */
  keyOf(values: readonly (Value | null)[]): number
  /** Has the cluster asked once more, where it was not told enough: `learn` adds to what is known then. */
  again(learn: (known: unknown) => unknown): void
  /** What aggregations inside find in some buckets. */
  within(buckets: Told): State[]
}

/** Puts what was told of one kind of aggregation into the form that is added to what others find. */
export type Gather<K extends AggregationType> = (spec: SpecOf<K>, told: Told, gathering: Gathering) => State
