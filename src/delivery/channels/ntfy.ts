import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import { cutText } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { composeNotice, type Markup, MESSAGE_STATES, noticeOf } from './notice.ts'
import { byRequest, NOT_HTTP, shownOrigin, textInAnswer } from './request.ts'

type Ntfy = Extract<Action, { type: 'ntfy' }>

/** JSON to the root of an ntfy server. The topic is the last part of the URL, and as good as a password. */
export const ntfy = byRequest<Ntfy>({
  address: ({ parameters }) => parameters.url,
  shown: shownOrigin,
  request(action, message, links) {
    const url = parseTarget(action.parameters.url)
    if (!url) return NOT_HTTP
    const [, path, topic] = /^(.*\/)([\w-]{1,64})\/*$/.exec(url.pathname) ?? []
    if (topic === undefined) return { refused: 'its URL does not end in a topic' }
    url.pathname = path!
    url.search = ''
    const { token } = action.parameters
    return {
      ...{ method: 'POST', url, body: ntfyBody(action, topic, message, links) },
      headers: token ? { authorization: `Bearer ${token}` } : {},
    }
  },
  meaning: (status, body) => ({
    reason: textInAnswer(body, 'error'),
    permanent: [400, 401, 403, 404, 413].includes(status),
  }),
})

export const ntfyBody = (action: Ntfy, topic: string, message: AlertMessage, links: AlertLinks) => {
  const { priority } = action.parameters
  const notice = noticeOf(action, message, links)
  const page = notice.links[0]?.[1]
  return {
    topic,
    title: cutText(notice.title, MAX_NTFY_TITLE),
    message: composeNotice({ ...notice, links: [] }, NTFY_LINES, MAX_NTFY_BYTES),
    tags: [MESSAGE_STATES[message.type].ends ? 'white_check_mark' : 'link'],
    ...(priority && { priority: PRIORITIES[priority] }),
    ...(page !== undefined && { click: page }),
    ...(notice.links.length > 0 && {
      actions: notice.links.map(([label, url]) => ({ action: 'view', label, url })),
    }),
  }
}

const PRIORITIES: Record<string, number> = { min: 1, low: 2, default: 3, high: 4, max: 5 }

/** Plain text: `markdown` is not asked for. */
const NTFY_LINES: Markup = {
  plain: text => text,
  field: (name, value) => `${name}: ${value}`,
  link: (name, url) => `${name}: ${url}`,
  size: text => Buffer.byteLength(text),
}

/** A longer message becomes an attachment. */
const MAX_NTFY_BYTES = 4_096
const MAX_NTFY_TITLE = 250
