import type { Worker } from 'node:worker_threads'
import type { StoredAlert } from '../alerts/alert.ts'
import { fromTransferredError, stop, systemFault } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createRestarts, type RestartStatus } from '../lib/restarts.ts'
import { nativeBinding, startWorker } from '../lib/runtime.ts'
import type { Secret } from '../lib/secret.ts'
import { isMemorySmall } from '../lib/system-limits.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import { openDeliveries } from './ledger/store.ts'
import { type LinkSettings, WITHOUT_LINKS } from './links.ts'
import type { DeliveryData, FailingReceiver, FromDelivery, Questions, ToDelivery } from './thread-messages.ts'

/** The thread that delivers, as the main thread sees it. */
export type DeliveryThread = ReturnType<typeof startDelivery>

interface DeliveryStatus {
  state: 'delivering' | 'restarting' | 'stuck'
  error: string | null
  restarts?: RestartStatus
  /** Failing receivers, longest first. */
  failing: FailingReceiver[]
}

export interface DeliveryOptions {
  data: string
  /** Current store file of each network. */
  stores(): ReadonlyMap<string, string>
  settings: Omit<DeliveryData['settings'], 'smtp' | 'digestMs' | 'keepMs' | 'links' | 'limits'> & {
    smtp: Secret | undefined
    /** Time in ms during which emails of a rule are collected; 0 disables digests. */
    mailDigest: number
    /** Retention of settled deliveries; default 30 days. */
    keepMs?: number | undefined
    links?: LinkSettings
    limits?: Limits
  }
  log: Log
}

/** Keeps the young generation from growing by 200 MB. */
const YOUNG_MB = isMemorySmall() ? 4 : 24
/** Longer than the thread waits for running attempts. */
const STOP_MS = 8_000
/** The thread reports every second; after this silence it counts as stuck. */
const SILENT_MS = 30_000
/** Lets the first searches after a start go first. */
const START_AFTER_MS = 250

/** Starts the thread and restarts it after a fault; all its state is in its file. */
export const startDelivery = ({ data, stores, settings, log }: DeliveryOptions) => {
  const { smtp, mailDigest: digestMs, keepMs, links = WITHOUT_LINKS, limits = DEFAULT_LIMITS, ...others } = settings
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: unknown): void }>()
  let ids = 0
  let stopping = false
  let told = ''
  let worker: Worker | undefined
  let failing: FailingReceiver[] = []
  let stuck: string | null = null
  let pulseAt = Number.POSITIVE_INFINITY

  const post = (message: ToDelivery) => {
    if (worker || !stopping) started().postMessage(message)
  }
  const started = (): Worker => {
    clearTimeout(starting)
    if (!worker) start()
    return worker!
  }

  const start = () => {
    const known = stores()
    told = storesKey(known)
    const sent = { ...others, smtp: smtp?.reveal(), digestMs, keepMs, links, limits }
    const options = { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }
    const one = startWorker('delivery', { data, stores: known, settings: sent } satisfies DeliveryData, options)
    worker = one
    pulseAt = performance.now()
    one.on('message', (message: FromDelivery) => {
      if (message.type === 'log') return log[message.level](message.message, message.fields)
      if (message.type === 'failing') {
        failing = message.receivers
        return
      }
      if (message.type === 'pulse') {
        stuck = message.stuck
        pulseAt = performance.now()
        return
      }
      const asked = waiting.get(message.id)
      waiting.delete(message.id)
      if (message.type === 'failed') asked?.reject(fromTransferredError(message.failure))
      else asked?.resolve(message.answer)
    })
    let fault: unknown
    one.on('error', error => {
      fault = error
    })
    one.on('exit', code => {
      for (const { reject } of waiting.values()) reject(ended())
      waiting.clear()
      if (!stopping) restarts.ended(fault ?? new Error(`it ended with code ${code}`))
    })
  }
  const restarts = createRestarts({ start, log, what: 'The delivery thread' })

  const tellStores = () => {
    const known = stores()
    const key = storesKey(known)
    if (key === told) return
    told = key
    post({ type: 'stores', stores: known })
  }

  type Answer<Q extends keyof Questions> = Awaited<ReturnType<Questions[Q]>>
  const ask = <Q extends keyof Questions>(about: Q, args: unknown[], signal?: AbortSignal): Promise<Answer<Q>> => {
    tellStores()
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      if (stopping || started().threadId < 0) throw ended()
      const id = ++ids
      const drop = () => {
        waiting.delete(id)
        post({ type: 'drop', id })
        reject(signal!.reason)
      }
      signal?.addEventListener('abort', drop, { once: true })
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', drop)
          settle(value)
        }
      waiting.set(id, { resolve: settled<Answer<Q>>(resolve) as (answer: unknown) => void, reject: settled(reject) })
      post({ type: 'ask', id, about, args })
    })
  }
  const asking =
    <Q extends keyof Questions>(about: Q) =>
    (...args: Parameters<Questions[Q]>) =>
      ask(about, args)

  // Reports a damaged file at the start.
  try {
    openDeliveries(data, { native: nativeBinding() }).close()
  } catch (error) {
    if (systemFault(error)?.code !== 'disk_full') throw error
    log.warn('The disk is full: nothing is delivered until there is room', { error })
  }
  const starting = setTimeout(started, START_AFTER_MS)
  return {
    /** Checks a network's outbox at once instead of within a second. */
    wake(network: string) {
      tellStores()
      post({ type: 'wake', network })
    },
    testFire: (rule: StoredRule, alert: StoredAlert, signal?: AbortSignal) => ask('test', [rule, alert], signal),
    alerts: asking('alerts'),
    counts: (rules?: readonly number[]) => ask('counts', [rules]),
    list: asking('list'),
    page: asking('page'),
    delivery: asking('delivery'),
    destinations: asking('destinations'),
    series: asking('series'),
    cancel: asking('cancel'),
    redeliver: asking('redeliver'),
    metrics: asking('metrics'),
    status(): DeliveryStatus {
      const known = restarts.status()
      const [state, error] = ((): [DeliveryStatus['state'], string | null] => {
        if (known && known.nextAt !== null) return ['restarting', known.error]
        const silentMs = performance.now() - pulseAt
        if (silentMs >= SILENT_MS) return ['stuck', `its thread has not reported for ${Math.round(silentMs / 1_000)} s`]
        return stuck === null ? ['delivering', null] : ['stuck', stuck]
      })()
      return { state, error, ...(known && { restarts: known }), failing }
    },
    /** Waits shortly for running attempts; the rest is sent after the next start. */
    async stop() {
      stopping = true
      restarts.stop()
      clearTimeout(starting)
      const running = worker
      if (!running || running.threadId < 0) return
      const exited = new Promise<void>(resolve => running.once('exit', () => resolve()))
      post({ type: 'stop' })
      const timer = setTimeout(() => void running.terminate(), STOP_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

const storesKey = (stores: ReadonlyMap<string, string>): string => JSON.stringify([...stores])
const ended = () => stop('delivery_ended', 'the delivery thread has ended')
