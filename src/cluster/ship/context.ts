import type { IndexIdentities } from '../../engine/shipping/index-identities.ts'
import type { PartialBlocks } from '../../engine/shipping/partial-blocks.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import type { ShippingState } from '../../engine/shipping/shipping-state.ts'
import type { DocumentLines } from '../../engine/show/document-stream.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../lib/metrics.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Bulk } from '../bulk/bulk.ts'
import type { ClusterOptions } from '../connection/cluster.ts'
import type { LeaseSession } from './lease-session.ts'
import type { ShipRequests } from './requests.ts'
import type { Publishing } from './sharing.ts'

/**
 * Of a store whose documents move to a cluster, or back to the store (`to`): how many blocks it has, how many of them are where they are to be, and how many were
 * compared there.
 */
export interface MovingReport {
  to: 'opensearch' | 'sqlite'
  blocks: number
  shipped: number
  verified: number
}

/** How shipping documents to a cluster goes on. */
export interface ShippingReport {
  /** Stored blocks that searches do not see yet. */
  blocksLeft: number
  /** Null where nothing moves: searches go to the cluster, and are to. */
  moving: MovingReport | null
  /** Why nothing can be shipped, or brought back, for now. */
  trouble: string | null
  /** Since when, in ISO-8601 UTC. */
  troubleSince: string | null
}

/** What all parts of shipping work with. */
export interface ShipContext {
  network: string
  naming: ClusterOptions
  db: Db
  reader: { begin(): void; end(): void }
  lines: DocumentLines
  /** What is in the cluster, and may be shown. */
  visible(): Visible
  shelf: ShippingState
  known: IndexIdentities
  /** Blocks that are stored in part. */
  partial: PartialBlocks
  requests: ShipRequests
  /** The one of this session. */
  bulk(): Bulk
  session: LeaseSession
  publishing: Publishing
  /** Called when blocks came to be there. */
  onProgress(): void
  metrics: Metrics
  log: Log
}

/**
 * The end of a batch whose documents were put: the cluster has acknowledged them, searches of these indices see them, the store notes `change`, and others
 * have to be told.
 */
export const finishBatch = async <T>(
  { bulk, requests, session, publishing }: ShipContext,
  touched: ReadonlySet<string>,
  change: () => T,
  { flushed = bulk().flush(), before }: Also = {},
): Promise<T> => {
  await flushed
  await session.persist(() => requests.refresh(touched))
  if (before) await session.persist(before)
  const done = await session.note(change)
  publishing.changed()
  return done
}

interface Also {
  /** Resolves when the cluster has acknowledged all; without it, what was put until now is flushed. */
  flushed?: Promise<void>
  /** What has to be done in the cluster before the store notes anything. */
  before?(): Promise<void>
}

/** Removes what counts for nothing, if anything is due; whether there was. `settled`: until all that was sent is noted. */
export const sweep = async (
  { shelf, requests, session, publishing }: ShipContext,
  settled: () => Promise<void>,
): Promise<boolean> => {
  const [due] = shelf.sweeps()
  if (!due) return false
  // What comes after it would stay until the second time.
  await settled()
  // Whoever takes over, and whoever searches there, must not count on what is removed.
  await publishing.publish()
  const begun = Date.now()
  await session.persist(() => requests.remove(due))
  await session.note(() => shelf.swept(due, begun))
  return true
}
