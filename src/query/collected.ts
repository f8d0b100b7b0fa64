import type { Kind } from '../mapping/index.ts'
import type { Node } from './ast.ts'

/** What a query says of its hits, beside which they are. */
export interface Collected {
  names: Named[]
}

/** A clause that has a name: hits show the names of those that they match. */
export interface Named {
  name: string
  kind: Kind
  query: Node
}
