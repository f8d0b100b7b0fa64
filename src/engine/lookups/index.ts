import type { Db } from '../../sqlite/database.ts'
import { createBlocks } from '../blocks.ts'
import { createCoverageReader } from '../coverage.ts'
import type { Lookups } from '../port.ts'
import { createFeatureLookup } from './features.ts'
import { createLinkLookups } from './links.ts'
import { createTokenLookup } from './tokens.ts'

/** What indexing asks of a store: its pages are in memory, or a read away. */
export const createLookups = (db: Db): Lookups => ({
  coverage: createCoverageReader(db),
  partial: createPartialLookup(db),
  ...createBlocks(db),
  ...createLinkLookups(db),
  token: createTokenLookup(db),
  features: createFeatureLookup(db),
  prefetch: () => {},
})

const createPartialLookup = (db: Db): Lookups['partial'] => {
  const find = db.prepare<[number, number], { id: number; first: number; last: number }>(
    'SELECT id, first, last FROM segment WHERE first <= ? AND last >= ? AND scoped = 1 ORDER BY first',
  )
  return ({ from, to }) => find.all(to, from)
}
