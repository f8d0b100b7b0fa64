import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What is known of a request beside what it says, for the log and the audit trail. */
export interface Facts {
  /** The client's own, or one that is made up. */
  readonly id: string
  /** Where it comes from; `listen` may know better than its socket. */
  address: string | undefined
  /** Name of the account that asks, once it is known. */
  account: string | undefined
}

export const REQUEST_ID = 'x-request-id'
export const RATE_LIMIT = 'ratelimit'
export const RATE_POLICY = 'ratelimit-policy'

export const factsOf = (incoming: IncomingMessage): Facts => {
  const known = incoming as IncomingMessage & { [FACTS]?: Facts }
  known[FACTS] ??= { id: idOf(incoming), address: undefined, account: undefined }
  return known[FACTS]
}

/** Tells the client under which id its request is logged. */
export const nameRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
  if (!outgoing.headersSent) outgoing.setHeader(REQUEST_ID, factsOf(incoming).id)
}

/** Tells the client how many requests it has left. */
export const tellRate = (outgoing: ServerResponse, policy: string, left: string) => {
  if (outgoing.headersSent) return
  outgoing.setHeader(RATE_POLICY, policy)
  outgoing.setHeader(RATE_LIMIT, left)
}

const FACTS = Symbol('facts')

const idOf = ({ headers }: IncomingMessage): string => {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && CLEAN.test(given) ? given : randomUUID()
}

/** What may stand in a header and in a line of the log. */
const CLEAN = /^[\w.:/+=@-]{1,128}$/
