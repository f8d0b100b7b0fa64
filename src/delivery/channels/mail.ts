import type { Action } from '../../rules/rule.ts'
import { type AlertLinks, NO_LINKS } from '../links.ts'
import { cutText, escapeHtml, MAX_SHOWN_VALUE, plainLine } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { countStates, MESSAGE_STATES, noticeOf } from './notice.ts'

/** Subject and bodies of a mail about one rule, with no line breaks that could break headers. */
export const renderMail = (action: Action, messages: readonly AlertMessage[], links = NO_LINKS) => {
  const shown = messages.slice(0, MAX_SHOWN).map(message => part(action, message, links))
  const rule = shortLine(messages[0]!.rule.name)
  const subject = `${subjectOf(messages)}: ${cutText(rule, MAX_RULE_NAME)}`
  const more = messages.length > shown.length ? `… and ${messages.length - shown.length} more alerts.` : ''
  const intro = `Rule "${rule}" on ${shortLine(messages[0]!.network)}`
  return {
    subject,
    text: [
      intro,
      ...shown.map(({ title, said, rows }) =>
        [title, ...said, ...rows.map(([name, value]) => `  ${name}: ${value}`)].join('\n'),
      ),
      ...(more === '' ? [] : [more]),
      '',
    ].join('\n\n'),
    html: [
      '<!doctype html><html><body style="font-family: sans-serif">',
      `<p>${escapeHtml(intro)}</p>`,
      ...shown.map(
        ({ title, said, rows }) =>
          `<h3>${escapeHtml(title)}</h3>\n${said.length === 0 ? '' : `<p>${said.map(escapeHtml).join('<br>')}</p>\n`}<table>${rows
            .map(
              ([name, value]) =>
                `<tr><th align="left" valign="top">${escapeHtml(name)}</th><td style="word-break: break-all">${escapeHtml(value)}</td></tr>`,
            )
            .join('\n')}</table>`,
      ),
      ...(more === '' ? [] : [`<p>${more}</p>`]),
      '</body></html>',
      '',
    ].join('\n'),
  }
}

/** `Alert`, `Retracted alert`, `3 alerts`, `3 alerts, 1 retracted`. */
const subjectOf = (messages: readonly AlertMessage[]): string => {
  return messages.length === 1 ? MESSAGE_STATES[messages[0]!.type].label : countStates(messages)
}

const part = (action: Action, message: AlertMessage, links: AlertLinks) => {
  const { type, id, timestamp, targetType, entity } = message
  const { note, message: said, fields, links: pages } = noticeOf(action, message, links)
  const rows: [string, string][] = [
    ['entity', entity._id],
    ['alert', id],
    ['since', new Date(timestamp).toISOString()],
    ...(note === undefined ? [] : [['note', note] satisfies [string, string]]),
    ...fields.slice(0, MAX_FIELDS),
    ...(fields.length > MAX_FIELDS ? [['…', `and ${fields.length - MAX_FIELDS} more fields`] as [string, string]] : []),
  ]
  return {
    title: `${MESSAGE_STATES[type].label}: ${targetType} in block ${entity.blockNumber}`,
    said: said === '' ? [] : cutText(said, MAX_MAIL_TEXT).split('\n'),
    rows: [...rows.map(([name, value]): [string, string] => [shortLine(name), shortLine(value)]), ...pages],
  }
}

const shortLine = (text: string): string => cutText(plainLine(text), MAX_SHOWN_VALUE)

/** Alerts that a digest shows in full. */
const MAX_SHOWN = 100
const MAX_FIELDS = 100
/** Of the rule's message, in UTF-16 units. */
const MAX_MAIL_TEXT = 4_000
const MAX_RULE_NAME = 120
