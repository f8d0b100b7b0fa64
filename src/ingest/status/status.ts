import type { AlertCounts } from '../../alerts/alert-store.ts'
import type { EndpointStatus } from '../../chain/source.ts'
import type { Range } from '../../lib/ranges.ts'
import type { RestartStatus } from '../../lib/restarts.ts'
import type { ScopeCoverage } from '../../search/coverage.ts'
import type { ThreadsState } from '../../search/threads.ts'
import type { FinalityReport } from '../finality.ts'
import type { MissingBlocks } from '../jobs/missing.ts'
import type { RedecodingReport, ScopeFilling, Waiting } from '../messages.ts'
import type { MovingReport, RemoteHealth, ShippingReport } from '../remote.ts'
import type { LogLoss } from './published.ts'
import type { Reason } from './readiness.ts'

/** What `GET /status` and `chainsieve status` tell. */
export interface Status {
  version: string
  networks: NetworkStatus[]
  /** Set where a server keeps the data folder, but does not tell its status: it has just started, or is too busy. */
  silent?: true
  /** Absent where no server runs, and so are the next two. */
  deliveries?: DeliveryState
  /** The threads that answer what takes longer. */
  readers?: ThreadsState
  /** Why the server is not ready; none where it is. */
  reasons?: Reason[]
  /** What the operator should look at though the server is ready. */
  warnings?: Reason[]
}

/** How what sends alerts is. */
export interface DeliveryState {
  state: 'delivering' | 'restarting' | 'stuck'
  /** Why it does not deliver now. */
  error: string | null
  restarts?: RestartStatus
  /** Receivers that take nothing now, those that have failed longest first. */
  failing: FailingState[]
}

export interface FailingState {
  account: number
  rule: number
  channel: string
  /** What tells it from others of its channel, which may have the same `target`. */
  receiver: string
  /** Without its secrets. */
  target: string
  error: string
  status: number | null
  /** ISO-8601 UTC. */
  since: string
  at: string
}

export interface NetworkStatus {
  network: string
  /**
   * `following` the head, `filling` older blocks, both being `filling`; `waiting` for something, such as an answer of a node; `serving` what
   * is stored where there is no source; `stored` where no server runs; `restarting` after `error`, `stopped` by it.
   */
  state: 'following' | 'filling' | 'waiting' | 'serving' | 'stored' | 'restarting' | 'stopped'
  /** The reason for waiting, and since when. */
  waiting?: Waiting
  /** That its threads ended by a fault, and were started again. */
  restarts?: RestartStatus
  /** Blocks that are held whole, ascending and inclusive; between two ranges is a hole. */
  ranges: Range[]
  /** What was looked for in other blocks; absent where the network has no scopes. */
  coverage?: ScopeCoverage[]
  /** What is looked for below the head for scopes; absent where nothing is. */
  filling?: ScopeFilling
  /** Blocks that are wanted and that none of its nodes has; absent where there are none. */
  missing?: MissingBlocks
  /** The highest block that any of its nodes told last; null where none did. */
  head: number | null
  /** Blocks between the newest stored block and the head. */
  lag: number | null
  /** The newest block of the chain that was taken, with its own time; null where there is none. Times are ISO-8601 UTC. */
  lastBlock: LastBlock | null
  /** Seconds since the chain's newest known block. */
  headAge: number | null
  /** Seconds that the chain takes for a block; null where it is not followed, or not known. */
  blockTime: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  /** Until a back-fill is done. */
  secondsLeft: number | null
  error: string | null
  /** What the log of its store had lost when the server started, after a crash; absent where nothing. Its blocks are indexed again. */
  logLoss?: LogLoss
  /** Why its store cannot be searched; absent where it can. */
  store?: 'damaged' | 'unreadable'
  endpoints: EndpointStatus[]
  /** Alerts that came into each state since the server started, by target type. */
  alerts: AlertCounts
  /** What nodes tell of finality; absent where that is not known, or nothing is followed. */
  finality?: FinalityReport
  /** The state of where its documents are kept; absent where that is its store, and until it is known. */
  cluster?: ClusterStatus
  /** Which of the stored blocks are still to be shipped, and why; absent where none ever are. */
  shipping?: Omit<ShippingReport, 'moving'>
  /** Set while all documents move out of the store, which still answers searches, or back into it. */
  moving?: MovingReport
  /** Set while stored data is decoded again: by which ABI, and how much is left. */
  redecoding?: RedecodingReport
}

export interface ClusterStatus extends RemoteHealth {
  /** What the names of its indices have in common. */
  indices: string
}

export interface LastBlock {
  number: number
  time: string
  /** When it came; null of a block that was stored before. */
  receivedAt: string | null
}
