import { createHash } from 'node:crypto'
import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertMessage, ChannelKind, SendContext } from './channel.ts'

type ToUrl = Extract<Action, { parameters: { url: string } }>

/** The request for a message, or why there is none. */
export type Request = { method: 'GET' | 'POST'; url: URL; body: object | null } | { refused: string }

/** A channel that sends each message as one HTTP request to the action's URL. */
export const byRequest = <A extends ToUrl>({
  shown,
  request,
  headers = () => ({}),
}: {
  shown(action: A): string
  request(action: A, message: AlertMessage): Request
  headers?(message: AlertMessage, body: string, context: SendContext): Record<string, string>
}): ChannelKind<A> => ({
  receiver: ({ parameters }) => destinationOf(parameters.url),

  preview(action, message) {
    const made = request(action, message)
    return 'refused' in made ? made : { ...made, url: made.url.href }
  },

  open: ({ http }) => ({
    destination: ({ parameters }) => destinationOf(parameters.url),
    shown,
    async send(action, [message], context) {
      const made = request(action, message!)
      if ('refused' in made) return { type: 'refused', why: made.refused }
      const { method, url } = made
      const body = made.body === null ? '' : JSON.stringify(made.body)
      const own = { 'content-type': 'application/json', ...headers(message!, body, context) }
      return http.attempt({ method, url, headers: own, ...(made.body !== null && { body }) }, context)
    },
  }),
})

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
