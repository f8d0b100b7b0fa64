import type { Aggregation, AggregationType } from '../../../query/aggs/ast.ts'
import { notInCluster } from '../../refused.ts'
import type { Gather } from './kind.ts'

/** Of these a cluster does not tell enough to be added up; what to use instead. */
const INSTEAD: Partial<Record<AggregationType, string>> = {
  auto_date_histogram: 'use [date_histogram]',
  weighted_avg: 'use [avg] inside [terms] of the weights',
}

/** Refuses them, before the cluster is asked. */
export const checkJoined = (aggs: readonly Aggregation[]): void => {
  for (const { name, spec, aggs: inner } of aggs) {
    const instead = INSTEAD[spec.kind]
    if (instead !== undefined)
      throw notInCluster(
        `The aggregation [${name}] of type [${spec.kind}] over several networks`,
        `${instead}, or ask each network`,
      )
    checkJoined(inner)
  }
}

/** Nothing is told of it: it was refused. */
export const untold: Gather<AggregationType> = ({ kind }) => {
  throw new Error(`[${kind}] is not added up`)
}
