import type { Kind } from '../mapping/index.ts'
import type { Node } from './ast.ts'
import type { JsonNode } from './json-node.ts'

/** What a query says of its hits, beside which they are. */
export interface Collected {
  names: Named[]
  innerHits: InnerHits[]
}

/** A clause that has a name: hits show the names of those that they match. */
export interface Named {
  name: string
  kind: Kind
  query: Node
}

/** What a nested clause or a join wants shown of what made a hit match. */
export interface InnerHits {
  /** By default the path, or the kind. */
  name: string
  /** The kind of the hits outside. */
  kind: Kind
  of: { nested: string } | { child: Kind } | { parent: Kind }
  /** What an element, a child or a parent fulfils. */
  query: Node
  /** The body of `inner_hits`: `from`, `size`, `sort`, `_source` and so on. */
  body: JsonNode
  ignoreUnmapped: boolean
}
