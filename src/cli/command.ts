import type { Readable, Writable } from 'node:stream'
import type { Accounts } from '../accounts/index.ts'
import type { BlockPoint, Config, Flags, NetworkConfig } from '../config/index.ts'
import type { NETWORK_SETTINGS, SETTINGS, SettingName, Table, Values } from '../config/settings.ts'
import type { DeliveryInfo, ListFilter, RedeliverFilter } from '../delivery/ledger.ts'
import type { TestResult } from '../delivery/sender.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Status } from '../ingest/status.ts'
import { refuse } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Output, Progress } from '../lib/progress.ts'
import type { Shutdown } from '../lib/shutdown.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import type { Fault } from '../rules/schema.ts'
import type { Simulation } from '../rules/search.ts'
import type { SearchService } from '../search/service.ts'

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
  /** Gives the room back that is free in the files, of one network or of all. */
  compact(config: Config, network: string | undefined, run: Run): Promise<Compacted[]>
  /** How much space each part of a store takes. */
  stats(config: Config, network: string | undefined): Promise<StoreStats[]>
  /** Makes a new store of what is whole of a damaged one. */
  salvage(config: Config, network: string, run: Run): Promise<Salvaged>
  /** `redecode`: also for what is stored. */
  addAbis(config: Config, files: string[], where: AbiPlace, redecode: boolean): Promise<AbiFile[]>
  /** Those of some names, narrowed down by network, address and code. */
  removeAbis(config: Config, names: string[], where: AbiPlace): Promise<AbiFile[]>
  listAbis(config: Config): Promise<AbiFile[]>
}

