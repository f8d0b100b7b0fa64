import type { Config } from '../config/index.ts'
import { type ChainsieveError, messageOf, refuse, stop } from '../lib/errors.ts'
import { misused } from './command.ts'
import type { Cancelled, RuleBook, RulesService, ShownRule, TestedRule } from './rules-service.ts'

/** The rules that a command is about: at `--server`, or in the data folder. */
export const bookOf = (config: Config, rules: () => RulesService, account: string | undefined): RuleBook => {
  const { server, token } = config
  if (server === undefined) return rules().book(account)
  if (token === undefined) throw misused('--server needs a token: set CHAINSIEVE_TOKEN, or add --token TOKEN.')
  if (account !== undefined) throw misused('--account is for the data folder: a token at --server has its own account.')
  return createServerBook(server.reveal(), token.reveal())
}

/** Longer than a server takes for a test of its receivers. */
const PATIENCE_MS = 120_000

const createServerBook = (server: string, token: string): RuleBook => {
  const base = `${server.replace(/\/+$/, '')}/alerting/rules/`
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, text, headers } = await answerOf(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
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
    list: () => ask<ShownRule[]>('GET', ''),
    create: rule => ask<ShownRule>('POST', '', rule),
    put: (id, change, { replace } = { replace: false }) =>
      ask<ShownRule & Cancelled>('PUT', `${id}/${replace ? '?replace=true' : ''}`, change),
    remove: id => ask<Cancelled>('DELETE', `${id}/`),
    test: (id, document) => ask<TestedRule>('POST', `${id}/test/`, document === undefined ? {} : { _id: document }),
  }
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
