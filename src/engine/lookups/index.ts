import type { Db } from '../../sqlite/database.ts'
import { createBlocks } from '../blocks.ts'
import type { Lookups } from '../port.ts'
import { createFeatureLookup } from './features.ts'
import { createLinkLookups } from './links.ts'
import { createTokenLookup } from './tokens.ts'

/** What indexing asks of a store: its pages are in memory, or a read away. */
export const createLookups = (db: Db): Lookups => ({
  ...createBlocks(db),
  ...createLinkLookups(db),
  token: createTokenLookup(db),
  features: createFeatureLookup(db),
  prefetch: () => {},
})
