import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import type { AlertMessage } from './channel.ts'
import { cutToFit, fitting, noticeOf } from './notice.ts'
import { byRequest, NOT_HTTP, shownOrigin, textInAnswer } from './request.ts'

type Teams = Extract<Action, { type: 'Teams' }>

/** A workflow of Teams that is triggered by a webhook request and posts the card of its body. */
export const teams = byRequest<Teams>({
  address: ({ parameters }) => parameters.url,
  shown: shownOrigin,
  request(action, message, links) {
    const url = parseTarget(action.parameters.url)
    return url ? { method: 'POST', url, body: teamsBody(action, message, links) } : NOT_HTTP
  },
  meaning(status, body) {
    return {
      reason: textInAnswer(body?.error, 'message'),
      // The workflow was deleted or turned off, its signature is wrong, or the card is refused.
      permanent: [400, 401, 403, 404, 413].includes(status),
    }
  },
})

/**
 * Text is in runs, whose content is no markup: TextBlocks would take Markdown, and mentions need an
 * entity of the card.
 */
export const teamsBody = (action: Teams, message: AlertMessage, links: AlertLinks) => {
  const { title, note, message: said, facts, fields, links: pages, more: moreOf } = noticeOf(action, message, links)
  const top = [
    runs([{ text: title, weight: 'Bolder', size: 'Medium' }]),
    ...(note === undefined ? [] : [runs([{ text: `Note: ${note}`, weight: 'Bolder' }])]),
  ]
  const named = facts.map(([name, value]) => fieldRuns(name, value))
  const bottom = pages.map(([name, url]) => ({ type: 'Action.OpenUrl', title: name, url }))
  const around = cardBytes(cardWith([...top, ...named], bottom)) + MORE_BYTES
  const lines = said.split('\n').map(line => runs([{ text: line }]))
  const room = MAX_CARD_BYTES - around
  const own =
    said === ''
      ? []
      : cardBytes(lines) <= room
        ? lines
        : [runs([{ text: cutToFit(said, room - RUN_BYTES, text => cardBytes(text)) }])]
  const rows = fields.map(([name, value]) => fieldRuns(name, value))
  const texts = rows.map(row => JSON.stringify(row))
  const taken = fitting(texts, room - cardBytes(own), 0, text => Buffer.byteLength(text))
  const left = rows.length - taken
  const more = left > 0 ? [runs([{ text: moreOf(left) }])] : []
  return cardWith([...top, ...own, ...named, ...rows.slice(0, taken), ...more], bottom)
}

const cardWith = (body: object[], actions: object[]) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        ...{ type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' } },
        body,
        ...(actions.length > 0 && { actions }),
      },
    },
  ],
})

interface TextRun {
  text: string
  weight?: 'Bolder'
  size?: 'Medium'
}

const runs = (inlines: TextRun[]) => ({
  type: 'RichTextBlock',
  inlines: inlines.map(({ text, ...rest }) => ({ type: 'TextRun', text: withoutFunctions(text), ...rest })),
})
const fieldRuns = (name: string, value: string) => runs([{ text: `${name}: `, weight: 'Bolder' }, { text: value }])

/** Clients replace `{{DATE(…)}}`. */
const withoutFunctions = (text: string): string => text.replaceAll('{{', '{\u200b{')

const cardBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Of a message, in bytes. */
const MAX_CARD_BYTES = 28 << 10
/** Of the line about omitted fields, and of a run around its text. */
const MORE_BYTES = 200
const RUN_BYTES = 100
