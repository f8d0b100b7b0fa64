import type { MessagePort } from 'node:worker_threads'
import type { AlertCounts, AlertUpdate } from '../alerts/alert-store.ts'
import type { RpcSourceOptions } from '../chain/rpc-source.ts'
import type { EndpointStatus } from '../chain/source.ts'
import type { BlockPoint } from '../config/kinds.ts'
import type { Scoping } from '../config/scopes.ts'
import type { SegmentBatch } from '../engine/documents/batch.ts'
import type { Revision } from '../engine/index/redecode-patch.ts'
import type { Replacement } from '../engine/port.ts'
import type { TransferredError } from '../lib/errors.ts'
import type { LogMessage } from '../lib/log.ts'
import type { Range } from '../lib/ranges.ts'
import type { LanePart } from '../lib/scheduling/lane-turns.ts'
import type { Limits } from '../limits/index.ts'
import type { MetricSnapshot } from '../metrics/index.ts'
import type { ShownFilter } from '../search/coverage.ts'
import type { Room } from './decoding/shared/dictionaries.ts'
import type { FinalityReport } from './finality.ts'
import type { MissingBlocks } from './jobs/missing.ts'
import type { StateReply, StateRequest } from './past-state.ts'
import type { PatchLine, RemotePlace, ShippingReport } from './remote.ts'
import type { TimedBlock } from './status/chain-pace.ts'

/** Messages between a network's indexer thread, its writer thread and the main thread. */

/** A change written in one transaction. Batches of the head precede waiting ones of a back-fill. */
export type WriterChange =
  | { type: 'batch'; lane: LaneName; batch: SegmentBatch; update: AlertUpdate | undefined }
  /** Replaces blocks that are stored in part. */
  | { type: 'replace'; lane: LaneName; change: Replacement; update: AlertUpdate | undefined }
  /** Restores blocks with offloaded documents, in place of the end of their segment. */
  | { type: 'restore'; segment: number; batch: SegmentBatch }
  /** The last restored batch equals its remote copy. Done when the store answers searches. */
  | { type: 'verified' }
  /** One step of removing blocks whose documents were lost remotely. Done when none is left. */
  | { type: 'forget'; blocks: readonly Range[]; indices: readonly string[] }
  | { type: 'rollback'; to: number }
  | { type: 'revise'; revision: Revision }
  | { type: 'update'; update: AlertUpdate }

export type WriterRequest =
  | WriterChange
  /** Replaces remote documents. */
  | { type: 'patch'; lines: readonly PatchLine[] }
  /** Done when all stored documents are shipped. */
  | { type: 'ship' }

export type ToWriter =
  | (WriterRequest & { id: number })
  /** The program stops: pending writes are not awaited if they cannot be made now. */
  | { type: 'stop' }
  | { type: 'close' }

export type LaneName = 'head' | 'fill'

/** The head goes first within its part; the back-fill is guaranteed the rest. */
export const LANE_PARTS: Readonly<Record<LaneName, LanePart>> = {
  head: { part: 0.68, creditMs: 1000 },
  fill: { part: 0.32, creditMs: 30 },
}

export type FromWriter =
  | LogMessage
  | ({ type: 'done'; id: number; alerts: AlertCounts; notes: ReadonlyMap<number, string> } & Revised)
  | { type: 'failed'; id: number; failure: TransferredError }
  /** The writer cannot go on and retries by itself; null once it can. */
  | { type: 'stuck'; why: string | null; code?: string }
  /** Backlog of shipping; null once shipping has ended. */
  | { type: 'shipping'; shipping: ShippingReport | null }
  | { type: 'metrics'; metrics: MetricSnapshot[] }

export interface Revised {
  done: boolean
  /** Milliseconds that blocked other writes. */
  took: number
}

export interface IndexerData {
  network: string
  data: string
  store: string
  abis: string
  job: IndexJob
  storeBatch: number
  indexers: number
  sharing: WorkSharing
  cacheMb?: number
  limits: Limits
  /** Remote place of the network's documents, if any. */
  remote?: RemotePlace | undefined
  returning?: boolean
}

export interface WriterData {
  store: string
  port: MessagePort
  network: string
  remote?: RemotePlace | undefined
  /** Documents return from there. */
  returning?: boolean
  /** Bytes by which the store may grow before documents are shipped. */
  journalMax?: number | undefined
  cacheMb?: number
}

export interface WorkSharing {
  /** Bytes of packs that are worth starting them; default 8 MB. */
  from?: number
  /** Blocks of a node that are worth starting them; default 30. */
  blocks?: number
  room?: Room
}

