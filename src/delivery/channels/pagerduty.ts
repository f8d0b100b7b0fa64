import type { Action } from '../../rules/rule.ts'
import { parseTarget } from '../http.ts'
import type { AlertLinks } from '../links.ts'
import { cutText } from '../text.ts'
import type { AlertMessage } from './channel.ts'
import { MESSAGE_STATES, noticeOf } from './notice.ts'
import { byRequest, HIDDEN_SECRET, NOT_HTTP } from './request.ts'

type PagerDuty = Extract<Action, { type: 'PagerDuty' }>

/** Events API v2. The alert's id is the `dedup_key`, so that what ends an alert resolves its incident. */
export const pagerduty = byRequest<PagerDuty>({
  // Each alert is an incident of its own.
  groups: () => false,
  address: ({ parameters }) => `${parameters.url || EVENTS}#${parameters.routingKey}`,
  shown: ({ parameters }) => `${parseTarget(parameters.url || EVENTS)?.origin ?? ''}/${HIDDEN_SECRET}`,
  request(action, message, links) {
    const url = parseTarget(action.parameters.url || EVENTS)
    return url ? { method: 'POST', url, body: pagerDutyEvent(action, message, links) } : NOT_HTTP
  },
  meaning(status, body) {
    const errors = Array.isArray(body?.errors) ? body.errors.filter(it => typeof it === 'string') : []
    return {
      ...(errors.length > 0 && { reason: errors.join('; ') }),
      // The routing key, or the event, is not valid. 429 and 5xx pass.
      permanent: [400, 401, 403, 404].includes(status),
    }
  },
})

export const pagerDutyEvent = (action: PagerDuty, message: AlertMessage, links: AlertLinks) => {
  const { routingKey, severity } = action.parameters
  const head = { routing_key: routingKey, dedup_key: message.id }
  if (MESSAGE_STATES[message.type].ends) return { ...head, event_action: 'resolve' }
  const { title, note, message: said, facts, fields, links: pages } = noticeOf(action, message, links)
  return {
    ...head,
    event_action: 'trigger',
    client: 'Chainsieve',
    ...(pages.length > 0 && { client_url: pages[0]![1], links: pages.map(([text, href]) => ({ href, text })) }),
    payload: {
      summary: cutText(said === '' ? title : `${title}: ${said.replaceAll('\n', ' ')}`, MAX_SUMMARY),
      source: message.network,
      // A test wakes nobody up.
      severity: message.type === 'alert.test' ? 'info' : severity || 'warning',
      timestamp: new Date(message.timestamp).toISOString(),
      component: message.targetType,
      group: cutText(message.rule.name, MAX_SUMMARY),
      custom_details: Object.fromEntries([
        ...(note === undefined ? [] : [['Note', note]]),
        ...(said === '' ? [] : [['Message', cutText(said, MAX_DETAIL_TEXT)]]),
        ...facts,
        ...fields.slice(0, MAX_DETAILS),
      ]),
    },
  }
}

const EVENTS = 'https://events.pagerduty.com/v2/enqueue'
const MAX_SUMMARY = 1_024
/** An event may have 512 kB. */
const MAX_DETAILS = 100
const MAX_DETAIL_TEXT = 16_000
