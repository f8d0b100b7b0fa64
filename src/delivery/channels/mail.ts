import type { Action, Confirmations } from '../../rules/rule.ts'
import { asLines, select } from '../payload.ts'
import { cutText, escapeHtml, MAX_SHOWN_VALUE, plainLine } from '../text.ts'
import { type AlertMessage, type MessageType, pendingNote } from './channel.ts'

/** Subject and bodies of a mail about one rule, with no line breaks that could break headers. */
export const renderMail = (action: Action, messages: readonly AlertMessage[]) => {
  const shown = messages.slice(0, MAX_SHOWN).map(message => part(action, message))
  const rule = shortLine(messages[0]!.rule.name)
  const subject = `${subjectOf(messages)}: ${cutText(rule, MAX_RULE_NAME)}`
  const more = messages.length > shown.length ? `… and ${messages.length - shown.length} more alerts.` : ''
  const intro = `Rule "${rule}" on ${shortLine(messages[0]!.network)}`
  return {
    subject,
    text: [
      intro,
      ...shown.map(({ title, rows }) => [title, ...rows.map(([name, value]) => `  ${name}: ${value}`)].join('\n')),
      ...(more === '' ? [] : [more]),
      '',
    ].join('\n\n'),
    html: [
      '<!doctype html><html><body style="font-family: sans-serif">',
      `<p>${escapeHtml(intro)}</p>`,
      ...shown.map(
        ({ title, rows }) =>
          `<h3>${escapeHtml(title)}</h3>\n<table>${rows
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
  if (messages.length === 1) return LABEL[messages[0]!.type]
  const others = OTHER_TYPES.flatMap(([type, word]) => {
    const count = messages.filter(it => it.type === type).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  return [`${messages.length} alerts`, ...others].join(', ')
}

const part = (action: Action, message: AlertMessage) => {
  const { type, id, timestamp, targetType, entity, confirmations, source } = message
  const fields = asLines(select(source, action.payload, targetType))
  const rows: [string, string][] = [
    ['entity', entity._id],
    ['alert', id],
    ['since', new Date(timestamp).toISOString()],
    ...(type === 'alert.confirmed' ? [] : [['note', NOTE[type](confirmations)] as [string, string]]),
    ...fields.slice(0, MAX_FIELDS),
    ...(fields.length > MAX_FIELDS ? [['…', `and ${fields.length - MAX_FIELDS} more fields`] as [string, string]] : []),
  ]
  return {
    title: `${LABEL[type]}: ${targetType} in block ${entity.blockNumber}`,
    rows: rows.map(([name, value]): [string, string] => [shortLine(name), shortLine(value)]),
  }
}

const shortLine = (text: string): string => cutText(plainLine(text), MAX_SHOWN_VALUE)

const LABEL: Record<MessageType, string> = {
  'alert.confirmed': 'Alert',
  'alert.pending': 'Pending alert',
  'alert.retracted': 'Retracted alert',
  'alert.test': 'Test alert',
}
const NOTE: Record<Exclude<MessageType, 'alert.confirmed'>, (confirmations: Confirmations) => string> = {
  'alert.pending': pendingNote,
  'alert.retracted': () => 'this alert no longer holds, because its block was reorganised away',
  'alert.test': () => 'this message tests the rule',
}
const OTHER_TYPES: [MessageType, string][] = [
  ['alert.pending', 'pending'],
  ['alert.retracted', 'retracted'],
  ['alert.test', 'tests'],
]
/** Alerts that a digest shows in full. */
const MAX_SHOWN = 100
const MAX_FIELDS = 100
const MAX_RULE_NAME = 120
