import type { Metrics } from '../lib/metrics.ts'

const LAG_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000]

export const createCounters = (metrics: Metrics) => ({
  delivered: metrics.counter('chainsieve_deliveries_delivered_total', 'Completed deliveries.'),
  retried: metrics.counter('chainsieve_deliveries_retried_total', 'Failed attempts that will be repeated.'),
  dead: metrics.counter('chainsieve_deliveries_dead_total', 'Dead deliveries, which wait for redelivery.'),
  cancelled: metrics.counter(
    'chainsieve_deliveries_cancelled_total',
    'Cancelled deliveries: the alert was retracted or changed its state, or its rule was deleted.',
  ),
  lag: metrics.histogram(
    'chainsieve_delivery_lag_milliseconds',
    'Time from receiving a block to delivering its alert.',
    LAG_BOUNDS_MS,
  ),
})
