import type { Action, Confirmations } from '../../rules/rule.ts'
import type { AlertLinks } from '../links.ts'
import { fillMessage } from '../message-text.ts'
import { asLines, select } from '../payload.ts'
import { cutText, MAX_SHOWN_VALUE, plainLine } from '../text.ts'
import type { AlertMessage, MessageType } from './channel.ts'

/** What each state of an alert is called, why it is noted, and whether it ends an incident. */
export const MESSAGE_STATES: Record<
  MessageType,
  { label: string; plural: string; note?: (confirmations: Confirmations) => string; ends?: true }
> = {
  'alert.confirmed': { label: 'Alert', plural: 'alerts' },
  'alert.pending': {
    label: 'Pending alert',
    plural: 'pending',
    note: confirmations =>
      typeof confirmations === 'number'
        ? `it does not have ${confirmations} confirmations yet`
        : `its block is not ${confirmations} yet`,
  },
  'alert.repeated': {
    label: 'Repeated alert',
    plural: 'repeated',
    note: () => 'this alert is still open',
  },
  'alert.resolved': {
    label: 'Resolved alert',
    plural: 'resolved',
    note: () => 'the conditions of this alert no longer hold',
    ends: true,
  },
  'alert.retracted': {
    label: 'Retracted alert',
    plural: 'retracted',
    note: () => 'this alert no longer holds, because its block was reorganised away',
    ends: true,
  },
  'alert.group': { label: 'Alerts', plural: 'groups' },
  'alert.test': { label: 'Test alert', plural: 'tests', note: () => 'this message tests the rule' },
}

/** An alert in words, as lines without control characters. Channels escape and cut them. */
export interface AlertNotice {
  /** `Retracted alert: Large transfers` */
  title: string
  note: string | undefined
  /** The owner's message with its values; may have line breaks. */
  message: string
  /** What is said of every alert, then the fields of its document. */
  facts: [name: string, value: string][]
  fields: [name: string, value: string][]
  links: [name: string, url: string][]
  /** Says that so many fields are left out. */
  more: (count: number) => string
}

export const noticeOf = (
  action: Pick<Action, 'payload' | 'message'>,
  message: AlertMessage,
  links: AlertLinks,
): AlertNotice => {
  if (message.group) return groupNotice(action, message, links)
  const { id, type, rule, network, targetType, entity, confirmations, source } = message
  const { label, note } = MESSAGE_STATES[type]
  const [inConsole, inExplorer] = [links.console(message), links.explorer(message)]
  return {
    title: `${label}: ${cutText(plainLine(rule.name), MAX_NOTICE_TITLE)}`,
    note: note?.(confirmations),
    message: fillMessage(action.message ?? '', message, label, links),
    facts: [
      ['Network', plainLine(network)],
      [targetType, `in block ${entity.blockNumber}`],
      ['Document', shownLine(entity._id)],
      ['Alert', id],
      ...windowFacts(message.when),
    ],
    fields: asLines(select(source, action.payload, targetType)).map(([name, value]) => [
      shownLine(name),
      shownLine(value),
    ]),
    more: moreFields,
    links: [
      ...(inConsole === undefined ? [] : [['Chainsieve', inConsole] satisfies [string, string]]),
      ...(inExplorer === undefined ? [] : [['Explorer', inExplorer] satisfies [string, string]]),
    ],
  }
}

/** Lists alerts: what the owner's message says of each, or its first fields. */
const groupNotice = (
  action: Pick<Action, 'payload' | 'message'>,
  { rule, group = [] }: AlertMessage,
  links: AlertLinks,
): AlertNotice => ({
  title: `${countStates(group)}: ${cutText(plainLine(rule.name), MAX_NOTICE_TITLE)}`,
  note: undefined,
  message: '',
  facts: [['Network', [...new Set(group.map(({ network }) => plainLine(network)))].join(', ')]],
  fields: group.map(message => {
    const { message: said, fields } = noticeOf(action, message, links)
    const { type, targetType, entity } = message
    const shown = said === '' ? fields.slice(0, LISTED_FIELDS).map(([name, value]) => `${name} ${value}`) : [said]
    return [
      `${MESSAGE_STATES[type].label}, ${targetType} in block ${entity.blockNumber}`,
      cutText(plainLine(shown.join(', ')), MAX_LISTED_ALERT),
    ]
  }),
  links: [],
  more: count => `… and ${count} more ${count === 1 ? 'alert' : 'alerts'}`,
})

/** `3 alerts`, `3 alerts, 1 retracted` */
export const countStates = (messages: readonly AlertMessage[]): string => {
  const others = OTHER_TYPES.flatMap(type => {
    const count = messages.filter(it => it.type === type).length
    return count === 0 ? [] : [`${count} ${MESSAGE_STATES[type].plural}`]
  })
  return [`${messages.length} ${messages.length === 1 ? 'alert' : 'alerts'}`, ...others].join(', ')
}

