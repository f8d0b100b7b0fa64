import { type Labels, type MetricSnapshot, type Metrics, snapshotOf } from '../metrics/index.ts'
import { CHANNEL_TYPES } from '../rules/channels.ts'
import type { DeliveryStore } from './ledger/store.ts'
import type { OutboxSource } from './outbox-poller.ts'

export type Counters = ReturnType<typeof createCounters>

const LAG_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
const ATTEMPT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

export const createCounters = (metrics: Metrics) => {
  const deliveries = metrics.counter('chainsieve_deliveries_total')
  const of = (outcome: string) => ({
    add: ({ channel }: { channel: string }, by?: number) => deliveries.add({ channel, outcome }, by),
  })
  return {
    delivered: of('delivered'),
    retried: of('retried'),
    dead: of('dead'),
    cancelled: of('cancelled'),
    silenced: of('silenced'),
    lag: metrics.histogram('chainsieve_delivery_lag_seconds', LAG_BOUNDS_S),
    attempt: metrics.histogram('chainsieve_delivery_attempt_duration_seconds', ATTEMPT_BOUNDS_S),
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
    snapshotOf(
      'chainsieve_deliveries_queued',
      ...queued.map(({ channel, count }): [number, Labels] => [count, { channel }]),
    ),
    snapshotOf(
      'chainsieve_deliveries_overdue_seconds',
      ...queued.map(({ channel, dueAt }): [number, Labels] => [Math.max(0, now - dueAt) / 1_000, { channel }]),
    ),
    snapshotOf('chainsieve_dead_letters', [store.dead()]),
  ]
}

const outboxMetrics = (
  store: Pick<DeliveryStore, 'cursor'>,
  outboxes: ReadonlyMap<string, Pick<OutboxSource, 'identity' | 'last'>>,
): MetricSnapshot =>
  snapshotOf(
    'chainsieve_outbox_pending',
    ...[...outboxes].map(([network, outbox]): [number, Labels] => [
      Math.max(0, outbox.last() - store.cursor({ network, identity: outbox.identity })),
      { network },
    ]),
  )
