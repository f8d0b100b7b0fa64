import { URL_TOKEN } from '../../rules/check-alerts.ts'
import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import { fillMessage } from '../message-text.ts'
import { fillUrl, select } from '../payload.ts'
import { sign } from '../webhook-signature.ts'
import type { AlertMessage } from './channel.ts'
import { MESSAGE_STATES } from './notice.ts'
import { byRequest, HIDDEN_SECRET } from './request.ts'

type Webhook = Extract<Action, { type: 'Webhook (GET)' | 'Webhook (POST)' }>

/**
 * Standard Webhooks 1.0: a POST has the alert in its body, a GET in its headers and URL tokens.
 * `webhook-id` is the idempotency key: receivers deduplicate by it, together with `webhook-type`.
 */
export const webhook = (method: 'GET' | 'POST') =>
  byRequest<Webhook>({
    address: ({ parameters }) => parameters.url,
    shown: ({ parameters }) => shownUrl(parameters.url),
    // A URL with tokens is another one for each alert.
    groups: ({ parameters }) => method === 'POST' && parameters.url.search(URL_TOKEN) < 0,
    request(action, message, links) {
      const { parameters } = action
      const url = fillUrl(parameters.url, message.source, message.targetType)
      if (typeof url === 'string') return { refused: url }
      const body = message.group ? groupBody(action, message, links) : webhookBody(action, message, links)
      return { method, url, body: method === 'POST' ? body : null }
    },
    headers({ id: alert, type, repeat }, body, { secrets, now }) {
      const id = repeat === undefined ? alert : `${alert}_${repeat}`
      const seconds = Math.floor(now / 1000)
      return {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-type': type,
        ...(secrets.length > 0 && { 'webhook-signature': sign(secrets, id, seconds, body) }),
      }
    },
  })

const webhookBody = (
  { payload, message: template }: Webhook,
  message: AlertMessage,
  links: AlertLinks,
  { id, type, timestamp, rule, network, targetType, confirmations, entity, when, source } = message,
) => ({
  id,
  type,
  timestamp: new Date(timestamp).toISOString(),
  rule: { id: rule.id, name: rule.name, version: rule.version },
  network,
  targetType,
  confirmations,
  entity: { _id: entity._id, _type: entity._type },
  ...(when !== undefined && { when }),
  ...(template !== undefined && { message: fillMessage(template, message, MESSAGE_STATES[type].label, links) }),
  payload: select(source, payload, targetType),
})

const groupBody = (action: Webhook, { id, type, timestamp, rule, group = [] }: AlertMessage, links: AlertLinks) => ({
  id,
  type,
  timestamp: new Date(timestamp).toISOString(),
  rule: { id: rule.id, name: rule.name, version: rule.version },
  alerts: group.map(message => webhookBody(action, message, links)),
})

/** Hides credentials, query values and path parts long enough for a key. Tokens stay. */
export const shownUrl = (template: string): string => {
  const url = parseTarget(template.replace(URL_TOKEN, token => token.replaceAll('#', '.')))
  if (!url) return HIDDEN_SECRET
  const path = url.pathname
    .split('/')
    .map(part => (isToken(part) ? decodeURIComponent(part) : part.length >= KEY_LENGTH ? HIDDEN_SECRET : part))
  const query = [...url.searchParams].map(([name, value]) => `${name}=${isToken(value) ? value : HIDDEN_SECRET}`)
  return `${url.origin}${path.join('/')}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

const isToken = (text: string): boolean => /^(\{|%7b)[\w$.]+(\}|%7d)$/i.test(text)
const KEY_LENGTH = 16
