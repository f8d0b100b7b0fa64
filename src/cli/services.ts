import type { Accounts } from '../accounts/index.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Status } from '../ingest/status/status.ts'
import type { Log } from '../lib/log.ts'
import type { Progress } from '../lib/progress.ts'
import type { Shutdown } from '../lib/shutdown.ts'
import type { SearchService } from '../search/service.ts'
import type { DevOptions, ReplayOptions } from './dev-news.ts'
import type { RulesService } from './rules-service.ts'

/** What the commands set to work; main.ts puts it together. */
export interface Services {
  /** Serves until it is asked to stop. */
  serve(config: Config, run: Run): Promise<void>
  /** Follows a node for development until it is asked to stop, and tells what happens on it. */
  dev(config: Config, network: NetworkConfig, run: Run & DevOptions): Promise<void>
  /** Runs a transaction of a node again, and tells what happened in it. */
  replay(config: Config, network: NetworkConfig, hash: string, run: Run & ReplayOptions): Promise<void>
  /** Back-fills one network. */
  index(config: Config, network: NetworkConfig, run: Run & { progress: Progress }): Promise<Summary>
  importPacks(config: Config, network: string, files: string[], run: Run & { progress: Progress }): Promise<Summary>
  /** Opens what is stored for searching. */
  openSearch(config: Config, run: Run): Promise<SearchService>
  /** Writes all hits of a query, or blocks as a pack. */
  exportHits(config: Config, wanted: ExportWanted, run: Run & Bars): Promise<ExportDone>
  openAccounts(folder: string): Accounts
  openRules(config: Config, run: Run): RulesService
  /** Receives webhooks until it is asked to stop. */
  receive(options: ReceiveOptions, run: Run): Promise<void>
  status(config: Config, run: Run): Promise<Status>
  /** Looks at all that the program needs, and tells of each thing when it is known. */
  diagnose(config: Config, run: Run): AsyncIterable<Finding>
  /** Reads what is stored, of one network or all there is. */
  verify(
    config: Config,
    network: string | undefined,
    deep: boolean,
    run: Run & { progress(label: string): Progress },
  ): Promise<Verified[]>
  /** Copies all that is stored to a folder, beside a server if need be. */
  backup(config: Config, folder: string, full: boolean, run: Run & Bars): Promise<BackupDone>
  /** Makes the data folder of a backup, or with `check` only tells whether the backup is whole. */
  restore(config: Config, backup: string, how: RestoreHow, run: Run & Bars): Promise<RestoreDone>
  /** Takes old blocks, and with `keepAlerts` old alerts, out of a network's store, itself or by the server that runs. */
  prune(config: Config, network: NetworkConfig, before: number | undefined, run: Run): Promise<PruneDone>
  /** Takes what is outside of a network's scopes out of its store, itself or by the server that runs; a dry run only counts it. */
  narrow(config: Config, network: NetworkConfig, dryRun: boolean, run: Run): Promise<NarrowDone>
  /** Takes blocks out of a network's store of which its cluster lost documents that the store no longer has, itself or by the server that runs. */
  forget(config: Config, network: NetworkConfig, run: Run): Promise<ForgetDone>
  /** Moves a network's documents to its cluster, or back into its file, itself or by the server that runs. */
  move(
    config: Config,
    network: NetworkConfig,
    to: MoveDone['store'],
    run: Run & { progress: Progress },
  ): Promise<MoveDone>
  /** Gives the room back that is free in the files, of one network or of all. */
  compact(config: Config, network: string | undefined, run: Run): Promise<Compacted[]>
  /** How much space each part of a store takes. */
  stats(config: Config, network: string | undefined): Promise<StoreStats[]>
  /** Makes a new store of what is whole of a damaged one. */
  salvage(config: Config, network: string, run: Run): Promise<Salvaged>
  /** `redecode`: also for what is stored. */
  addAbis(config: Config, files: string[], where: AbiPlace, redecode: boolean, log: Run['log']): Promise<AbiFile[]>
  /** Those of some names, narrowed down by network, address and code. */
  removeAbis(config: Config, names: string[], where: AbiPlace): Promise<AbiFile[]>
  listAbis(config: Config): Promise<AbiFile[]>
}

export interface ExportWanted {
  network: string
  /** What is searched, and by which body; of a pack nothing. */
  entities: string
  query: string
  format: 'ndjson' | 'csv' | 'raw-csv' | 'parquet' | 'pack'
  /** Where it goes: a file that is continued, or a stream. */
  to: { file: string } | { write(part: Uint8Array): Promise<void> }
}

