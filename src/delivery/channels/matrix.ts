import { createHash } from 'node:crypto'
import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import { escapeHtml, withoutMentions } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { composeNotice, type Markup, noticeOf } from './notice.ts'
import { byRequest, endpointOf, NOT_HTTP, numberInAnswer, textInAnswer } from './request.ts'

type Matrix = Extract<Action, { type: 'Matrix' }>

/** A message to a room. Its transaction id is the same in every try, so that the room has it once. */
export const matrix = byRequest<Matrix>({
  address: ({ parameters: { url, room, token } }) => `${url}#${room}/${token}`,
  shown: ({ parameters: { url, room } }) => `${parseTarget(url)?.origin ?? ''}/${room}`,
  request(action, message, links) {
    const { url: base, room, token } = action.parameters
    const url = endpointOf(
      base,
      `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${transactionOf(message)}`,
    )
    if (!url) return NOT_HTTP
    const headers = { authorization: `Bearer ${token}` }
    return { method: 'PUT', url, body: matrixBody(action, message, links), headers }
  },
  meaning(status, body) {
    const waitMs = numberInAnswer(body, 'retry_after_ms')
    return {
      reason: textInAnswer(body, 'error'),
      retryAfter: waitMs && waitMs / 1_000,
      // A wrong token or room, or a sender who may not write there.
      permanent: [400, 401, 403, 404, 413].includes(status),
    }
  },
})

const transactionOf = ({ id, type, timestamp }: AlertMessage): string =>
  createHash('sha256')
    .update(`${id} ${type} ${type === 'alert.group' ? '' : timestamp}`)
    .digest('hex')
    .slice(0, 32)

export const matrixBody = (action: Matrix, message: AlertMessage, links: AlertLinks) => {
  const notice = noticeOf(action, message, links)
  return {
    msgtype: 'm.text',
    body: composeNotice(notice, MATRIX_LINES, MAX_MATRIX_BYTES),
    format: 'org.matrix.custom.html',
    formatted_body: composeNotice(notice, MATRIX_HTML, MAX_MATRIX_BYTES).replaceAll('\n', '<br>'),
    // Nobody is mentioned, whatever the text is.
    'm.mentions': {},
  }
}

const matrixPlain = (text: string): string => escapeHtml(withoutMentions(text))
/** In JSON, each of a text's quotes and backslashes takes two. */
const bytesInJson = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

const MATRIX_LINES: Markup = {
  title: withoutMentions,
  plain: withoutMentions,
  field: (name, value) => withoutMentions(`${name}: ${value}`),
  link: (name, url) => `${name}: ${url}`,
  size: bytesInJson,
}

const MATRIX_HTML: Markup = {
  title: text => `<strong>${matrixPlain(text)}</strong>`,
  plain: matrixPlain,
  field: (name, value) => `${matrixPlain(name)}: <code>${matrixPlain(value)}</code>`,
  link: (name, url) => `<a href="${escapeHtml(url)}">${name}</a>`,
  // A line break becomes a tag of four, of which one is counted already.
  size: html => bytesInJson(html.replaceAll('\n', '<br>')) + 3,
}

/** An event may have 65,536 bytes with what the server adds, and the text is in it twice. */
const MAX_MATRIX_BYTES = 28 << 10
