import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import { escapeHtml, withoutMentions } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { composeNotice, type Markup, noticeOf } from './notice.ts'
import { byRequest, endpointOf, HIDDEN_SECRET, NOT_HTTP, numberInAnswer, textInAnswer } from './request.ts'

type Telegram = Extract<Action, { type: 'Telegram' }>

/** `sendMessage` of the Bot API, whose URL has the bot's token. */
export const telegram = byRequest<Telegram>({
  address: ({ parameters: { url, token, chat, topic } }) => `${url || BOT_API}#${token}/${chat}/${topic ?? ''}`,
  shown: ({ parameters: { url, chat, topic } }) =>
    `${parseTarget(url || BOT_API)?.origin ?? ''}/${HIDDEN_SECRET}/${chat}${topic ? `/${topic}` : ''}`,
  request(action, message, links) {
    const { url: base, token } = action.parameters
    const url = endpointOf(base || BOT_API, `/bot${token}/sendMessage`)
    return url ? { method: 'POST', url, body: telegramBody(action, message, links) } : NOT_HTTP
  },
  meaning(status, body) {
    const said = textInAnswer(body, 'description')
    const retryAfter = numberInAnswer(body?.parameters, 'retry_after')
    const moved = numberInAnswer(body?.parameters, 'migrate_to_chat_id')
    const reason = moved === undefined ? said : `${said ?? 'the group was upgraded'}: its chat is ${moved} now`
    return {
      reason,
      retryAfter,
      // A wrong token or chat, a bot that was blocked, a text that is refused.
      permanent: [400, 401, 403, 404].includes(status),
    }
  },
})

export const telegramBody = (action: Telegram, message: AlertMessage, links: AlertLinks) => {
  const { chat, topic } = action.parameters
  return {
    chat_id: chat,
    ...(topic && { message_thread_id: Number(topic) }),
    text: composeNotice(noticeOf(action, message, links), TELEGRAM_HTML, MAX_MESSAGE),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  }
}

const telegramPlain = (text: string): string => escapeHtml(withoutMentions(text))

const TELEGRAM_HTML: Markup = {
  title: text => `<b>${telegramPlain(text)}</b>`,
  plain: telegramPlain,
  // In code there is neither a mention nor a link.
  field: (name, value) => `${telegramPlain(name)}: <code>${escapeHtml(value)}</code>`,
  link: (name, url) => `<a href="${escapeHtml(url)}">${name}</a>`,
  // The limit is for the text without its markup.
  size: html => html.replace(/<[^>]*>/g, '').replace(/&(#\d+|\w+);/g, '.').length,
}

const BOT_API = 'https://api.telegram.org'
const MAX_MESSAGE = 4_096
