import { notInCluster } from '../refused.ts'
import type { Asking, Reading } from './kind.ts'

/** Values of a field that a cluster is asked for at first, and where there are more. */
export interface Most {
  few: number
  many: number
}

/** A cluster's own limit of buckets in an answer is 65,535. */
export const MOST: Most = { few: 1000, many: 50_000 }

/** What aggregations learn that are told by all values of a field. */
export interface KnownMost {
  most: number
}

export const mostOf = ({ known, most }: Pick<Asking, 'known' | 'most'>): number =>
  (known as KnownMost | undefined)?.most ?? most.few

/** Asks for more values. Refuses where there are more than can be asked for. */
export const askMore = (reading: Pick<Reading, 'aggregation' | 'known' | 'most' | 'again'>): void => {
  const { many } = reading.most
  if (mostOf(reading) >= many) throw refuseMore(reading)
  const more: KnownMost = { most: many }
  reading.again(more)
}

export const refuseMore = ({
  aggregation: { name, spec },
}: {
  aggregation: { name: string; spec: Pick<Reading['aggregation']['spec'], 'kind'> }
}): never => {
  throw notInCluster(
    `the aggregation [${name}] of type [${spec.kind}] over so many different values`,
    'narrow the query, order terms by their counts or keys, or page through a composite aggregation',
  )
}
