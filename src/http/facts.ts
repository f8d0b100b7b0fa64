import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What is known of a request beside what it says, for the log. */
export interface Facts {
  /** The client's own, or one that is made up. */
  readonly id: string
  /** Name of the account that asks, once it is known. */
  account: string | undefined
}

export const REQUEST_ID = 'x-request-id'

export const factsOf = (incoming: IncomingMessage): Facts => {
  const known = incoming as IncomingMessage & { [FACTS]?: Facts }
  known[FACTS] ??= { id: idOf(incoming), account: undefined }
  return known[FACTS]
}

/** Tells the client under which id its request is logged. */
export const nameRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
  if (!outgoing.headersSent) outgoing.setHeader(REQUEST_ID, factsOf(incoming).id)
}

const FACTS = Symbol('facts')

const idOf = ({ headers }: IncomingMessage): string => {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && CLEAN.test(given) ? given : randomUUID()
}

/** What may stand in a header and in a line of the log. */
const CLEAN = /^[\w.:/+=@-]{1,128}$/
