import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { ChainsieveError, systemFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RuleFault } from '../rules/schema.ts'
import { JSON_TYPE } from './answer.ts'
import { disconnected, type Exchange, type Handler, type RequestContext, requestFacts } from './context.ts'

/** An error in Elasticsearch's shape; `more`: further members. */
export const errorResponse = (
  status: number,
  type: string,
  reason: string,
  headers?: Record<string, string>,
  more?: Record<string, unknown>,
) =>
  new Response(JSON.stringify(errorBody(status, type, reason, more)), { status, headers: { ...headers, ...JSON_TYPE } })

/** Body of an error response. */
export const errorJson = (status: number, type: string, reason: string): string =>
  JSON.stringify(errorBody(status, type, reason))

/** A raw HTTP error, for a connection without a readable request. */
export const rawError = (status: number, type: string, reason: string): string => {
  const body = errorJson(status, type, reason)
  const headers = [`content-length: ${Buffer.byteLength(body)}`, ...Object.entries(JSON_TYPE).map(it => it.join(': '))]
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'connection: close', ...headers, '', body].join('\r\n')
}

const errorBody = (status: number, type: string, text: string, more?: Record<string, unknown>) => {
  const reason = shortenReason(text)
  return { error: { root_cause: [{ type, reason }], type, reason, ...more }, status }
}

const MAX_REASON_LENGTH = 10_000

/** A reason may repeat a name or an id of the request, which may be as long as a URL. */
const shortenReason = (reason: string): string =>
  reason.length > MAX_REASON_LENGTH ? `${reason.slice(0, MAX_REASON_LENGTH - 1)}…` : reason

/** The `error` member of an answer. Causes repeat the reason, as some clients show only these. */
export const causeOf = ({ code: type, message, details }: ChainsieveError) => {
  const reason = shortenReason(message)
  return { root_cause: [{ type, reason, ...details }], ...{ type, reason, ...details } }
}

/** Refuses a body and lists all faults. */
export const invalid = (faults: readonly RuleFault[]): Response => {
  const [first, ...others] = faults.map(({ message }) => message)
  const reason = others.length === 0 ? first! : `${first} (and ${others.length} more, see faults)`
  return errorResponse(400, 'validation_exception', reason, undefined, { faults })
}

/** Error codes with a status of their own. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['security_exception', 401],
  ['index_not_found_exception', 404],
  ['aliases_not_found_exception', 404],
  ['resource_not_found_exception', 404],
  ['search_context_missing_exception', 404],
  ['method_not_allowed_exception', 405],
  // Clients retry only 429 and 503.
  ['search_timeout_exception', 408],
  ['precondition_failed_exception', 412],
  ['content_too_large_exception', 413],
  ['unsupported_media_type_exception', 415],
  ['not_implemented_exception', 501],
  // Load balancers may retry on another server.
  ['cluster_unavailable', 503],
  ['search_phase_execution_exception', 503],
])

/** Errors of the operating system, without file names. */
const SYSTEM: ReadonlyMap<string, readonly [status: number, reason: string]> = new Map([
  ['disk_full', [507, 'The disk of the server is full, and nothing was stored: the operator has to free some space.']],
  ['too_many_open_files', [503, 'The server has reached its limit of open files: try again in a moment.']],
  ['file_busy', [503, 'Another process is changing the same data: try again in a moment.']],
])

/** Refusals are 400 by default. Retryable errors are 429, since clients repeat a 503 at once. */
const errorStatus = ({ code, next }: ChainsieveError): number => STATUS.get(code) ?? (next === 'retry' ? 429 : 400)

const refusal = (error: ChainsieveError): Response => {
  const status = errorStatus(error)
  const headers = { ...ERROR_HEADERS[error.code], ...JSON_TYPE }
  return new Response(JSON.stringify({ error: causeOf(error), status }), { status, headers })
}

const ERROR_HEADERS: Record<string, Record<string, string>> = {
  security_exception: { 'www-authenticate': 'Bearer realm="chainsieve"' },
}

/** Renders errors of all handlers, and logs those that are not the caller's fault. */
export const renderError =
  (log: Log) =>
  (error: unknown, c: Exchange): Response => {
    if (error instanceof ChainsieveError && error.next === 'refuse') return refusal(error)

    if (error instanceof ChainsieveError && error.next === 'retry') {
      const status = errorStatus(error)
      const seconds = Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)
      const headers = status === 429 || status === 503 ? { 'retry-after': String(seconds) } : {}
      return errorResponse(status, error.code, error.message, headers)
    }

    // A search that stopped since its client disconnected is no error, and the answer is not read.
    if (disconnected(c)) return new Response(null, { status: 499 })

    const { incoming } = c.env ?? {}
    const request = incoming ? requestFacts(incoming).id : randomUUID()
    log.error('Failed to answer a request', { request, method: c.req.method, path: c.req.path, error })
    const [status, reason] = SYSTEM.get(systemFault(error)?.code ?? '') ?? []
    if (status !== undefined) return errorResponse(status, systemFault(error)!.code, reason!)
    return error instanceof ChainsieveError
      ? errorResponse(500, error.code, error.message)
      : errorResponse(
          500,
          'internal_server_error',
          `This is a fault of the server, which it has logged as request ${request}.`,
        )
  }

export const unknownRoute = (c: RequestContext, why = whatThereIs(c.req.path)): Response =>
  errorResponse(404, 'resource_not_found_exception', `There is nothing at ${c.req.path}: ${why}`)

const whatThereIs = (path: string) =>
  /^\/alerting(\/|$)/.test(path)
    ? 'rules are at /alerting/rules/, watch lists at /alerting/lists/, and silences at /alerting/silences/.'
    : 'searches go to /{technology}/{blockchain}/{network}/es/{entity}/search/, ' +
      'documents are at /{technology}/{blockchain}/{network}/es/{entity}/{id}/.'

export const wrongMethod =
  (allowed: readonly string[]): Handler =>
  c =>
    errorResponse(
      405,
      'method_not_allowed_exception',
      `${c.req.path} takes ${allowed.join(' and ')}, not ${c.req.method}.`,
      {
        allow: allowed.join(', '),
      },
    )
