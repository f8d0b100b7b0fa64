import { createHash } from 'node:crypto'
import type { Action } from '../rules/rule.ts'
import type { Channel, Message } from './channel.ts'
import { type Http, parseTarget } from './http.ts'
import { fillUrl, select } from './payload.ts'
import { sign } from './sign.ts'

export type Webhook = Extract<Action, { parameters: { url: string } }> & { type: 'Webhook (GET)' | 'Webhook (POST)' }

/** Standard Webhooks 1.0: a POST tells of the alert in its body, a GET in its headers and by what its URL's tokens take. */
export const createWebhook = (http: Http, method: 'GET' | 'POST'): Channel<Webhook> => ({
  destination: ({ parameters }) => destinationOf(parameters.url),
  shown: ({ parameters }) => shownUrl(parameters.url),

  async send({ parameters, payload }, [message], context) {
    const { secrets, now } = context
    const url = fillUrl(parameters.url, message!.source)
    if (typeof url === 'string') return { type: 'refused', why: url }
    const body = method === 'POST' ? JSON.stringify(webhookBody(message!, payload)) : undefined
    const seconds = Math.floor(now / 1000)
    const headers = {
      'content-type': 'application/json',
      'webhook-id': message!.id,
      'webhook-timestamp': String(seconds),
      'webhook-type': message!.type,
      ...(secrets.length > 0 && { 'webhook-signature': sign(secrets, message!.id, seconds, body ?? '') }),
    }
    return http.attempt({ method, url, headers, ...(body !== undefined && { body }) }, context)
  },
})

/** Everything but `payload` is the same for every action of a rule, and all of it for every attempt. */
export const webhookBody = (
  { id, type, timestamp, rule, network, targetType, confirmations, entity, source }: Message,
  payload: Action['payload'],
) => ({
  id,
  type,
  timestamp: new Date(timestamp).toISOString(),
  rule: { id: rule.id, name: rule.name, version: rule.version },
  network,
  targetType,
  confirmations,
  entity: { _id: entity._id, _type: entity._type },
  payload: select(source, payload),
})

/**
 * A URL whose origin is the target's, and whose path stands for the rest of it: behind one host (Slack's, Discord's) are many
 * receivers, of which one that is gone or broken says nothing of the others.
 */
export const destinationOf = (template: string): string => {
  const url = parseTarget(template)
  const rest = createHash('sha256').update(template).digest('hex').slice(0, 12)
  return url ? `${url.origin}/~${rest}` : `invalid:${rest}`
}

/** Without credentials, values of the query, and whatever in its path is long enough for a key. Tokens stay. */
export const shownUrl = (template: string): string => {
  const url = parseTarget(template)
  if (!url) return HIDDEN
  const path = url.pathname
    .split('/')
    .map(part => (isToken(part) ? decodeURIComponent(part) : part.length >= KEY_LENGTH ? HIDDEN : part))
  const query = [...url.searchParams].map(([name, value]) => `${name}=${isToken(value) ? value : HIDDEN}`)
  return `${url.origin}${path.join('/')}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

/** The webhook of a chat: its path is its password. */
export const shownOrigin = (text: string): string => {
  const url = parseTarget(text)
  return url ? `${url.origin}/${HIDDEN}` : HIDDEN
}

const isToken = (text: string): boolean => /^(\{|%7b)[\w$.]+(\}|%7d)$/i.test(text)
const HIDDEN = '[secret]'
const KEY_LENGTH = 16
