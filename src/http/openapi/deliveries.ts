import { STATES } from '../alerting/deliveries.ts'
import { closed, described, flag, listOf, oneOf, orNull, type Schema, text, whole } from './schema.ts'

const time: Schema & { type: string } = { ...text, format: 'date-time' }

const DELIVERY: Record<string, Schema> = {
  ...{ id: whole, network: text, alert: text, type: text, rule: whole },
  action: described('Place in the rule’s alerts.', whole),
  ...{ channel: text, target: text },
  state: oneOf(STATES.filter(state => state !== 'waiting' && state !== 'retried')),
  ...{ tries: whole, nextAt: orNull(time), createdAt: time, deliveredAt: orNull(time) },
  ...{ lastStatus: orNull(whole), lastError: orNull(text) },
}

const attempt = closed({
  ...{ n: whole, at: time, latencyMs: whole, outcome: oneOf(['delivered', 'retry', 'gone', 'refused', 'aborted']) },
  ...{ status: orNull(whole), error: orNull(text) },
  head: described('The beginning of the answer.', orNull(text)),
  ...{ nextAt: orNull(time), combined: whole },
})

/** Schemas of deliveries across rules. */
export const deliverySchemas = (): Record<string, Schema> => ({
  Delivery: closed(DELIVERY),
  WholeDelivery: closed({ ...DELIVERY, attempts: listOf(attempt) }),
  WideRedelivery: closed(
    {},
    {
      ...{ delivery: whole, rule: whole, alert: text, channel: text, target: text },
      ...{ from: time, to: time, dead: flag },
    },
  ),
  Destinations: closed({
    complete: described('Whether all deliveries were counted.', flag),
    destinations: listOf(
      closed({
        ...{ channel: text, target: text, waiting: whole, retried: whole, dead: whole, nextAt: orNull(time) },
        failing: {
          ...closed({ since: time, at: time, error: text, status: orNull(whole) }),
          type: ['object', 'null'],
        },
      }),
    ),
  }),
  AlertSeries: closed({
    ...{ from: time, to: time, intervalMs: whole },
    complete: described('Whether all alerts were counted.', flag),
    rules: listOf(
      closed({
        ...{ id: whole, name: text, enabled: flag, idle: orNull(text) },
        ...{ counts: listOf(whole), total: whole, last24h: whole },
        lastAlert: {
          ...closed({ id: text, state: text, block: whole, receivedAt: time, changedAt: time }),
          type: ['object', 'null'],
        },
      }),
    ),
  }),
})
