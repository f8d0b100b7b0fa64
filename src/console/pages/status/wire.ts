import type { NetworkStatus, Reason, Status } from '../../api/wire.ts'

/** What `/status`, `/status/rates`, `/status/storage` and `/alerting/…` answer, as far as this page reads it. */
export interface FullStatus extends Status {
  networks: FullNetwork[]
  deliveries?: { state: string; error: string | null; failing: { since: string }[] }
  readers?: { most: number; busy: number; waiting: number; lost: number; error: string | null }
  warnings?: Reason[]
}

export interface FullNetwork extends NetworkStatus {
  waiting?: { for: string; since: string; until?: string }
  restarts?: { count: number; error: string; endedAt: string; nextAt: string | null }
  headAge: number | null
  blockTime: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  secondsLeft: number | null
  store?: 'damaged' | 'unreadable'
  logLoss?: { transactions: number; blocks: number | null }
  cluster?: { state: string; version: string | null; nodes: number | null; indices?: string }
  shipping?: { blocksLeft: number; trouble: string | null; troubleSince: string | null }
  moving?: { to: 'opensearch' | 'sqlite'; blocks: number; shipped: number; verified: number }
  endpoints: Endpoint[]
  redecoding?: { abi: string; blocksLeft: number }
  coverage?: ScopeCoverage[]
  filling?: ScopeFilling
  missing?: { ranges: { from: number; to: number }[]; why: string; since: string; remedy: string }
}

/** Logs that are looked for; of many addresses and topics, the first ones. */
export interface Filter {
  addresses: string[]
  addressCount: number
  topics: string[]
  topicCount: number
  /** Present where it is transactions from and to the addresses that are looked for. */
  transactions?: true
}

export interface ScopeCoverage extends Filter {
  ranges: { from: number; to: number }[]
}

export interface ScopeFilling extends Filter {
  from: number
  to: number
  next: number
}

export interface Endpoint {
  url: string
  lastError: string | null
  lastErrorAt: string | null
  requests: number
  errors: number
  failingSince?: string
  responseMs?: { median: number; p95: number }
  slow?: boolean
  otherBranch?: { number: number; hash: string; since: string }
  budget?: Budget
}

export interface Budget {
  costs: string
  rate?: string
  spent: number
  day?: Period
  month?: Period
}

export interface Period {
  limit: number
  used: number
  left: number
  endsAt: string
}

export interface Rates {
  everyMs: number
  networks: { network: string; samples: RateSample[] }[]
}

export interface RateSample {
  at: string
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  lag: number | null
}

export interface StorageAnswer {
  network: string
  state: 'measuring' | 'measured' | 'failed'
  measuredAt: string | null
  tookMs: number | null
  error: string | null
  storage: null | {
    bytes: number
    log: number
    free: number
    parts: { part: string; what: string; bytes: number; share: number; rows: number | null }[]
  }
}

export interface Destination {
  channel: string
  target: string
  waiting: number
  retried: number
  dead: number
  nextAt: string | null
  failing: null | { since: string; at: string; error: string; status: number | null }
}

export interface Delivery {
  id: number
  network: string
  type: string
  alert: string
  rule: number
  channel: string
  target: string
  state: 'queued' | 'delivered' | 'dead' | 'cancelled'
  tries: number
  nextAt: string | null
  createdAt: string
  deliveredAt: string | null
  lastStatus: number | null
  lastError: string | null
}

export interface Attempt {
  n: number
  at: string
  latencyMs: number | null
  outcome: string
  status: number | null
  error: string | null
  head: string | null
  nextAt: string | null
}
