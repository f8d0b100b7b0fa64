import { lazy } from '../lib/caches.ts'
import { refuse } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import type { AgentApi, AgentSession } from '../mcp/ask.ts'
import { createAgentServer, loadProtocol } from '../mcp/server.ts'
import type { Rules } from '../rules/store.ts'
import { readRequestBody, readWithin } from './body.ts'
import { actorOf, type Env, header, type InnerCall, type RequestContext, whileConnected } from './context.ts'
import { answerSchema, JSON_BODY } from './openapi/schema.ts'
import { flagParameter, jsonBody, routesOf } from './request.ts'

interface AgentServices {
  /** The routes of this server, for requests that are authenticated already. */
  fetch(request: Request, env: Env['Bindings']): Response | Promise<Response>
  currencyOf(network: string): string
  rules: Pick<Rules, 'note'> | undefined
  limits: Limits
  log: Log
}

const agentRoutes = routesOf<AgentServices>('Server')
const LIST_TOOLS = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

/** The Model Context Protocol without sessions: each request is answered by itself. */
export const agentRoute = agentRoutes(
  'post',
  '/mcp',
  'The Model Context Protocol, for agents. Its tools need the scope search or rules.',
  {
    query: ['text'],
    body: jsonBody({ type: 'object' }, LIST_TOOLS),
    answers: {
      200: {
        description: 'An answer of JSON-RPC, or a stream with it for clients of versions before 2026-07-28.',
        content: { [JSON_BODY]: { type: 'object' }, 'text/event-stream': { type: 'string' } },
      },
      202: answerSchema({}, 'A notification was taken; there is no body.'),
      400: {
        description: 'The message is not one of JSON-RPC, or of a version that is not spoken here.',
        content: { [JSON_BODY]: { type: 'object' } },
      },
    },
  },
  (services, parameters) => {
    const handler = lazy(async () => {
      const protocol = await loadProtocol()
      return protocol.createMcpHandler(
        ({ authInfo, requestInfo }) => {
          const { session, asText } = authInfo!.extra as { session: AgentSession; asText: boolean }
          const speaks = () => requestInfo?.headers.get('mcp-protocol-version') ?? undefined
          return createAgentServer(protocol, { session, asText, log: services.log }, speaks)
        },
        { maxSubscriptions: 1 },
      )
    })
    return async c => {
      refuseOtherOrigins(c)
      const { text } = parameters(c)
      const body = await readWithin(c, 'shortBody', services.limits, limits => readRequestBody(c, limits))
      // Each message counts as a request; batches are no part of the protocol since 2025-06-18.
      if (startsAsList(body)) throw refuse('bad_request', 'The body is a list of messages: send each by itself.')
      const { fetch } = await handler()
      const headers = new Headers(c.req.raw.headers)
      for (const name of ['content-encoding', 'content-length']) headers.delete(name)
      // As everywhere, a body is JSON whatever its type.
      headers.set('content-type', JSON_BODY)
      if ((headers.get('accept') ?? '*/*') === '*/*') headers.set('accept', `${JSON_BODY}, text/event-stream`)
      const signal = whileConnected(c)
      // Copied, since a request takes no shared memory.
      const request = new Request(c.req.url, { method: 'POST', headers, signal, body: Uint8Array.from(body ?? []) })
      const extra = {
        session: sessionOf(c, services, signal),
        asText: text !== undefined && flagParameter('text', text),
      }
      return fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra } })
    }
  },
)

const startsAsList = (body: Uint8Array | undefined): boolean => body?.find(byte => byte > 0x20) === 0x5b

/** Pages of other sites may not ask with a browser that reaches this server (DNS rebinding). */
const refuseOtherOrigins = (c: RequestContext) => {
  const origin = c.req.raw.headers.get('origin')
  if (origin === null || LOCAL_ORIGIN.test(origin) || c.env?.outgoing?.hasHeader('access-control-allow-origin')) return
  throw refuse(
    'origin_refused',
    'Pages of this origin may not ask here. The operator of this server allows it with: --cors-origin ORIGIN',
  )
}

const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

const sessionOf = (
  c: RequestContext,
  { fetch, currencyOf, rules }: AgentServices,
  signal: AbortSignal,
): AgentSession => {
  const caller = c.get('account')
  const by = actorOf(c)
  const client = header(c, 'user-agent')?.slice(0, 100)
  return {
    api: apiWithin(fetch, { caller, address: by.address }, signal),
    scopes: caller.scopes,
    owner: String(caller.id),
    currencyOf,
    record: (tool, rule) => rules?.note(by, rule, `agent ${tool}`, { client }),
  }
}

/** Asks the routes of this process, as a caller that is authenticated already. */
export const apiWithin =
  (fetch: AgentServices['fetch'], within: InnerCall, signal?: AbortSignal): AgentApi =>
  async (method, path, body) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method, headers, ...(signal && { signal }), ...(body !== undefined && { body }) }
    const response = await fetch(new Request(`http://localhost${path}`, init), { within })
    return { status: response.status, text: await response.text() }
  }
