import type { Aggregation, AggregationType } from '../../query/aggs/ast.ts'
import type { Result, Results, SingleBucket } from '../../query/aggs/result.ts'
import { type Answered, objectIn } from './answer.ts'
import { type Asking, type ClusterAggregation, INNER, type Reading } from './kind.ts'
import { CLUSTER_AGGREGATIONS } from './kinds/index.ts'

const kindOf = ({ spec }: Aggregation) => CLUSTER_AGGREGATIONS[spec.kind] as ClusterAggregation<AggregationType>

/** An aggregation is asked for by its place among those beside it: names from outside go nowhere. */
export const nameOf = (place: number): string => `a${place}`

/** By the places of aggregations in the tree. */
export type Known = ReadonlyMap<string, unknown>

export interface AskingTree extends Omit<Asking, 'aggregation' | 'beside' | 'known' | 'isTop'> {
  known: Known
  /** Aggregations of all documents that may be seen, by the places of those that asked for them. */
  all: Map<string, object>
}

export const askAll = (aggs: readonly Aggregation[], tree: AskingTree, above = ''): Record<string, object> =>
  Object.fromEntries(
    aggs.map((aggregation, place): [string, object] => {
      const at = `${above}${nameOf(place)}`
      const body = kindOf(aggregation).ask(aggregation.spec as never, {
        ...tree,
        aggregation,
        isTop: above === '',
        known: tree.known.get(at),
        beside: body => void tree.all.set(at, body),
      })
      return [nameOf(place), withInner(body, askAll(aggregation.aggs, tree, at))]
    }),
  )

const withInner = (body: object, inner: Record<string, object>): object => {
  const { aggs } = body as { aggs?: Record<string, object> }
  if (!aggs) return Object.keys(inner).length === 0 ? body : { ...body, aggs: inner }
  const own = Object.entries(aggs).map(([name, one]) => [name, name.startsWith(INNER) ? withInner(one, inner) : one])
  return { ...body, aggs: Object.fromEntries(own) }
}

export interface ReadingTree
  extends Omit<Reading, 'aggregation' | 'inner' | 'owner' | 'known' | 'learnt' | 'again' | 'beside' | 'related'> {
  known: Known
  /** What is learnt now. */
  learnt: Map<string, unknown>
  /** What is to be known when the cluster is asked once more. */
  again: Map<string, unknown>
  all: Answered | undefined
  related: ReadonlyMap<Aggregation, SingleBucket>
}

export const readAll = (
  aggs: readonly Aggregation[],
  found: Answered | undefined,
  tree: ReadingTree,
  { above, owner }: { above: string; owner: string } = { above: '', owner: '' },
): Results =>
  new Map(
    aggs.map((aggregation, place): [string, Result] => {
      const at = `${above}${nameOf(place)}`
      const result = kindOf(aggregation).read(aggregation.spec as never, objectIn(found, nameOf(place)), {
        ...tree,
        ...{ aggregation, owner },
        known: tree.known.get(at),
        inner: (bucket, name) => readAll(aggregation.aggs, bucket, tree, { above: at, owner: `${owner}/${name}` }),
        learnt<T>(make: () => T): T {
          if (!tree.learnt.has(at)) tree.learnt.set(at, make())
          return tree.learnt.get(at) as T
        },
        again(known) {
          if (known !== undefined || !tree.again.has(at)) tree.again.set(at, known ?? tree.learnt.get(at))
        },
        beside: objectIn(tree.all, at),
        related: tree.related.get(aggregation),
      })
      const { name, meta } = aggregation
      return [name, meta === undefined ? result : { ...result, meta }]
    }),
  )
