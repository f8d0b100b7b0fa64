import type { BlockPoint } from '../config/index.ts'
import type { DeliveryInfo, ListFilter, RedeliverFilter } from '../delivery/ledger.ts'
import type { TestResult } from '../delivery/sender.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import type { Fault } from '../rules/schema.ts'
import type { Simulation } from '../rules/search.ts'

/** A rule as the HTTP API shows it. */
export interface ShownRule extends RuleInput {
  id: number
  enabled: boolean
  /** As a server tells it: the first of the warnings are sentences about the receivers that fail. */
  idle?: string | null
  failing?: object[]
  warnings?: string[]
  startBlock: number | null
}

/** The rules of one account: at a running server, or in a data folder. */
export interface RuleBook {
  /** In the order of their ids: all, or so many of those after an id. */
  list(page?: RulePage): Promise<ShownRule[]>
  /** In a data folder, all is done or nothing. `step` is told how many changes are made. */
  change(changes: RuleEdits, step?: (done: number) => void): Promise<EditedRules>
  /** Changes the properties that are given. */
  put(id: number, change: Partial<RuleInput>): Promise<ShownRule & Cancelled>
  remove(id: number): Promise<Cancelled>
  /** Sends each of its alerts once, for the document of that id or the newest that it finds. */
  test(id: number, document?: string): Promise<TestedRule>
}

export interface RulePage {
  after: number
  size: number
}

/** Rules of an account to create, to put in the place of others, and to delete. */
export interface RuleEdits {
  create: readonly RuleInput[]
  replace: readonly { id: number; rule: RuleInput }[]
  remove: readonly number[]
}

export interface CreatedRule {
  id: number
  name: string
}

/** What became of each, in their order. */
export interface EditedRules {
  created: CreatedRule[]
  replaced: Cancelled[]
  removed: Cancelled[]
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
  /** All rules, or those of one account, in the order of their ids; or so many of those after an id. */
  list(account?: string, page?: RulePage): ListedRule[]
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
  /** Receivers whose last delivery failed, a sentence about each. */
  failing: string[]
  fired: number
}

/** `idle`: why a good rule would match nothing for now. */
export type CheckedRule =
  | { rule?: undefined; faults: Fault[] }
  | { rule: RuleInput; faults: []; warnings: string[]; idle: string | undefined }