const OTHER_TYPES = (Object.keys(MESSAGE_STATES) as MessageType[]).filter(type => type !== 'alert.confirmed')
const LISTED_FIELDS = 5
const MAX_LISTED_ALERT = 300

/** Key and values of an alert of windows. */
const windowFacts = (when: AlertMessage['when']): [string, string][] => {
  if (when === undefined) return []
  const { key, window, matches, conditions, steps = [] } = when
  return [
    ...Object.entries(key).map(([name, value]): [string, string] => [shownLine(name), shownLine(value ?? '')]),
    ...conditions.map(({ aggregate, name, value }): [string, string] => [
      shownLine([aggregate, name].filter(Boolean).join(' of ')),
      value ?? 'none',
    ]),
    ...steps.map((step, i): [string, string] => [
      `Step ${i + 1}`,
      'missing' in step
        ? `missing ${window.toBlock === undefined ? `at ${utcOf(window.toTime)}` : `in block ${window.toBlock}`}`
        : `${shownLine(step._id)} in block ${step.block}${step.network === undefined ? '' : ` of ${plainLine(step.network)}`}`,
    ]),
    ...(steps.length > 0 ? [] : [['Matches', `${matches} ${matchedSpan(window)}`] satisfies [string, string]]),
  ]
}

const matchedSpan = ({ fromBlock, toBlock, fromTime, toTime }: NonNullable<AlertMessage['when']>['window']): string =>
  toBlock === undefined ? `from ${utcOf(fromTime)} to ${utcOf(toTime)}` : `in blocks ${fromBlock} to ${toBlock}`
const utcOf = (seconds = 0): string => new Date(seconds * 1_000).toISOString().replace('.000', '')

const shownLine = (text: string): string => {
  const line = cutText(plainLine(text), MAX_SHOWN_VALUE).trim()
  return line === '' ? '(empty)' : line
}

const MAX_NOTICE_TITLE = 120

/** How a service marks up text. Every text is escaped for it. */
export interface Markup {
  title?(text: string): string
  plain(text: string): string
  /** A name and its value, on one line. */
  field(name: string, value: string): string
  link(name: string, url: string): string
  /** Length in the unit of the service's limit. */
  size(text: string): number
}

/** Title, note, links and facts, with as much of the message and as many fields as fit `most`. */
export const composeNotice = (
  { title, note, message, facts, fields, links, more }: AlertNotice,
  markup: Markup,
  most: number,
): string => {
  const { size, plain, field, link } = markup
  const sizeOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + size(line) + 1, 0)
  const top = [...(markup.title ? [markup.title(title)] : []), ...(note === undefined ? [] : [plain(`Note: ${note}`)])]
  const middle = facts.map(([name, value]) => field(name, value))
  const bottom = links.length === 0 ? [] : [links.map(([name, url]) => link(name, url)).join(plain(' · '))]
  const reserved = sizeOf([...top, ...middle, ...bottom]) + (fields.length > 0 ? MORE_FIELDS : 0)
  const said = message === '' ? '' : plain(cutToFit(message, most - reserved, text => size(plain(text))))
  const lines = [...top, ...(said === '' ? [] : [said]), ...middle]
  const rendered = fields.map(([name, value]) => field(name, value))
  const taken = fitting(rendered, most - sizeOf([...lines, ...bottom]) + 1, MORE_FIELDS, size)
  const left = fields.length - taken
  return [...lines, ...rendered.slice(0, taken), ...(left > 0 ? [plain(more(left))] : []), ...bottom].join('\n')
}

/** How many lines fit, with `rest` kept for the line about those that do not. */
export const fitting = (
  lines: readonly string[],
  room: number,
  rest: number,
  size: (text: string) => number = text => text.length,
): number => {
  let [taken, whole] = [0, 0]
  for (const line of lines) {
    whole += size(line) + 1
    if (whole <= room - rest) taken++
  }
  // The last lines may take the place of that line.
  return whole <= room ? lines.length : taken
}

/** Reserved for the line about omitted fields. */
export const MORE_FIELDS = 40
export const moreFields = (count: number): string => `… and ${count} more ${count === 1 ? 'field' : 'fields'}`

/** The longest beginning whose size is at most `most`, with an ellipsis if it is cut. */
export const cutToFit = (text: string, most: number, size: (text: string) => number): string => {
  if (size(text) <= most) return text
  let [low, high] = [0, text.length]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (size(cutText(text, middle)) <= most) low = middle
    else high = middle - 1
  }
  return cutText(text, low)
}
