import type { Action } from '../rules/rule.ts'
import type { Message } from './channel.ts'
import { chatBody } from './chat.ts'
import { parseTarget } from './http.ts'
import { renderMail } from './mail.ts'
import { fillUrl } from './payload.ts'
import { plain } from './text.ts'
import { type Webhook, webhookBody } from './webhook.ts'

/** What a receiver would get, or why nothing would be sent to it. */
export type Rendered =
  | { method: 'GET' | 'POST'; url: string; body: object | null }
  | { to: string[]; subject: string; text: string }
  | { refused: string }

/** Sends nothing. The URL is whole: for who wrote it. */
export const render = (action: Action, message: Message): Rendered => RENDERERS[action.type](action as never, message)

const webhook =
  (method: 'GET' | 'POST') =>
  ({ parameters, payload }: Webhook, message: Message): Rendered => {
    const url = fillUrl(parameters.url, message.source)
    if (typeof url === 'string') return { refused: url }
    return { method, url: url.href, body: method === 'POST' ? webhookBody(message, payload) : null }
  }

const RENDERERS = {
  'Webhook (GET)': webhook('GET'),
  'Webhook (POST)': webhook('POST'),
  Email(action: Extract<Action, { type: 'Email' }>, message: Message) {
    const { subject, text } = renderMail(action, [message])
    return { to: action.parameters.recipients.map(it => plain(it).trim()), subject, text }
  },
  Chat(action: Extract<Action, { type: 'Chat' }>, message: Message) {
    const url = parseTarget(action.parameters.url)
    if (!url) return { refused: 'its URL is neither http nor https' }
    return { method: 'POST', url: url.href, body: chatBody(action, message) }
  },
} satisfies Record<Action['type'], (action: never, message: Message) => Rendered>
