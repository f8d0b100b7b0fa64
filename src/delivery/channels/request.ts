import { createHash } from 'node:crypto'
import { isRecord } from '../../lib/arrays.ts'
import { parseRetryAfter } from '../../lib/retry.ts'
import { actionKeys } from '../../rules/hidden-keys.ts'
import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import type { AlertMessage, ChannelKind, SendContext, SendOutcome } from './channel.ts'
import { joinMessages } from './group.ts'

/** The request for a message, or why there is none. */
export type Request =
  | { method: 'GET' | 'POST' | 'PUT'; url: URL; body: object | null; headers?: Record<string, string> }
  | { refused: string }

/** What the answer of a service says beyond its status. */
export interface AnswerMeaning {
  /** Its own words for why. */
  reason?: string | undefined
  /** Seconds that it asks to wait. */
  retryAfter?: number | undefined
  /** No further try can succeed. */
  permanent?: boolean
}

type RetryOutcome = Extract<SendOutcome, { type: 'retry' }>

interface RequestKind<A extends Action> {
  /** URL that identifies the receiver, secrets included; its origin is where messages go. */
  address(action: A): string
  shown(action: A): string
  request(action: A, message: AlertMessage, links: AlertLinks): Request
  headers?(message: AlertMessage, body: string, context: SendContext): Record<string, string>
  /** Default: always. */
  groups?(action: A): boolean
  /** Reads a refusal, whose body is undefined if it is no JSON object. */
  meaning?(status: number, body: Record<string, unknown> | undefined): AnswerMeaning
}

/** A channel that sends each message as one HTTP request. */
export const byRequest = <A extends Action>({
  address,
  shown,
  request,
  headers = () => ({}),
  groups = () => true,
  meaning,
}: RequestKind<A>): ChannelKind<A> => ({
  receiver: action => destinationOf(address(action)),

  preview(action, message, links) {
    const made = request(action, message, links)
    if ('refused' in made) return made
    const { method, url, body } = made
    const shown = { method, url: url.href, body }
    // Exact numbers do not survive the way through JSON.
    return actionKeys(action).length === 0 ? shown : JSON.parse(hideKeys(action, JSON.stringify(shown)))
  },

  open: ({ http, links }) => ({
    destination: action => destinationOf(address(action)),
    shown,
    groups,
    async send(action, messages, context) {
      const message = joinMessages(messages, context.group)
      const made = request(action, message, links)
      if ('refused' in made) return { type: 'refused', why: made.refused }
      const { method, url } = made
      const body = made.body === null ? '' : JSON.stringify(made.body)
      const own = { 'content-type': 'application/json', ...made.headers, ...headers(message, body, context) }
      const outcome = await http.attempt({ method, url, headers: own, ...(made.body !== null && { body }) }, context)
      const meant = outcome.type === 'retry' && meaning ? explainRefusal(outcome, meaning, context.now) : outcome
      return 'head' in meant ? { ...meant, head: hideKeys(action, meant.head) } : meant
    },
  }),
})

const explainRefusal = (
  outcome: RetryOutcome,
  meaning: NonNullable<RequestKind<Action>['meaning']>,
  now: number,
): SendOutcome => {
  const { status, head, why } = outcome
  if (status === null) return outcome
  const { reason, retryAfter, permanent } = meaning(status, answerJson(head))
  const said = reason === undefined ? why : `${why}: ${reason}`
  if (permanent) return { type: 'refused', why: said, status, head }
  // A service may send both, and the header may be that of a proxy.
  const asked = parseRetryAfter(retryAfter === undefined ? undefined : String(retryAfter), now) ?? 0
  const retryAfterMs = Math.ceil(Math.max(asked, outcome.retryAfterMs ?? 0))
  return { ...outcome, why: said, ...(retryAfterMs > 0 && { retryAfterMs }) }
}

const answerJson = (head: string): Record<string, unknown> | undefined => {
  try {
    const body = JSON.parse(head) as unknown
    return isRecord(body) ? body : undefined
  } catch {
    return undefined
  }
}

/** A member of an answer that must be a number, or a text. */
export const numberInAnswer = (body: unknown, name: string): number | undefined =>
  isRecord(body) && typeof body[name] === 'number' ? body[name] : undefined
export const textInAnswer = (body: unknown, name: string): string | undefined =>
  isRecord(body) && typeof body[name] === 'string' ? body[name] : undefined

/** A preview or an answer may repeat the keys of the action; one that is hidden already has a space. */
const hideKeys = (action: Action, text: string): string =>
  actionKeys(action).reduce(
    (rest, [, key]) => rest.replaceAll(key, HIDDEN_SECRET).replaceAll(key.replaceAll(' ', '%20'), HIDDEN_SECRET),
    text,
  )

/**
 * The target's origin with a hash of the whole URL: one host (Slack, Discord) has many receivers,
 * and a broken one must not stop the others.
 */
const destinationOf = (template: string): string => {
  const url = parseTarget(template)
  const rest = createHash('sha256').update(template).digest('hex').slice(0, 12)
  return url ? `${url.origin}/~${rest}` : `invalid:${rest}`
}

export const HIDDEN_SECRET = '[secret]'

/** A URL whose path is a secret. */
export const shownOrigin = ({ parameters }: { parameters: { url: string } }): string => {
  const url = parseTarget(parameters.url)
  return url ? `${url.origin}/${HIDDEN_SECRET}` : HIDDEN_SECRET
}

export const NOT_HTTP = { refused: 'its URL is neither http nor https' }

/** An endpoint below the URL of a service, which may have a path and credentials of its own. */
export const endpointOf = (base: string, path: string): URL | undefined => {
  const url = parseTarget(base)
  if (!url) return undefined
  url.pathname = url.pathname.replace(/\/*$/, path)
  return url
}
