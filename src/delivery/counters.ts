import type { Metrics } from '../lib/metrics.ts'

const LAG_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000]

export const createCounters = (metrics: Metrics) => ({
  delivered: metrics.counter('chainsieve_deliveries_delivered_total', 'Deliveries that were made.'),
  retried: metrics.counter('chainsieve_deliveries_retried_total', 'Attempts that failed and are made again.'),
  dead: metrics.counter('chainsieve_deliveries_dead_total', 'Deliveries that were given up and wait for redelivery.'),
  cancelled: metrics.counter(
    'chainsieve_deliveries_cancelled_total',
    'Deliveries that were no longer wanted: the alert was retracted, or came to another state, or its rule was deleted.',
  ),
  lag: metrics.histogram(
    'chainsieve_delivery_lag_milliseconds',
    'Time from when a block was received to when its alert was delivered.',
    LAG_BOUNDS_MS,
  ),
})
