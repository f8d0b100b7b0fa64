import type { Hidden } from '../../engine/shelf.ts'
import type { Kind } from '../../mapping/index.ts'
import { META_FIELDS } from '../meta.ts'
import { hiddenClauses } from '../query/visibility.ts'

/** How many documents an index holds of a block, by the hash that they tell of it. */
export interface BlockCount {
  block: number
  /** Undefined where they tell none. */
  hash: string | undefined
  count: number
}

export interface CountsAnswer {
  after_key?: object
  buckets: { key: { block: number; hash: string | null }; doc_count: number }[]
}

/** As many as one answer has. */
const TOGETHER = 10_000

/** Has a cluster count what searches see of an index, by blocks in their order. */
export const countsBody = (kind: Kind, hidden: readonly Hidden[], after: object | undefined) => ({
  size: 0,
  track_total_hits: false,
  query: { bool: { must_not: hiddenClauses({ hidden }) } },
  aggs: {
    blocks: {
      composite: {
        size: TOGETHER,
        sources: [
          { block: { terms: { field: META_FIELDS.block } } },
          { hash: { terms: { field: kind === 'block' ? 'hash' : 'blockHash', missing_bucket: true } } },
        ],
        ...(after && { after }),
      },
    },
  },
})

export const countsIn = ({ buckets }: CountsAnswer): BlockCount[] =>
  buckets.map(({ key: { block, hash }, doc_count }) => ({ block, hash: hash ?? undefined, count: doc_count }))
