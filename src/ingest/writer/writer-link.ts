import type { MessagePort } from 'node:worker_threads'
import type { AlertCounts } from '../../alerts/alert-store.ts'
import { fromTransferredError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { MetricSnapshot } from '../../metrics/index.ts'
import type { FromWriter, Revised, ToWriter, WaitReason, WriterRequest } from '../messages.ts'
import type { ShippingReport } from '../remote.ts'

export type WriterLink = ReturnType<typeof createWriterLink>

export interface WriterLinkOptions {
  port: MessagePort
  log: Log
  onFailure(error: Error): void
}

export const createWriterLink = ({ port, log, onFailure }: WriterLinkOptions) => {
  const waiting = new Map<number, { resolve(revised: Revised): void; reject(error: Error): void }>()
  const open = new Set<Promise<unknown>>()
  let alerts: AlertCounts = {}
  let notes: ReadonlyMap<number, string> = new Map()
  let stuck: Omit<WaitReason, 'since'> | undefined
  let metrics: readonly MetricSnapshot[] = []
  let shipping: ShippingReport | undefined
  let failed: Error | undefined
  let ids = 0

  port.on('message', (message: FromWriter) => {
    if (message.type === 'stuck') {
      const { why, code } = message
      stuck = why === null ? undefined : { kind: STUCK.get(code) ?? 'store', for: why }
      if (why === null) log.info('Writes again')
      else log.warn('Cannot write now, will retry', { why })
      return
    }
    if (message.type === 'shipping') {
      const before = shipping?.trouble ?? null
      shipping = message.shipping ?? undefined
      const trouble = shipping?.trouble ?? null
      if (trouble !== null && before === null)
        log.warn('Cannot ship documents to the cluster now, will retry', { why: trouble })
      if (trouble === null && before !== null) log.info('Ships documents to the cluster again')
      return
    }
    if (message.type === 'log') return log[message.level](message.message, message.fields)
    if (message.type === 'metrics') {
      metrics = message.metrics
      return
    }
    const waiter = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.type === 'done') {
      alerts = message.alerts
      notes = message.notes
      waiter?.resolve(message)
    } else {
      failed ??= fromTransferredError(message.failure)
      waiter?.reject(failed)
      onFailure(failed)
    }
  })

  /** The same, but it counts for neither of those who ask whether all is committed. */
  const post = (message: WriterRequest, transfer: ArrayBuffer[] = []): Promise<Revised> => {
    if (failed) return Promise.reject(failed)
    const id = ++ids
    const done = new Promise<Revised>((resolve, reject) => waiting.set(id, { resolve, reject }))
    port.postMessage({ ...message, id } satisfies ToWriter, transfer)
    return done
  }
  const send = (message: WriterRequest, transfer?: ArrayBuffer[]) => {
    const done = post(message, transfer)
    open.add(done)
    done.then(
      () => open.delete(done),
      () => open.delete(done),
    )
    return done
  }

  return {
    ...{ send, post },
    close: () => port.postMessage({ type: 'close' } satisfies ToWriter),
    async settled() {
      await Promise.all(open)
      if (failed) throw failed
    },
    isSettled: () => open.size === 0,
    alerts: () => alerts,
    /** What the writer has to say of rules. */
    notes: () => notes,
    stuck: () => stuck,
    metrics: () => metrics,
    shipping: () => shipping,
  }
}

const STUCK: ReadonlyMap<string | undefined, WaitReason['kind']> = new Map([
  ['disk_full', 'disk'],
  ['journal_full', 'cluster'],
])
