import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import { cutText, plainLine, withoutMentions } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { composeNotice, type Markup, MESSAGE_STATES, noticeOf } from './notice.ts'
import { byRequest, NOT_HTTP, numberInAnswer, shownOrigin, textInAnswer } from './request.ts'

type Discord = Extract<Action, { type: 'Discord' }>

/** Webhooks of Discord, with an embed, and no mention of anybody. */
export const discord = byRequest<Discord>({
  address: ({ parameters }) => parameters.url,
  shown: shownOrigin,
  request(action, message, links) {
    const url = parseTarget(action.parameters.url)
    if (!url) return NOT_HTTP
    // Without a version it would be one whose `retry_after` is in milliseconds.
    url.pathname = url.pathname.replace(/^\/api\/webhooks\//, '/api/v10/webhooks/')
    return { method: 'POST', url, body: discordBody(action, message, links) }
  },
  meaning(status, body) {
    return {
      reason: textInAnswer(body, 'message'),
      retryAfter: numberInAnswer(body, 'retry_after'),
      // The webhook was deleted, its token is wrong, or the message is refused.
      permanent: [400, 401, 403, 404].includes(status),
    }
  },
})

export const discordBody = (action: Discord, message: AlertMessage, links: AlertLinks) => {
  const notice = noticeOf(action, message, links)
  const username = plainLine(action.parameters.username ?? '').trim()
  const page = notice.links[0]?.[1]
  return {
    embeds: [
      {
        title: cutText(notice.title, MAX_EMBED_TITLE),
        ...(page !== undefined && { url: page }),
        description: composeNotice(notice, MARKDOWN, MAX_EMBED_TEXT),
        color: MESSAGE_STATES[message.type].ends ? GREY : ORANGE,
        timestamp: new Date(message.timestamp).toISOString(),
      },
    ],
    allowed_mentions: { parse: [] },
    ...(username !== '' && { username: cutText(username, MAX_USERNAME) }),
  }
}

const discordPlain = (text: string): string => withoutMentions(text).replace(/[\\`*_~|<>[\]()#-]/g, '\\$&')
/** In a code span nothing is markup, but it cannot have a backtick. */
const code = (text: string): string => `\`${withoutMentions(text).replaceAll('`', "'")}\``

const MARKDOWN: Markup = {
  plain: discordPlain,
  field: (name, value) => `${discordPlain(name)}: ${code(value)}`,
  link: (name, url) => `[${name}](${url})`,
  size: text => text.length,
}

const ORANGE = 0xe67e22
const GREY = 0x95a5a6
const MAX_EMBED_TITLE = 256
const MAX_EMBED_TEXT = 4_096
const MAX_USERNAME = 80
