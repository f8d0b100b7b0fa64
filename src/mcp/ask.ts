import { refuse } from '../lib/errors.ts'

export interface ApiAnswer {
  status: number
  text: string
}

/** Asks the HTTP API of a server, in this process or elsewhere, with the caller's own rights. */
export type AgentApi = (method: 'GET' | 'POST' | 'PUT', path: string, body?: string) => Promise<ApiAnswer>

/** What a call may use. */
export interface AgentSession {
  api: AgentApi
  /** Scopes of the token; undefined if only the server that is asked knows them. */
  scopes: ReadonlySet<string> | undefined
  /** Binds what one caller was given to that caller. */
  owner: string
  /** Symbol of a network's native currency. */
  currencyOf(network: string): string
  /** Records a change in the audit trail. */
  record(tool: string, rule: number): void
}

/** A value of JSON in which every number is text with all its digits. */
export type AgentAnswer = Record<string, unknown>

/** Parses JSON; numbers become text as they were written. */
export const parseWithDigits = (text: string): unknown =>
  (JSON.parse as (text: string, revive: (key: string, value: unknown, at: { source: string }) => unknown) => unknown)(
    text,
    (_, value, { source }) => (typeof value === 'number' ? source : value),
  )

/** The body of an answer; throws what the server refuses. */
export const requestJson = async (
  { api }: AgentSession,
  method: Parameters<AgentApi>[0],
  path: string,
  body?: unknown,
): Promise<AgentAnswer> => {
  const { status, text } = await api(method, path, body === undefined ? undefined : JSON.stringify(body))
  const answer = parseAnswer(text)
  if (status < 300) return answer
  const { error } = answer as { error?: { type?: string; reason?: string; faults?: readonly { message: string }[] } }
  const faults = error?.faults?.map(({ message }) => message).join(' ')
  throw refuse(error?.type ?? 'refused', faults || error?.reason || `The server answers ${status}.`)
}

const parseAnswer = (text: string): AgentAnswer => {
  try {
    return parseWithDigits(text) as AgentAnswer
  } catch (error) {
    throw refuse('not_json', 'The server does not answer with JSON: is this the URL of a Chainsieve server?', error)
  }
}

export interface FoundHit {
  _id: string
  _type: string
  _source: Record<string, unknown>
  sort?: string[]
}

export interface SearchResult {
  total: string
  hits: FoundHit[]
  aggregations: Record<string, unknown>
}

/** Searches one entity or several, joined by commas. */
export const searchIn = async (
  session: AgentSession,
  network: string,
  entity: string,
  body: object,
): Promise<SearchResult> =>
  readFound(
    await requestJson(session, 'POST', `${networkPath(network)}/es/${encodeURIComponent(entity)}/_search`, body),
  )

/** Several searches in one request. */
export const searchAllIn = async (
  session: AgentSession,
  network: string,
  searches: readonly (readonly [entity: string, body: object])[],
): Promise<SearchResult[]> => {
  const lines = searches.flatMap(([index, body]) => [{ index }, body].map(line => JSON.stringify(line)))
  const { status, text } = await session.api('POST', `${networkPath(network)}/es/_msearch`, `${lines.join('\n')}\n`)
  const answer = parseAnswer(text) as { responses?: AgentAnswer[] }
  const failed = [answer as AgentAnswer, ...(answer.responses ?? [])].find(it => it.error !== undefined)
  if (failed) throw refuse('search_failed', String((failed.error as { reason?: string }).reason))
  if (!answer.responses) throw refuse('search_failed', `The server answers ${status}.`)
  return answer.responses.map(readFound)
}

const readFound = (answer: AgentAnswer): SearchResult => {
  const { total, hits } = answer.hits as { total: string | { value: string }; hits: FoundHit[] }
  return {
    total: typeof total === 'object' ? total.value : total,
    hits,
    aggregations: (answer.aggregations ?? {}) as Record<string, unknown>,
  }
}

export const networkPath = (network: string): string => {
  if (/^[\w.~-]+\/[\w.~-]+\/[\w.~-]+$/.test(network)) return `/${network}`
  throw refuse(
    'bad_network',
    `A network has three parts, such as ethereum/demo/local, not ${JSON.stringify(network.slice(0, 100))}: the tool networks lists them.`,
  )
}