export interface ExportWanted {
  network: string
  /** What is searched, and by which body; of a pack nothing. */
  entities: string
  query: string
  format: 'ndjson' | 'csv' | 'parquet' | 'pack'
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

/** A rule as the HTTP API shows it. */
export interface ShownRule extends RuleInput {
  id: number
  enabled: boolean
  startBlock: number | null
}

/** The rules of one account: at a running server, or in a data folder. */
export interface RuleBook {
  list(): Promise<ShownRule[]>
  create(rule: RuleInput): Promise<ShownRule>
  /** Changes the properties that are given; with `replace`, they are all of the rule. The state stays where none is given. */
  put(id: number, change: Partial<RuleInput>, how?: { replace: boolean }): Promise<ShownRule & Cancelled>
  remove(id: number): Promise<Cancelled>
  /** Sends each of its alerts once, for the document of that id or the newest that it finds. */
  test(id: number, document?: string): Promise<TestedRule>
}

/** How many queued deliveries were cancelled; null where they will be. */
export interface Cancelled {
  cancelledDeliveries?: number | null
}

export interface TestedRule {
  entity: { _id: string; _type: string }
  deliveries: TestResult[]
}

/** Rules and deliveries of a data folder, of all its accounts, whether or not a server has it open. */
export interface RulesService {
  /** All rules, or those of one account, in the order of their ids. */
  list(account?: string): ListedRule[]
  get(id: number): StoredRule
  /** Those of an account; without a name, of the only one. */
  book(account: string | undefined): RuleBook
  /** As the HTTP API checks what is posted. */
  check(value: unknown): CheckedRule
  simulate(rule: RuleInput, range: BlockRange): Promise<Simulation>
  /** The newest first. */
  deliveries(filter: ListFilter): DeliveryInfo[]
  /** Returns how many are queued again. */
  redeliver(filter: RedeliverFilter): number
  /** The secret that signs an account's webhooks, created if needed; `rotation` creates another one, and keeps the old ones valid for so long. */
  secret(account: string, rotation?: { overlapMs: number }): string
  /** Whether a server runs on the folder, which sends what is queued. */
  serving(): boolean
}

/** The result of checking one file. */
export interface Verified {
  file: string
  faults: string[]
  /** Whether it has no checksums, so that nothing can be told. */
  unchecked: boolean
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
  networks: { network: string; ranges: Range[] }[]
  /** Where the old content of the data folder is. */
  aside?: string | undefined
}

export interface PruneDone {
  network: string
  /** Ranges that are held now. */
  held: Range[]
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
  /** The file together with its log. */
  bytes: number
  log: number
  /** Free pages: new blocks are written there. */
  free: number
  ranges: Range[]
  parts: { part: string; what: string; bytes: number; rows: number | null }[]
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

/** By default all that is stored. */
export interface BlockRange {
  from?: BlockPoint | undefined
  to?: BlockPoint | undefined
  /** Hits to show. */
  size: number
}

export interface ListedRule {
  rule: StoredRule
  /** Its name. */
  account: string
  /** Why it matches nothing for now. */
  idle: string | undefined
  fired: number
}

/** `idle`: why a good rule would match nothing for now. */
export type CheckedRule =
  | { rule?: undefined; faults: Fault[] }
  | { rule: RuleInput; faults: []; warnings: string[]; idle: string | undefined }

/** What every task is given: `shutdown.signal` asks it to stop, `shutdown.add` registers what must be closed. */
export interface Run {
  log: Log
  shutdown: Shutdown
}

export interface DevOptions {
  /** Where the project of the contracts is. */
  folder: string
  /** Whether it tells the calls inside of transactions, too. */
  verbose: boolean
  tell(news: DevNews): void
}

export interface ReplayOptions {
  /** Where the project of the contracts is. */
  folder: string
  tell(news: DevNews): void
}

/** What a developer of contracts is told. Times are ISO 8601, amounts decimal; a contract is named where a transaction was seen to create it. */
export type DevNews =
  | { type: 'serving'; url: string; console: string | null; network: string; token: string }
  /** The ABIs that decode; `again` after a rebuild. */
  | { type: 'artifacts'; projects: readonly { tool: string; artifacts: string }[]; contracts: number; again: boolean }
  | { type: 'broken'; file: string; why: string }
  | { type: 'waiting'; node: string; why: string }
  /** The node that was waited for, with the same chain. */
  | { type: 'back'; node: string }
  /** `fork`: the block of another chain that it begins with. */
  | { type: 'node'; node: string; chainId: number; head: number; from: number; fork: number | null }
  /** All blocks above `to` are gone; -1: all there were. */
  | { type: 'rollback'; to: number }
  | {
      type: 'tx'
      block: number
      index: number
      time: string
      hash: string
      from: string
      /** Null where a contract is created. */
      to: string | null
      /** Name of the contract that is called or created. */
      contract: string | null
      created: string | null
      method: string | null
      selector: string | null
      value: string
      /** The call with its arguments, where it decodes. */
      call: string | null
      gasUsed: number | null
      /** False where it failed. */
      status: boolean | null
      failure: DevFailure | null
      /** Calls and creations inside of it, in the order of their execution; none unless they are asked for. */
      steps: DevStep[]
    }
  | (DevLog & { type: 'event'; event: string; text: string | null; error: string | null; probability: number })
  /** Why the inside of a transaction is not known, and where the reason for its failure comes from instead. */
  | { type: 'untraced'; why: string }
  /** A log that nothing is known to decode. */
  | (DevLog & { type: 'log'; topics: string[]; data: string })

/** Why a transaction failed. */
export interface DevFailure {
  error: string
  /** Whose code failed, and in which call; null where that is the transaction's own, or not known. */
  address: string | null
  contract: string | null
  call: string | null
}

/** A call or a creation. */
export interface DevStep {
  depth: number
  type: string
  to: string | null
  contract: string | null
  /** The call with its arguments, where it decodes. */
  call: string | null
  selector: string | null
  value: string
  gasUsed: number | null
  error: string | null
}

interface DevLog {
  block: number
  /** Of the transaction. */
  index: number
  logIndex: number
  time: string
  transaction: string
  address: string
  contract: string | null
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

export interface Streams {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & Output
  stderr: Output
}

export interface Context<O extends Table = Table> extends Run {
  config: Config
  options: Values<O>
  /** Positional arguments behind the command's name. */
  args: string[]
  services: Services
  streams: Streams
  /** The working directory. */
  cwd: string
  /** Writes a line of the result. */
  print(line: string): void
  /** A bar on a terminal, lines elsewhere. */
  progress(label: string): Progress
}

export interface Command<O extends Table = Table> {
  /** One word or two. */
  name: string
  /** Arguments as the usage shows them. */
  usage: string
  /** One sentence. */
  summary: string
  /** Settings that it takes as flags, beside `data`, `config` and `json`, which all take. */
  settings: readonly SettingName[]
  /** Defaults of settings for this command. */
  defaults?: Flags
  /** Flags of its own. */
  options: O
  /** Whether it stands in the audit trail. What changes tokens and rules writes there itself. */
  audited?: true
  /** How many positional arguments it takes. */
  arity: readonly [least: number, most: number]
  /** Exit code 0 unless it says otherwise. */
  run(context: Context<O>): Promise<number | undefined> | Promise<void>
}

export const COMMON = ['data', 'config', 'json'] as const satisfies readonly (keyof typeof SETTINGS)[]
export const SERVER = [
  'host',
  'port',
  'logRequests',
  'metrics',
  'tlsCert',
  'tlsKey',
  'trustProxy',
  'proxyHeader',
  'corsOrigin',
  'noConsole',
  'queryDeadline',
  'readers',
  'limit',
  'allowTarget',
  'smtp',
  'mailFrom',
  'mailDigest',
  'deliveryTimeout',
  'deliveryRetries',
  'keepDeliveries',
] as const satisfies readonly (keyof typeof SETTINGS)[]
/** Settings of retention. */
export const KEPT = ['keepBlocks', 'keepFor', 'keepAlerts', 'keepAudit'] as const satisfies readonly SettingName[]
export const NODE = [
  'network',
  'chainId',
  'rpc',
  'ws',
  'from',
  'to',
  'order',
  'finality',
  'staleAfter',
  'pollInterval',
  'skipBloom',
  'verifyLogs',
  'traces',
  'requestTimeout',
  'rpcBatch',
  'rpcConcurrency',
  'rpcRate',
  'rpcDaily',
  'rpcMonth',
  'rpcCosts',
  'storeBatch',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

/** What of a network is indexed where not all of it is. */
export const SCOPED = ['contract', 'event'] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

export const command = <const O extends Table>(command: Command<O>): Command => command as unknown as Command

export const MISUSED = 'used_wrongly'

/** Refuses what was typed: exit code 2, with a pointer to the help text. */
export const misused = (message: string) => refuse(MISUSED, message)

/** The network that a command is about: the one that was named, or the only one of the config file. */
export const networkOf = ({ network, networks }: Config): NetworkConfig => {
  const found = network === undefined ? networks[0] : networks.find(it => it.network === network)
  if (!found) throw misused('Which network? Add --network T/B/N.')
  if (network === undefined && networks.length > 1)
    throw misused(`Which network? Add --network with one of ${networks.map(it => it.network).join(', ')}.`)
  return found
}
