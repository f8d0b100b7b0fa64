import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import type { DeliveryThread } from '../delivery/service.ts'
import type { Indexing } from '../ingest/network.ts'
import type { Run } from '../lib/shutdown.ts'
import type { Pool } from '../search/pool.ts'

interface DevServer {
  url: string
  accounts: Pick<Accounts, 'createToken'>
  pool: Pick<Pool, 'search'>
  delivery: Pick<DeliveryThread, 'wake'>
}

export interface DevOptions {
  /** Opens the data folder and serves it; `indexings` may change, and are stopped with the server. */
  serve(config: Config, indexings: readonly Indexing[], run: Run): Promise<DevServer>
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
