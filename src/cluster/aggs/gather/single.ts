import { singleState } from '../../../engine/aggs/told.ts'
import type { AggregationType } from '../../../query/aggs/ast.ts'
import { countIn, objectIn } from '../answer.ts'
import { INNER } from '../kind.ts'
import type { Gather } from './kind.ts'

export const single: Gather<AggregationType> = (_, told, { within }) =>
  singleState(
    Float64Array.from(told, bucket => countIn(bucket)),
    within(told),
  )

export const global: Gather<'global'> = (spec, told, gathering) =>
  single(
    spec,
    told.map(found => objectIn(found, INNER)),
    gathering,
  )
