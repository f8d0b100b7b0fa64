import type { Config } from '../../config/index.ts'
import { type ChainsieveError, messageOf, refuse, stop } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { RuleInput } from '../../rules/rule.ts'
import type { Cancelled, EditedRules, RuleBook, ShownRule, TestedRule } from '../rule-book.ts'
import type { RulesService } from '../rules.ts'
import { misused } from './command.ts'

type CreatedRule = EditedRules['created'][number]

/** The rules that a command is about: at `--server`, or in the data folder. */
export const openRuleBook = (config: Config, rules: () => RulesService, account: string | undefined): RuleBook => {
  const at = serverOf(config, account)
  return at ? createServerBook(at.server, at.token, config.limits) : rules().book(account)
}

/** The server that a command is about, if it is not about the data folder. */
export const serverOf = ({ server, token }: Config, account: string | undefined) => {
  if (server === undefined) return undefined
  if (token === undefined) throw misused('--server needs a token: set CHAINSIEVE_TOKEN, or add --token TOKEN.')
  if (account !== undefined) throw misused('--account is for the data folder: a token at --server has its own account.')
  return { server: server.reveal(), token: token.reveal() }
}

/** Longer than a server takes for a test of its receivers. */
const SERVER_TIMEOUT_MS = 120_000

/** Asks a server's API below that path. */
export const createAlertingAsk = (server: string, token: string, below: string) => {
  const base = `${server.replace(/\/+$/, '')}/alerting/${below}/`
  const answerOf = async (url: string, init: RequestInit) => {
    try {
      const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(SERVER_TIMEOUT_MS) })
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      throw stop('no_answer', `${new URL(server).origin} does not answer: ${messageOf(cause ?? error)}`, error)
    }
  }
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, text, headers } = await answerOf(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    if (status === 204) return { cancelledDeliveries: cancelledIn(headers) } as T
    if (status >= 200 && status < 300) return JSON.parse(text) as T
    throw serverFailure(status, text)
  }
}

const createServerBook = (server: string, token: string, limits: Limits): RuleBook => {
  const ask = createAlertingAsk(server, token, 'rules')
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

const serverFailure = (status: number, text: string): ChainsieveError => {
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
