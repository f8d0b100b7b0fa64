import { parentPort } from 'node:worker_threads'
import { readStats, type Stats } from '../../engine/stats.ts'
import type { StorageAnswer } from '../../http/shapes/management.ts'
import { messageOf } from '../../lib/errors.ts'
import { gapsIn } from '../../lib/ranges.ts'
import { nativeBinding, startWorker } from '../../lib/runtime.ts'

/** To measure reads every page of a store: no more often than this. */
const MEASURE_MAX_AGE_MS = 10 * 60_000
/** A small store is measured while the caller waits. */
const MEASURE_WAIT_MS = 1_500

/** Measures the storage of a network in a separate thread, one store at a time. */
export const createStorage = (storeOf: (network: string) => string, measure: Measure = measureInThread) => {
  const known = new Map<string, StorageAnswer>()
  const under = new Map<string, Promise<void>>()
  let last: Promise<unknown> = Promise.resolve()

  const begin = (network: string, before: StorageAnswer | undefined): Promise<void> => {
    const nothing = { network, measuredAt: null, tookMs: null, error: null, storage: null }
    known.set(network, { ...(before ?? nothing), state: 'measuring' })
    const run = async () => {
      const started = performance.now()
      try {
        const { ranges, ...stats } = await measure(storeOf(network))
        known.set(network, {
          ...{ network, state: 'measured', measuredAt: new Date().toISOString() },
          ...{ tookMs: Math.round(performance.now() - started), error: null },
          storage: { ...stats, ranges, gaps: gapsIn(ranges, ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? -1) },
        })
      } catch (error) {
        known.set(network, { ...(before ?? nothing), state: 'failed', error: messageOf(error) })
      } finally {
        under.delete(network)
      }
    }
    const done = last.then(run)
    last = done
    under.set(network, done)
    return done
  }

  return async (network: string): Promise<StorageAnswer> => {
    // Refused where nothing is stored yet.
    storeOf(network)
    const before = known.get(network)
    const isFresh = before?.measuredAt != null && Date.now() - Date.parse(before.measuredAt) < MEASURE_MAX_AGE_MS
    if (isFresh && before.state === 'measured') return before
    const done = under.get(network) ?? begin(network, before)
    const patience = new Promise<void>(resolve => setTimeout(resolve, MEASURE_WAIT_MS).unref())
    await Promise.race([done, patience])
    return known.get(network)!
  }
}

export type Measure = (store: string) => Promise<Stats>

type MeasureMessage = { stats: Stats } | { error: string }

const measureInThread: Measure = store =>
  new Promise((resolve, reject) => {
    const worker = startWorker('storage', { store })
    worker.once('message', (message: MeasureMessage) =>
      'stats' in message ? resolve(message.stats) : reject(new Error(message.error)),
    )
    worker.once('error', reject)
    worker.once('exit', code => reject(new Error(`the thread that measures ended with code ${code}`)))
    // The result is useless to a program that ends.
    worker.unref()
  })

export const runStorage = ({ store }: { store: string }) => {
  const post = (message: MeasureMessage) => parentPort!.postMessage(message)
  try {
    post({ stats: readStats(store, nativeBinding()) })
  } catch (error) {
    post({ error: messageOf(error) })
  }
}
