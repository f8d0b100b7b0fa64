import type { BlockPoint, Config } from '../config/index.ts'
import type { DeliveryInfo, ListFilter, RedeliverFilter } from '../delivery/ledger/records.ts'
import type { TestResult } from '../delivery/sender.ts'
import { type ChainsieveError, messageOf, refuse, stop } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import type { Fault } from '../rules/schema.ts'
import type { Simulation } from '../rules/search.ts'
import { misused } from './command.ts'

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

interface RulePage {
  after: number
  size: number
}

/** Rules of an account to create, to put in the place of others, and to delete. */
export interface RuleEdits {
  create: readonly RuleInput[]
  replace: readonly { id: number; rule: RuleInput }[]
  remove: readonly number[]
}

interface CreatedRule {
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

interface TestedRule {
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
interface BlockRange {
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

/** The rules that a command is about: at `--server`, or in the data folder. */
export const bookOf = (config: Config, rules: () => RulesService, account: string | undefined): RuleBook => {
  const { server, token } = config
  if (server === undefined) return rules().book(account)
  if (token === undefined) throw misused('--server needs a token: set CHAINSIEVE_TOKEN, or add --token TOKEN.')
  if (account !== undefined) throw misused('--account is for the data folder: a token at --server has its own account.')
  return createServerBook(server.reveal(), token.reveal(), config.limits)
}

/** Longer than a server takes for a test of its receivers. */
const PATIENCE_MS = 120_000

const createServerBook = (server: string, token: string, limits: Limits): RuleBook => {
  const base = `${server.replace(/\/+$/, '')}/alerting/rules/`
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, text, headers } = await answerOf(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    if (status === 204) return { cancelledDeliveries: cancelledIn(headers) } as T
    if (status >= 200 && status < 300) return JSON.parse(text) as T
    throw failureOf(status, text)
  }
  const answerOf = async (url: string, init: RequestInit) => {
    try {
      const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MS) })
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      throw stop('no_answer', `${new URL(server).origin} does not answer: ${messageOf(cause ?? error)}`, error)
    }
  }
  return {
    list: async page =>
      page
        ? (await ask<{ rules: ShownRule[] }>('GET', `?size=${page.size}&after=${page.after}`)).rules
        : ask<ShownRule[]>('GET', ''),
    async change({ create, replace, remove }, step = () => {}) {
      let done = 0
      const created: CreatedRule[] = []
      for (const lines of batchesOf(create, limits)) {
        created.push(...(await ask<{ rules: CreatedRule[] }>('POST', 'bulk/', lines)).rules)
        done = created.length
        step(done)
      }
      const inTurn = async <T>(list: readonly T[], change: (one: T) => Promise<Cancelled>) => {
        const results: Cancelled[] = []
        for (const one of list) {
          results.push(await change(one))
          step(++done)
        }
        return results
      }
      return {
        created,
        replaced: await inTurn(replace, ({ id, rule }) => ask<Cancelled>('PUT', `${id}/?replace=true`, rule)),
        removed: await inTurn(remove, id => ask<Cancelled>('DELETE', `${id}/`)),
      }
    },
    put: (id, change) => ask<ShownRule & Cancelled>('PUT', `${id}/`, change),
    remove: id => ask<Cancelled>('DELETE', `${id}/`),
    test: (id, document) => ask<TestedRule>('POST', `${id}/test/`, document === undefined ? {} : { _id: document }),
  }
}

/** Rules a line each, as many as a request may create. */
function* batchesOf(rules: readonly RuleInput[], limits: Limits): Generator<string, void> {
  let lines: string[] = []
  let bytes = 0
  for (const rule of rules) {
    const line = `${JSON.stringify(rule)}\n`
    const length = Buffer.byteLength(line)
    if (lines.length > 0 && (lines.length === limits.rulesAtOnce || bytes + length > limits.body)) {
      yield lines.join('')
      lines = []
      bytes = 0
    }
    lines.push(line)
    bytes += length
  }
  if (lines.length > 0) yield lines.join('')
}

/** Null where the server does not know how many yet. */
const cancelledIn = (headers: Headers): number | null => {
  const count = headers.get('cancelled-deliveries')
  return count === null ? null : Number(count)
}

const failureOf = (status: number, text: string): ChainsieveError => {
  const { reason, faults } = errorIn(text)
  const lines = faults?.map(({ path, message }) => [path, message].filter(part => part !== '').join(': '))
  const message = `The server answers ${status}: ${lines?.join('\n') ?? reason ?? text.slice(0, 500)}`
  return status < 500 && status !== 429 ? refuse('server_refuses', message) : stop('server_fails', message)
}

interface ErrorBody {
  reason?: string
  faults?: { path: string; message: string }[]
}

const errorIn = (text: string): ErrorBody => {
  try {
    return (JSON.parse(text) as { error?: ErrorBody }).error ?? {}
  } catch {
    return {}
  }
}
