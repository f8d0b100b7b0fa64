import type { MetricSnapshot } from '../lib/metrics.ts'
import { CHANNELS } from './channel.ts'
import type { Source } from './intake.ts'
import type { DeliveryStore } from './store.ts'

/** What waits to be delivered, counted no more often than a tenth of the time: counting takes the longer the more waits. */
export const createWaitingMetrics = (
  store: Pick<DeliveryStore, 'waiting' | 'dead' | 'cursor'>,
  outboxes: () => ReadonlyMap<string, Pick<Source, 'identity' | 'last'>>,
  now: () => number = Date.now,
): (() => MetricSnapshot[]) => {
  let last: MetricSnapshot[] = []
  let again = 0
  return () => {
    const began = performance.now()
    if (began < again) return last
    last = [...queueMetrics(store, now()), outboxMetrics(store, outboxes())]
    const ended = performance.now()
    again = ended + SHARE * (ended - began)
    return last
  }
}

const SHARE = 10

const queueMetrics = (store: Pick<DeliveryStore, 'waiting' | 'dead'>, now: number): MetricSnapshot[] => {
  const waiting = new Map(store.waiting().map(one => [one.channel, one]))
  const queued = CHANNELS.map(channel => waiting.get(channel) ?? { channel, count: 0, dueAt: now })
  return [
    {
      ...{ type: 'gauge', name: 'chainsieve_deliveries_queued', help: 'Waiting deliveries.' },
      series: queued.map(({ channel, count }) => ({ labels: { channel }, value: count })),
    },
    {
      ...{ type: 'gauge', name: 'chainsieve_deliveries_overdue_seconds' },
      help: 'How long the oldest due delivery has been waiting. It grows while a receiver is down.',
      series: queued.map(({ channel, dueAt }) => ({ labels: { channel }, value: Math.max(0, now - dueAt) / 1_000 })),
    },
    {
      ...{ type: 'gauge', name: 'chainsieve_dead_letters' },
      help: 'Dead deliveries, which wait for redelivery.',
      series: [{ labels: {}, value: store.dead() }],
    },
  ]
}

const outboxMetrics = (
  store: Pick<DeliveryStore, 'cursor'>,
  outboxes: ReadonlyMap<string, Pick<Source, 'identity' | 'last'>>,
): MetricSnapshot => ({
  ...{ type: 'gauge', name: 'chainsieve_outbox_pending' },
  help: 'Alerts in the outbox that delivery has not taken yet.',
  series: [...outboxes].map(([network, outbox]) => ({
    labels: { network },
    value: Math.max(0, outbox.last() - store.cursor({ network, identity: outbox.identity })),
  })),
})
