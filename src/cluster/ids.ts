import type { Kind } from '../mapping/index.ts'

/**
 * `_id` of a document in the cluster. A contract that was created again at its address is several documents, which show one id: there each
 * has its position behind it.
 */
export const clusterId = (kind: Kind, id: string, position: number): string =>
  kind === 'contract' ? `${id}${BEHIND}${position}` : id

/** The id that a document shows. */
export const shownId = (id: string): string => {
  const end = id.indexOf(BEHIND)
  return end < 0 ? id : id.slice(0, end)
}

/** Stands in no id. */
const BEHIND = '@'
