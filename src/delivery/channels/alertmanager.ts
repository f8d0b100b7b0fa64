import type { Action } from '../../rules/rule.ts'
import type { AlertLinks } from '../links.ts'
import { cutText, plainLine } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { composeNotice, type Markup, MESSAGE_STATES, noticeOf } from './notice.ts'
import { byRequest, endpointOf, NOT_HTTP } from './request.ts'
import { shownUrl } from './webhook.ts'

type Alertmanager = Extract<Action, { type: 'Alertmanager' }>

/**
 * API v2. Labels identify an alert, so all its messages have the same. It is sent once and ends by
 * itself after `lasts`, or at once by a message that ends it.
 */
export const alertmanager = byRequest<Alertmanager>({
  address: ({ parameters }) => parameters.url,
  shown: ({ parameters }) => shownUrl(parameters.url),
  request(action, message, links) {
    const url = endpointOf(action.parameters.url, '/api/v2/alerts')
    return url
      ? { method: 'POST', url, body: (message.group ?? [message]).map(it => managedAlert(action, it, links)) }
      : NOT_HTTP
  },
  meaning: status => ({ permanent: [400, 401, 403, 404, 405].includes(status) }),
})

export const managedAlert = (action: Alertmanager, message: AlertMessage, links: AlertLinks) => {
  const { severity, lasts } = action.parameters
  const { id, type, rule, network, targetType, timestamp } = message
  const notice = noticeOf(action, message, links)
  const page = notice.links[0]?.[1]
  const iso = (time: number) => new Date(time).toISOString()
  const ends = MESSAGE_STATES[type].ends
  return {
    labels: {
      alertname: cutText(plainLine(rule.name), MAX_LABEL) || `Rule ${rule.id}`,
      ...{ alert: id, rule: String(rule.id), network, target: targetType, severity: severity || 'warning' },
    },
    annotations: {
      summary: notice.title,
      description: composeNotice(notice, ANNOTATION_LINES, MAX_ANNOTATION),
    },
    // Without a start, Alertmanager keeps the one that it has.
    ...(!ends && { startsAt: iso(timestamp) }),
    endsAt: iso(ends ? timestamp : timestamp + lastingMs(type === 'alert.test' ? '5m' : lasts || '1d')),
    ...(page !== undefined && { generatorURL: page }),
  }
}

const ANNOTATION_LINES: Markup = {
  plain: text => text,
  field: (name, value) => `${name}: ${value}`,
  link: (name, url) => `${name}: ${url}`,
  size: text => text.length,
}

const MAX_LABEL = 200
const MAX_ANNOTATION = 4_000
const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Rules are checked to have such a text. */
const lastingMs = (text: string): number => Number.parseInt(text, 10) * UNITS_MS[text.at(-1)!]!
