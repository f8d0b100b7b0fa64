import type { MetricSnapshot, Metrics } from '../lib/metrics.ts'
import { CHANNEL_TYPES } from '../rules/channels.ts'
import type { DeliveryStore } from './ledger/store.ts'
import type { OutboxSource } from './outbox-poller.ts'

export type Counters = ReturnType<typeof createCounters>

const LAG_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
const ATTEMPT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

export const createCounters = (metrics: Metrics) => {
  const deliveries = metrics.counter(
    'chainsieve_deliveries_total',
    'Deliveries by outcome: delivered, retried (an attempt failed), dead, cancelled (no longer wanted).',
  )
  const of = (outcome: string) => ({
    add: ({ channel }: { channel: string }, by?: number) => deliveries.add({ channel, outcome }, by),
  })
  return {
    delivered: of('delivered'),
    retried: of('retried'),
    dead: of('dead'),
    cancelled: of('cancelled'),
    lag: metrics.histogram(
      'chainsieve_delivery_lag_seconds',
      'Time from receiving a block to delivering its alert.',
      LAG_BOUNDS_S,
    ),
    attempt: metrics.histogram(
      'chainsieve_delivery_attempt_duration_seconds',
      'Duration of an attempt to deliver, with any outcome.',
      ATTEMPT_BOUNDS_S,
    ),
  }
}

/** Counts waiting deliveries, which takes at most a tenth of the time. */
export const createWaitingMetrics = (
  store: Pick<DeliveryStore, 'waiting' | 'dead' | 'cursor'>,
  outboxes: () => ReadonlyMap<string, Pick<OutboxSource, 'identity' | 'last'>>,
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
  const queued = CHANNEL_TYPES.map(channel => waiting.get(channel) ?? { channel, count: 0, dueAt: now })
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
  outboxes: ReadonlyMap<string, Pick<OutboxSource, 'identity' | 'last'>>,
): MetricSnapshot => ({
  ...{ type: 'gauge', name: 'chainsieve_outbox_pending' },
  help: 'Alerts in the outbox that delivery has not taken yet.',
  series: [...outboxes].map(([network, outbox]) => ({
    labels: { network },
    value: Math.max(0, outbox.last() - store.cursor({ network, identity: outbox.identity })),
  })),
})
