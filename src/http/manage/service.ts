import type { Act, Actor } from '../../accounts/audit.ts'
import type { TokenInfo } from '../../accounts/index.ts'
import type { Range } from '../../lib/ranges.ts'

/** What operators and tools manage a server by, besides searches and rules. */
export interface Management {
  token(id: number): TokenInfo | undefined
  /** Writes to the audit trail. */
  note(by: Actor, act: Act): void
  /** What this server has. */
  networks(): ServedNetwork[]
  abis: AbiShelf
  redecodings: Redecodings
  /** What decodes the logs and calls of a contract. */
  abiOf(network: string, address: string, asking: { account: number; signal: AbortSignal }): Promise<object>
  /** How fast networks were indexed, of one network or of all. */
  rates(network: string | undefined): { everyMs: number; networks: NetworkRates[] }
  /** What takes how much room in the store of a network; measured where that was not done lately. */
  storage(network: string): Promise<StorageState>
}

export interface ServedNetwork {
  network: string
  /** Whether a node brings new blocks. */
  indexed: boolean
  /** Which traces its node is asked for; null where there is no node. */
  traces: 'all' | 'calls' | 'off' | null
}

/** Without an address and a code hash it is for whichever contract it fits. */
export interface AbiInfo {
  /** The same for the same content. */
  id: string
  name: string
  network: string | null
  address: string | null
  codeHash: string | null
  /** 1 for an ABI, less for a list of signatures. */
  probability: number
  /** How many it declares; null of a very long list. */
  events: number | null
  functions: number | null
  errors: number | null
  bytes: number
  /** ISO-8601 UTC. */
  addedAt: string
}

export interface AbiFilter {
  network?: string | undefined
  address?: string | undefined
  codeHash?: string | undefined
  name?: string | undefined
}

/** An ABI as it was sent. */
export interface NewAbi {
  /** In any of the forms that the command line reads. */
  text: string
  /** What errors call it. */
  place: string
  name: string | undefined
  network: string | null
  address: string | null
  codeHash: string | null
}

export interface AbiShelf {
  list(filter: AbiFilter): Promise<AbiInfo[]>
  info(id: string): Promise<AbiInfo | undefined>
  /** With its declarations. */
  get(id: string): Promise<(AbiInfo & { abi: unknown[] }) | undefined>
  /** Keeps all of them, or none where one is bad. */
  add(abis: readonly NewAbi[]): Promise<AbiInfo[]>
  /** False where there was none. */
  remove(id: string): boolean
}

export interface RedecodingInfo {
  id: string
  network: string
  /** Id and name of the ABI; no name where it was removed meanwhile. */
  abi: string
  name: string | null
  askedAt: string
  state: 'waiting' | 'running' | 'stopping'
  /** The newest block that is still to be looked at; null before the first step. */
  nextBlock: number | null
  /** Null where that is not known. */
  blocksLeft: number | null
}

export interface Redecodings {
  list(): Promise<RedecodingInfo[]>
  /** On these networks, or on all that are stored and that an ABI is for. Refuses an id that there is no ABI of. */
  start(abis: readonly string[], networks: readonly string[] | undefined): Promise<RedecodingInfo[]>
  /** Undefined where there is none. */
  stop(id: string): Promise<RedecodingInfo | undefined>
}

export interface RateSample {
  /** ISO-8601 UTC. */
  at: string
  head: number | null
  /** The newest stored block. */
  top: number | null
  lag: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  secondsLeft: number | null
}

export interface NetworkRates {
  network: string
  /** The oldest first. */
  samples: RateSample[]
}

export interface StorageState {
  network: string
  state: 'measuring' | 'measured' | 'failed'
  measuredAt: string | null
  tookMs: number | null
  error: string | null
  /** What was measured last. */
  storage: Storage | null
}

export interface Storage {
  /** Of the file, of the log beside it, and of pages that nothing is in. */
  bytes: number
  log: number
  free: number
  ranges: Range[]
  /** What is missing between them. */
  gaps: Range[]
  parts: { part: string; what: string; bytes: number; share: number; rows: number | null }[]
}
