import type { AggregationType } from '../../../query/aggs/ast.ts'
import type { Gather } from './kind.ts'

/** Nothing is told of it: several networks refuse it, wherever their documents lie. */
export const untold: Gather<AggregationType> = ({ kind }) => {
  throw new Error(`[${kind}] is not added up`)
}
