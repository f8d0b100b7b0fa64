import { performance } from 'node:perf_hooks'
import { mostFiles, openFiles } from '../lib/files.ts'
import type { MetricSnapshot, Metrics } from '../lib/metrics.ts'

/** What other programs tell of themselves under the same names. */
export const processMetrics = (version: string): MetricSnapshot[] => {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const one = (type: 'gauge' | 'counter', name: string, help: string, value: number | undefined): MetricSnapshot[] =>
    value === undefined ? [] : [{ type, name, help, series: [{ labels: {}, value }] }]
  return [
    {
      ...{ type: 'gauge', name: 'chainsieve_build_info', help: 'The running version: 1.' },
      series: [{ labels: { version, node: process.versions.node }, value: 1 }],
    },
    ...one('counter', 'process_cpu_seconds_total', 'Processor time of all threads.', (user + system) / 1e6),
    ...one('gauge', 'process_resident_memory_bytes', 'Memory of all threads.', rss),
    ...one('gauge', 'process_start_time_seconds', 'Start of the process, in seconds since 1970.', STARTED),
    ...one('gauge', 'process_open_fds', 'Open files and connections.', openFiles()),
    ...one('gauge', 'process_max_fds', 'Limit of open files and connections.', MOST_FILES()),
    ...one('gauge', 'nodejs_heap_size_used_bytes', 'Used heap of the main thread.', heapUsed),
    ...one('gauge', 'nodejs_heap_size_total_bytes', 'Heap of the main thread.', heapTotal),
    ...one('gauge', 'nodejs_external_memory_bytes', 'Memory of JavaScript outside of heaps.', external),
    ...one(
      'counter',
      'chainsieve_event_loop_busy_seconds_total',
      'Time that the main thread was busy.',
      performance.eventLoopUtilization().active / 1_000,
    ),
  ]
}

const STARTED = Math.round(performance.timeOrigin) / 1_000

let most: number | undefined
/** It does not change; not every system tells it in no time. */
const MOST_FILES = () => {
  most ??= mostFiles()
  return most
}

const BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const TICK_MS = 100

/** Whatever comes waits for the event loop's next turn: how long, is measured ten times a second. */
export const watchEventLoop = (metrics: Metrics): void => {
  const delay = metrics
    .histogram('chainsieve_event_loop_delay_seconds', 'Delay of a timer in the main thread.', BOUNDS_S)
    .of({})
  let due = performance.now() + TICK_MS
  const tick = () => {
    const now = performance.now()
    delay(Math.max(0, now - due) / 1_000)
    due = now + TICK_MS
    setTimeout(tick, TICK_MS).unref()
  }
  setTimeout(tick, TICK_MS).unref()
}
