import { connectionLost, rootUrl, session, signOut } from '../browser/state.ts'
import { type Json, parseJson, stringifyJson, textAt, valueAt } from './json.ts'
import type { SearchAnswer, Status } from './wire.ts'

/** An error of the server, or of reaching it. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly body: Json | undefined
  constructor(status: number, type: string, reason: string, body?: Json) {
    super(reason)
    this.status = status
    this.type = type
    this.body = body
  }
}

interface ApiRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Text is sent as is, other values as JSON; the default method is then POST. */
  body?: unknown
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
}

/** Calls the API; `path` has no leading slash. Integers beyond 2^53 become bigints. */
export const callApi = async <T = Json>(path: string, options: ApiRequest = {}): Promise<T> => {
  const { text } = await callApiForText(path, options)
  return (text === '' ? null : parseJson(text)) as T
}

/** The same with headers such as the ETag. */
export const callApiForText = async (
  path: string,
  options: ApiRequest = {},
): Promise<{ text: string; headers: Headers }> => {
  const response = await callApiForStream(path, options)
  return { text: await reach(() => response.text(), options.signal), headers: response.headers }
}

/** The raw response, for streaming; errors are thrown. */
export const callApiForStream = async (path: string, options: ApiRequest = {}): Promise<Response> => {
  const { token } = session.get()
  const response = await request(path, token, options)
  if (response.ok) return response
  const error = toError(response, await reach(() => response.text(), options.signal))
  // Ignores outdated requests of an earlier session.
  if (response.status === 401 && token !== undefined && token === session.get().token) signOut(error.message)
  throw error
}

const request = (path: string, token: string | undefined, { method, body, signal, headers }: ApiRequest) =>
  reach(
    () =>
      fetch(`${rootUrl}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : stringifyJson(body) }),
        ...(signal && { signal }),
        cache: 'no-store',
        credentials: 'omit',
      }),
    signal,
  )

const reach = async <T>(what: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  try {
    return await what()
  } catch (error) {
    if (signal?.aborted) throw error
    connectionLost()
    throw new ApiError(
      0,
      'no_answer',
      'The server does not answer. The console will ask again when the server is back.',
    )
  }
}

const toError = ({ status, statusText, headers }: Response, text: string): ApiError => {
  const body = parseErrorBody(text)
  const reason = textAt(body, 'error.reason') ?? `The server answered ${status} ${statusText}.`
  const seconds = headers.get('retry-after')
  const when = seconds === null ? '' : ` Try again in ${seconds} s.`
  return new ApiError(status, textAt(body, 'error.type') ?? 'error', `${reason}${when}`, valueAt(body, 'error'))
}

const parseErrorBody = (text: string): Json | undefined => {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const getStatus = (signal?: AbortSignal) => callApi<Status>('status', { signal })

/** `body` is an object, or the text of one. */
export const searchDocuments = (network: string, kinds: readonly string[], body: unknown, signal?: AbortSignal) =>
  callApi<SearchAnswer>(`${network}/es/${kinds.join()}/search/`, { body, signal })

/** For `useGet`. */
export const documentPath = (network: string, kind: string, id: string) =>
  `${network}/es/${kind}/${encodeURIComponent(id)}/`
