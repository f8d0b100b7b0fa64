import type { Kind } from './index.ts'

/**
 * What the documents of a kind may have as their parent, which their `_parent` names: the tree is block > tx > log, event, trace, call. A trace is
 * of a transaction, but for rewards, which are of the block. Parent and child lie in the same block.
 */
export const PARENTS = {
  block: [],
  tx: ['block'],
  log: ['tx'],
  event: ['tx'],
  trace: ['tx', 'block'],
  call: ['tx'],
  contract: [],
  token: [],
} as const satisfies Record<Kind, readonly Kind[]>

export const parentsOf = (kind: Kind): readonly Kind[] => PARENTS[kind]

export const childrenOf = (kind: Kind): Kind[] =>
  (Object.keys(PARENTS) as Kind[]).filter(child => parentsOf(child).includes(kind))