export type IndexJob =
  | { type: 'import'; files: string[] }
  | {
      type: 'index'
      node: NodeOptions
      from: BlockPoint | undefined
      to: BlockPoint | undefined
      order: BackfillOrder
      finality: number
      toFinalized?: boolean
      scoping?: Scoping | undefined
    }
  | {
      type: 'follow'
      node: NodeOptions
      from: BlockPoint | undefined
      order: BackfillOrder
      finality: number
      /** Follows reorganisations down to the finalized block instead of down to `finality`. */
      toFinalized?: boolean
      keep?: BlockRetention
      scoping?: Scoping | undefined
      /** Longest time without a block in milliseconds; 0: unlimited. Default: by the pace. */
      staleMs?: number | undefined
      /** All networks that the server follows with all their blocks: rules over several ones take these. */
      followed: readonly string[]
    }
  | { type: 'narrow' }
  | { type: 'forget' }
  | { type: 'move' }
  /** Takes no new blocks, but rules may search stored ones. */
  | { type: 'watch' }

/** Keeps all blocks without a limit. */
export interface BlockRetention {
  blocks?: number | undefined
  forMs?: number | undefined
}

/** Blocks are many short-lived objects; in a large young generation they die early. */
export const YOUNG_MB_BY_JOB = {
  watch: 24,
  follow: 24,
  narrow: 96,
  forget: 24,
  move: 24,
  index: 96,
  import: 96,
} as const satisfies Record<IndexJob['type'], number>

/** Several threads that build have it each, and as much is fast enough for one block at a time. */
export const MOST_YOUNG_MB_OF_BUILDER = 48

export type BackfillOrder = 'newest' | 'oldest'

export type NodeOptions = Omit<RpcSourceOptions, 'limits' | 'log' | 'clock' | 'random' | 'metrics' | 'spent'>

export type ToIndexer = { type: 'stop' } | StateRequest

export type FromIndexer =
  | LogMessage
  | StateReply
  | { type: 'report'; report: Report }
  | { type: 'alerts' }
  | { type: 'ended'; failure: TransferredError | undefined; report: Report }

export interface Report {
  blocks: number
  logs: number
  events: number
  /** Progress of the job: blocks of a back-fill, bytes of files. */
  done: number
  total: number
  /** Newest block of the source; null if unknown. */
  head: number | null
  added: Range[]
  /** Newest block taken from the chain, and when, in epoch milliseconds; null before the first. */
  newest: (TimedBlock & { at: number }) | null
  blockTime: number | null
  asked: Range | null
  reading: string | null
  /** Null while it runs. */
  waiting: WaitReason | null
  endpoints: EndpointStatus[]
  /** Why blocks lack traces; null if they have some, or while unknown. */
  withoutTraces: string | null
  alerts: AlertCounts
  redecoding: RedecodingReport | null
  filling: FillingReport | null
  missing: MissingBlocks | null
  finality: FinalityReport | null
  /** Null if documents stay in the store, or while unknown. */
  shipping: ShippingReport | null
  metrics: MetricSnapshot[]
  troubles: ReadonlyMap<number, string>
  accountTroubles: ReadonlyMap<number, string>
}

/**
 * `node`, `chain`, `block`: for a node that answers, one of this chain, a new block; `disk`,
 * `store`, `cluster`: until documents can be written or shipped; `rules`: for data that a rule
 * needs; `thread`: for a report; `budget`, `slow`, `fill`: for credits of nodes. Times are ISO-8601
 * UTC.
 */
export interface WaitReason {
  kind: 'node' | 'chain' | 'block' | 'disk' | 'store' | 'cluster' | 'rules' | 'thread' | 'budget' | 'slow' | 'fill'
  for: string
  since: string
  until?: string
}

export interface FillingReport extends ShownFilter, Range {
  next: number
}

export interface RedecodingReport {
  abi: string
  blocksLeft: number
}

export const NO_REPORT: Report = {
  blocks: 0,
  logs: 0,
  events: 0,
  done: 0,
  total: 0,
  head: null,
  newest: null,
  blockTime: null,
  asked: null,
  reading: null,
  added: [],
  waiting: null,
  endpoints: [],
  withoutTraces: null,
  alerts: {},
  redecoding: null,
  filling: null,
  missing: null,
  finality: null,
  shipping: null,
  metrics: [],
  troubles: new Map(),
  accountTroubles: new Map(),
}