export interface ExportDone {
  /** Hits or blocks in the file, those that were added now, and its bytes. */
  hits: number
  added: number
  bytes: number
}

export interface ReceiveOptions {
  port: number
  /** What signs them; without it signatures are not checked. */
  secret: string | undefined
  /** HTTP status of every answer. */
  status: number
  delayMs: number
  tell(news: ReceiveNews): void
}

export type ReceiveNews = { type: 'listening'; url: string } | ({ type: 'received' } & Received)

export interface Received {
  /** ISO 8601. */
  at: string
  method: string
  path: string
  /** The headers that describe the message. */
  headers: [name: string, value: string][]
  body: string
  signature: 'good' | 'bad' | 'unchecked'
  /** Why the signature is bad. */
  fault: string | undefined
}

/** The result of checking one file. */
export interface Verified {
  file: string
  faults: string[]
  /** Whether it has no checksums, so that nothing can be told. */
  unchecked: boolean
  /** Why its pages alone were checked: another version wrote it. */
  unread?: string
}

/** Shows how far something is. */
export interface Bars {
  progress(label: string): Progress
}

export interface BackupDone {
  /** Bytes of all copies, and those that were written now. */
  bytes: number
  written: number
  databases: { name: string; pages: number; written: number }[]
  files: number
}

export interface RestoreHow {
  check: boolean
  /** Puts what the data folder holds aside. */
  force: boolean
}

export interface RestoreDone {
  /** When the backup was taken (ISO 8601). */
  takenAt: string
  /** `ranges` is null where an older version wrote the store: whoever serves it next upgrades it. */
  networks: { network: string; ranges: Range[] | null }[]
  /** Where the old content of the data folder is. */
  aside?: string | undefined
}

export interface MoveDone {
  network: string
  /** Where documents are searched now. */
  store: 'opensearch' | 'sqlite'
}

export interface PruneDone {
  network: string
  /** Ranges that are held now. */
  held: Range[]
  /** Whether a program that runs on the data folder still has to do it. */
  waiting: boolean
}

export interface NarrowDone {
  network: string
  /** What would be removed; null where it is. */
  outside: { blocks: number; transactions: number; logs: number } | null
  /** Whether a program that runs on the data folder still has to do it. */
  waiting: boolean
}

export interface ForgetDone {
  network: string
  /** Blocks that were taken out; they may be indexed again. */
  forgotten: Range[]
  /** Whether a program that runs on the data folder still has to do it. */
  waiting: boolean
}

/** Bytes of one file. */
export interface Compacted {
  file: string
  before: number
  after: number
}

export interface StoreStats {
  network: string
  /** Where its documents are searched. */
  store: MoveDone['store']
  /** The file together with its log. */
  bytes: number
  log: number
  /** Free pages: new blocks are written there. */
  free: number
  ranges: Range[]
  parts: { part: string; what: string; bytes: number; share: number; rows: number | null }[]
}

export interface Salvaged {
  network: string
  /** Ranges that were held, and those that could not be read. */
  held: Range[]
  lost: Range[]
  /** Numbers of alerts that could not be read. */
  lostAlerts: number
  /** Where the damaged file is. */
  aside: string
}

/** What every task is given: `shutdown.signal` asks it to stop, `shutdown.add` registers what must be closed. */
export interface Run {
  log: Log
  shutdown: Shutdown
}

export interface Range {
  from: number
  /** Inclusive. */
  to: number
}

/** What a back-fill or an import has done. */
export interface Summary {
  blocks: number
  logs: number
  events: number
  /** Ranges that this run added, ascending. */
  added: Range[]
  /** All ranges that the network now holds, ascending. */
  held: Range[]
  /** Blocks that a back-fill was asked for and that are not stored, ascending; none where it is done. */
  missing: Range[]
  /** Packs that an import has not read to their end. */
  unread: Unread[]
  /** Why it ended before that. */
  failure?: Error | undefined
}

export interface Unread {
  file: string
  begun: boolean
}

/** What an ABI is given for. */
export interface AbiPlace {
  network: string | undefined
  address: string | undefined
  codeHash: string | undefined
}

/** What is known of an ABI that the user gave. */
export interface AbiFile {
  name: string
  /** The contract that it is for, or the hash of the code; both null where it is for whichever it fits. */
  address: string | null
  codeHash: string | null
  network: string | null
  /** Less than 1 for a list of signatures. */
  probability: number
  events: number
  functions: number
  /** Set if stored data is to be decoded again by it: of which networks, and whether a running server does so now. */
  redecoding?: { networks: string[]; now: boolean }
}
