import type { Hidden, Visible } from '../../engine/shipping/shipped-ranges.ts'
import { KINDS } from '../../mapping/index.ts'
import type { Run, Slice } from '../../query/request.ts'
import { META_FIELDS } from '../indices/meta.ts'
import { between, type Dsl, every, never, oneOf, some } from './dsl.ts'

/** What no search may show, each to stand in a `must_not`. */
export const hiddenClauses = ({ hidden }: Pick<Visible, 'hidden'>): Dsl[] => hidden.map(hiddenClause)

const hiddenClause = ({ batches, above, below, butTokens }: Hidden): Dsl => {
  const byBatch = between(META_FIELDS.batch, { gte: batches.from, lte: batches.to })
  if (butTokens) return every([byBatch, never(oneOf(META_FIELDS.kind, [KINDS.indexOf('token')]))])
  const blocks = { ...(above >= 0 && { gt: above }), ...(below !== undefined && { lte: below }) }
  return Object.keys(blocks).length === 0 ? byBatch : every([byBatch, between(META_FIELDS.block, blocks)])
}

/** Documents of blocks in some runs. */
export const withinRuns = (runs: readonly Run[]): Dsl =>
  some(runs.map(([from, to]) => between(META_FIELDS.block, { gte: from, lte: Math.min(to, Number.MAX_SAFE_INTEGER) })))

/** The same parts of the chain as those of a store. */
export const inSlice = ({ id, max }: Slice): Dsl => ({
  script: {
    script: {
      lang: 'painless',
      source: `int m = (int)doc['${META_FIELDS.block}'].value * params.by; m = m ^ (m >>> 15); return Integer.toUnsignedLong(m) % params.max == params.id`,
      params: { by: SCATTER, max, id },
    },
  },
})
/** 0x9e3779b1, as a signed integer. */
const SCATTER = -1_640_531_535
