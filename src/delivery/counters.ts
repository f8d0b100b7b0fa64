import type { Metrics } from '../lib/metrics.ts'

export type Counters = ReturnType<typeof createCounters>

const LAG_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
const ATTEMPT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/**
 * `delivered`: completed. `retried`: an attempt failed and will be repeated. `dead`: waits for redelivery. `cancelled`: the alert was
 * retracted or changed its state, or its rule was deleted.
 */
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
      'Duration of an attempt to deliver, whatever its outcome.',
      ATTEMPT_BOUNDS_S,
    ),
  }
}
