import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import { type AlertLinks, NO_LINKS } from '../links.ts'
import { chatValue, cutEscaped, cutText, escapeChat, plainLine, plainLines, withoutMentions } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { composeNotice, cutToFit, fitting, type Markup, MORE_FIELDS, moreFields, noticeOf } from './notice.ts'
import { byRequest, NOT_HTTP, shownOrigin } from './request.ts'

type Chat = Extract<Action, { type: 'Chat' }>

/** Incoming webhooks of Slack, Mattermost, Rocket.Chat and Discord (path `/slack`). */
export const chat = byRequest<Chat>({
  address: ({ parameters }) => parameters.url,
  shown: shownOrigin,
  request(action, message, links) {
    const url = parseTarget(action.parameters.url)
    if (!url) return NOT_HTTP
    return { method: 'POST', url, body: chatBody(action, message, links) }
  },
})

export const chatBody = (action: Chat, message: AlertMessage, links = NO_LINKS) => {
  const { url, channel, username } = action.parameters
  const names = { channel: plainLine(channel), username: plainLine(username) }
  const host = parseTarget(url)?.hostname ?? ''
  return {
    text: chatText(action, message, links, DISCORD.test(host) ? 2_000 : 4_000),
    // Slack shows them in place of the text, which remains in notifications.
    ...(SLACK.test(host) && { blocks: slackBlocks(action, message, links), unfurl_links: false, unfurl_media: false }),
    ...(names.channel !== '' && { channel: names.channel }),
    ...(names.username !== '' && { username: names.username }),
  }
}

/**
 * The owner's text, then our lines, then as many fields as fit. Everything but the owner's text is
 * escaped or in code spans.
 */
const chatText = (action: Chat, message: AlertMessage, links: AlertLinks, longest: number): string => {
  const { id, rule, targetType, network, entity } = message
  if (message.group) return groupText(action, message, links, longest)
  const { note, message: said, fields, links: pages } = noticeOf(action, message, links)
  const tail = [
    ...(note === undefined ? [] : [`*Note: ${note}*`]),
    `Rule ${chatValue(rule.name)}: ${targetType} in block ${entity.blockNumber} of ${chatValue(network)}`,
    `${chatValue(entity._id)}, alert ${chatValue(id)}`,
    ...pages.map(([name, url]) => `${name}: ${url}`),
  ]
  const room = longest - tail.join('\n').length - MORE_FIELDS
  const text = cutEscaped(plainLines(action.parameters.text).trim(), room)
  const own = said === '' ? '' : chatPlain(cutToFit(said, room - text.length - 2, it => chatPlain(it).length))
  const lines = [text, own, ...tail].filter(it => it !== '')
  const rendered = fields.map(([name, value]) => chatField(name, value))
  const taken = fitting(rendered, longest - lines.join('\n').length, MORE_FIELDS)
  const left = fields.length - taken
  return [...lines, ...rendered.slice(0, taken), ...(left > 0 ? [moreFields(left)] : [])].join('\n')
}

const groupText = (action: Chat, message: AlertMessage, links: AlertLinks, longest: number): string => {
  const text = cutEscaped(plainLines(action.parameters.text).trim(), longest >> 1)
  const notice = composeNotice(noticeOf(action, message, links), GROUP_MRKDWN, longest - text.length - 1)
  return text === '' ? notice : `${text}\n${notice}`
}

/** Slack has no escape for its marks: a quote takes the place of the backtick, and no link is made. */
const chatPlain = (text: string): string =>
  escapeChat(withoutMentions(text.replaceAll('`', "'").replaceAll('](', ']\u200b(')))
const chatField = (name: string, value: string): string => `• ${chatValue(name)} ${chatValue(value)}`

const MRKDWN: Markup = {
  plain: chatPlain,
  field: chatField,
  link: (name, url) => `<${escapeChat(url)}|${name}>`,
  size: text => text.length,
}

const GROUP_MRKDWN: Markup = { ...MRKDWN, title: chatPlain }

/** Title and message are plain text, in which nothing is markup. */
const slackBlocks = (action: Chat, message: AlertMessage, links: AlertLinks): object[] => {
  const notice = noticeOf(action, message, links)
  const text = cutEscaped(plainLines(action.parameters.text).trim(), MAX_SECTION)
  const section = (type: 'mrkdwn' | 'plain_text', content: string) =>
    content === ''
      ? []
      : [{ type: 'section', text: { type, text: content, ...(type === 'plain_text' && { emoji: false }) } }]
  return [
    { type: 'header', text: { type: 'plain_text', text: cutText(notice.title, MAX_HEADER), emoji: false } },
    ...section('mrkdwn', text),
    ...section('plain_text', cutText(notice.message, MAX_SECTION)),
    ...section('mrkdwn', composeNotice({ ...notice, message: '' }, MRKDWN, MAX_SECTION)),
  ]
}

const SLACK = /^hooks\.slack(-gov)?\.com$/
const DISCORD = /(^|\.)discord(app)?\.com$/
const MAX_HEADER = 150
const MAX_SECTION = 3_000
