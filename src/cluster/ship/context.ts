import type { IndexIdentities } from '../../engine/shipping/index-identities.ts'
import type { PartialBlocks } from '../../engine/shipping/partial-blocks.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import type { ShippingState } from '../../engine/shipping/shipping-state.ts'
import type { DocumentLines } from '../../engine/show/document-stream.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Bulk } from '../bulk/bulk.ts'
import type { ClusterOptions } from '../connection/cluster.ts'
import type { LeaseSession } from './lease-session.ts'
import type { ShipRequests } from './requests.ts'
import type { Publishing } from './sharing.ts'

/**
 * Progress of moving a store's documents to a cluster, or back to the store (`to`): all blocks,
 * blocks at their destination, and blocks compared there.
 */
export interface MovingReport {
  to: 'opensearch' | 'sqlite'
  blocks: number
  shipped: number
  verified: number
}

/** Progress of shipping documents to a cluster. */
export interface ShippingReport {
  /** Stored blocks that searches do not see yet. */
  blocksLeft: number
  /** Null if nothing moves: searches go to the cluster, as configured. */
  moving: MovingReport | null
  /** Why nothing can be shipped or restored for now. */
  trouble: string | null
  /** Since when, in ISO-8601 UTC. */
  troubleSince: string | null
}

/** Context of all parts of shipping. */
export interface ShipContext {
  network: string
  naming: ClusterOptions
  db: Db
  reader: { begin(): void; end(): void }
  lines: DocumentLines
  /** Documents in the cluster that may be shown. */
  visible(): Visible
  shelf: ShippingState
  known: IndexIdentities
  /** Blocks that are stored in part. */
  partial: PartialBlocks
  requests: ShipRequests
  /** Bulk requests of this session. */
  bulk(): Bulk
  session: LeaseSession
  publishing: Publishing
  /** Called when blocks have been shipped. */
  onProgress(): void
  metrics: Metrics
  log: Log
}

/**
 * Completes a batch: the cluster acknowledges its documents, searches of these indices see them,
 * the store notes `change`, and other processes have to be informed.
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
  /** Resolves when the cluster has acknowledged all; by default, flushes what was put until now. */
  flushed?: Promise<void>
  /** Work in the cluster that must precede notes in the store. */
  before?(): Promise<void>
}

/** Removes documents that no longer count; false if none are due. `settled`: see `ShipBatches`. */
export const sweep = async (
  { shelf, requests, session, publishing }: ShipContext,
  settled: () => Promise<void>,
): Promise<boolean> => {
  const [due] = shelf.sweeps()
  if (!due) return false
  // Documents in flight would otherwise remain until the next sweep.
  await settled()
  // Successors and searching processes must not count on documents that are removed.
  await publishing.publish()
  const begun = Date.now()
  await session.persist(() => requests.remove(due))
  await session.note(() => shelf.swept(due, begun))
  return true
}
