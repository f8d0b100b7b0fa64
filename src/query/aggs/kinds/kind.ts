import type { Kind } from '../../../mapping/index.ts'
import type { JsonNode } from '../../json-node.ts'
import type { Scope } from '../../scope.ts'
import type { Aggregation, Spec } from '../ast.ts'

/** What an aggregation is read against. `kind` of the scope is not looked at: it is of all kinds. */
export type AggregationScope = Omit<Scope, 'kind'>

/** One kind of aggregation. */
export interface AggregationKind {
  /** What it means, for the reference docs. */
  doc: string
  /** What is not as in Elasticsearch, for the reference docs. */
  limit?: string
  /** The body of a working one, for the reference docs. */
  example: unknown
  /** What the example searches. Default: events. */
  on?: Kind
  /** Whether it makes buckets, which others may lie in. */
  buckets: boolean
  /** The meaning of the aggregation's body. */
  read(place: JsonNode, scope: AggregationScope, at: Where): Spec
  /** What aggregations inside of it are read against, where that is not the same. */
  inside?(spec: Spec, scope: AggregationScope): AggregationScope
  /** Looks at the aggregations inside, once they are known. */
  check?(place: JsonNode, spec: Spec, aggs: readonly Aggregation[]): void
}

/** Where in the tree an aggregation stands. */
export interface Where {
  name: string
  /** The types of those around it, the outermost first. */
  around: readonly string[]
}
