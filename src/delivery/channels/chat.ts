import type { Action, Confirmations } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import { asLines, select } from '../payload.ts'
import { chatValue, cutEscaped, plainLine, plainLines } from '../text.ts'
import { type AlertMessage, type MessageType, pendingNote } from './channel.ts'
import { byRequest, HIDDEN_SECRET } from './request.ts'

type Chat = Extract<Action, { type: 'Chat' }>

/** Incoming webhooks of Slack, Mattermost, Rocket.Chat and Discord (path `/slack`). */
export const chat = byRequest<Chat>({
  /** The path is a secret. */
  shown({ parameters }) {
    const url = parseTarget(parameters.url)
    return url ? `${url.origin}/${HIDDEN_SECRET}` : HIDDEN_SECRET
  },
  request(action, message) {
    const url = parseTarget(action.parameters.url)
    if (!url) return { refused: 'its URL is neither http nor https' }
    return { method: 'POST', url, body: chatBody(action, message) }
  },
})

export const chatBody = (action: Chat, message: AlertMessage) => {
  const { url, channel, username } = action.parameters
  const names = { channel: plainLine(channel), username: plainLine(username) }
  return {
    text: chatText(action, message, longestFor(url)),
    ...(names.channel !== '' && { channel: names.channel }),
    ...(names.username !== '' && { username: names.username }),
  }
}

/**
 * The owner's text, then our lines, then as many fields as fit. Everything but the owner's text is
 * escaped or in code spans.
 */
const chatText = ({ parameters, payload }: Chat, message: AlertMessage, longest: number): string => {
  const { id, type, rule, targetType, network, entity, confirmations, source } = message
  const tail = [
    ...STATE_LINES[type](chatValue(id), confirmations).map(line => `*${line}*`),
    `Rule ${chatValue(rule.name)}: ${targetType} in block ${entity.blockNumber} of ${chatValue(network)}`,
    `${chatValue(entity._id)}, alert ${chatValue(id)}`,
  ]
  const reserved = tail.join('\n').length + MORE
  const lines = [cutEscaped(plainLines(parameters.text).trim(), longest - reserved), ...tail].filter(it => it !== '')
  let room = longest - lines.join('\n').length - MORE
  const fields = asLines(select(source, payload, targetType))
  for (const [at, [name, value]] of fields.entries()) {
    const line = `• ${chatValue(name)} ${chatValue(value)}`
    room -= line.length + 1
    if (room < 0) {
      lines.push(`… and ${fields.length - at} more fields`)
      break
    }
    lines.push(line)
  }
  return lines.join('\n')
}

/** Lines for each state of an alert. */
const STATE_LINES: Record<MessageType, (id: string, confirmations: Confirmations) => string[]> = {
  'alert.confirmed': () => [],
  'alert.pending': (_, confirmations) => [`Pending: ${pendingNote(confirmations)}`],
  'alert.retracted': id => [`Retracted: alert ${id} no longer holds, because its block was reorganised away`],
  'alert.test': () => ['Test: this message tests the rule'],
}

const longestFor = (url: string): number =>
  /(^|\.)discord(app)?\.com$/.test(parseTarget(url)?.hostname ?? '') ? 2_000 : 4_000

/** Reserved for the line about omitted fields. */
const MORE = 40
