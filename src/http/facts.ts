import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Origin } from './proxies.ts'

/** Facts about a request besides its content, for the log and the audit trail. */
export interface Facts {
  /** The client's own id, or a random one. */
  readonly id: string
  /** Where it comes from; `listen` may know better than its socket. */
  address: string | undefined
  /** Whether a trusted proxy sent it, and which client that names; undefined where no proxy is trusted. */
  origin: Origin | undefined
  /** Name of the account that asks, once it is known. */
  account: string | undefined
  /** Of the server that it came to. */
  ending?: Ending
}

/** What a server that stops tells the answers under way. */
export interface Ending {
  /** It stops: nothing more should be begun. */
  readonly begun: AbortSignal
  /** Connections are about to be closed. */
  readonly soon: AbortSignal
}

export const REQUEST_ID = 'x-request-id'
export const RATE_LIMIT = 'ratelimit'
export const RATE_POLICY = 'ratelimit-policy'

export const factsOf = (incoming: IncomingMessage): Facts => {
  const known = incoming as IncomingMessage & { [FACTS]?: Facts }
  known[FACTS] ??= { id: idOf(incoming), address: undefined, origin: undefined, account: undefined }
  return known[FACTS]
}

/** Tells the client under which id its request is logged. */
export const nameRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
  if (!outgoing.headersSent) outgoing.setHeader(REQUEST_ID, factsOf(incoming).id)
}

/** Tells the client how many requests it has left, by names and values of headers. */
export const tellRate = (outgoing: ServerResponse, headers: readonly string[]) => {
  if (outgoing.headersSent) return
  for (let i = 0; i < headers.length; i += 2) outgoing.setHeader(headers[i]!, headers[i + 1]!)
}

const FACTS = Symbol('facts')

const idOf = ({ headers }: IncomingMessage): string => {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && CLEAN.test(given) ? given : randomUUID()
}

/** What may stand in a header and in a line of the log. */
const CLEAN = /^[\w.:/+=@-]{1,128}$/
