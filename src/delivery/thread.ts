import { parentPort } from 'node:worker_threads'
import { toTransferredError } from '../lib/errors.ts'
import { ageClock } from '../lib/files.ts'
import { createThreadLog } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import { nativeBinding, nativeOption } from '../lib/runtime.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import { secret } from '../lib/secret.ts'
import { createMetrics } from '../metrics/index.ts'
import { type Action, actionsOf } from '../rules/rule.ts'
import { createRuleCache } from '../rules/rule-cache.ts'
import { openRules } from '../rules/store.ts'
import { openSecrets } from '../rules/webhook-secrets.ts'
import { createChannels, receiverOfAction } from './channels/index.ts'
import { createFailingReceivers, type Receiver } from './failing-receivers.ts'
import { isPaused } from './ledger/new-deliveries.ts'
import { openDeliveries } from './ledger/store.ts'
import { createLinks } from './links.ts'
import { createWaitingMetrics } from './metrics.ts'
import { createOutboxes } from './outbox-poller.ts'
import { countAlerts } from './series.ts'
import { createSilenceFinder } from './silences.ts'
import type { DeliveryData, FromDelivery, Questions, ToDelivery } from './thread-messages.ts'
import { createWorker } from './worker.ts'

const REPORT_MS = 1_000

/** The delivery thread: the only sender, which also answers requests about the ledger. */
export const runDelivery = ({ data, stores, settings }: DeliveryData) => {
  const tell = (message: FromDelivery) => parentPort!.postMessage(message)
  const log = createThreadLog(tell)
  const native = nativeBinding()
  const store = openDeliveries(data, { ...nativeOption(), limits: settings.limits })
  const rules = openRules(data, { ...nativeOption(), limits: settings.limits })
  const ruleOf = createRuleCache(rules)
  const secrets = openSecrets(data, nativeOption())
  const outboxes = createOutboxes(stores, native, log)
  const metrics = createMetrics()
  const { smtp, mailFrom, retries, digestMs, keepMs, timeoutMs, allowTarget, links, limits } = settings
  const channels = createChannels({
    allowed: allowTarget,
    smtp: smtp === undefined ? undefined : secret(smtp),
    mailFrom,
    timeoutMs,
    links: createLinks(links),
    log,
  })
  const failingReceivers = createFailingReceivers(log)
  for (const known of store.failing()) failingReceivers.remember(known)
  const worker = createWorker({
    store,
    outboxes: outboxes.all,
    rules: ruleOf,
    rulesVersion: rules.version,
    silences: createSilenceFinder({ silences: rules.silences, version: rules.version, rules: ruleOf }),
    ageClock: now => ageClock(data, now),
    channels,
    // An account may get its secret later to verify earlier deliveries.
    secrets(account) {
      const current = secrets.current(account)
      return current.length > 0 ? current : [secrets.ensure(account)]
    },
    clock: systemClock,
    log,
    metrics,
    onOutcome({ account, action, messages }, outcome, now) {
      failingReceivers.note(notified(account, messages[0]!.rule.id, action), outcome, now)
    },
    failingSince: ({ account, action }) =>
      failingReceivers.since({ account, channel: action.type, receiver: receiverOfAction(action) }),
    limits,
    options: {
      digestMs,
      ...(retries.length > 0 && { schedule: [0, ...retries] }),
      ...(keepMs !== undefined && { keepMs }),
    },
  })
  const notified = (account: number, rule: number, action: Action): Receiver => ({
    ...{ account, rule, channel: action.type },
    ...{ receiver: receiverOfAction(action), target: channels.of(action).shown(action) },
  })
  const notifies = (id: number, { channel, receiver }: Receiver): boolean => {
    const rule = ruleOf(id)
    if (!rule || isPaused(rule)) return false
    return actionsOf(rule.input).some(action => action.type === channel && receiverOfAction(action) === receiver)
  }
  const waiting = createWaitingMetrics(store, outboxes.all)
  const answers: Questions = {
    async test(rule, alert, signal) {
      const results = await worker.testFire(rule, alert, signal)
      // A successful test clears a failure; a failed one is only returned.
      for (const { action, delivered } of results)
        if (delivered)
          failingReceivers.note(
            notified(rule.account, rule.id, actionsOf(rule.input)[action]!),
            { type: 'delivered', status: null, head: '' },
            Date.now(),
          )
      return results
    },

    alerts(network, rule, page) {
      const found = outboxes.get(network)?.alerts(rule, page) ?? []
      const ids = found.map(({ alert }) => alert.id)
      const deliveries = Map.groupBy(store.deliveriesOf(rule, ids), ({ alert }) => alert)
      return found.map(({ n, alert }) => ({ n, alert, deliveries: deliveries.get(alert.id) ?? [] }))
    },

    redeliver(filter) {
      const queued = store.redeliver(filter)
      worker.reload()
      return queued
    },

    counts: store.counts,
    list: store.list,
    page: store.page,
    delivery: store.delivery,
    destinations: store.destinations,
    series: wanted => countAlerts(outboxes.get, wanted),
    cancel: worker.cancel,
    metrics: () => [...metrics.snapshot(), ...waiting()],
  }
  /** Controllers of open requests by id. */
  const asked = new Map<number, AbortController>()
  const answer = async ({ id, about, args }: Extract<ToDelivery, { type: 'ask' }>) => {
    const controller = new AbortController()
    asked.set(id, controller)
    try {
      const found = (answers[about] as (...args: unknown[]) => unknown)(...args, controller.signal)
      tell({ type: 'answer', id, answer: await found })
    } catch (error) {
      tell({ type: 'failed', id, failure: toTransferredError(error) })
    } finally {
      asked.delete(id)
    }
  }

  let told = ''
  const tellFailing = () => {
    tell({ type: 'pulse', stuck: worker.stuck() })
    const failing = failingReceivers.list(notifies)
    const text = JSON.stringify(failing)
    if (text === told) return
    store.setFailing(failing)
    told = text
    const receivers = failing.map(({ since, at, ...one }) => ({ ...one, since: isoTime(since), at: isoTime(at) }))
    tell({ type: 'failing', receivers })
  }
  const telling = repeatEvery(REPORT_MS, tellFailing, { log, doing: 'report which receivers fail' })

  const stop = async () => {
    telling()
    await worker.stop()
    await channels.close()
    outboxes.close()
    secrets.close()
    rules.close()
    store.close()
    parentPort!.close()
  }

  parentPort!.on('message', (message: ToDelivery) => {
    switch (message.type) {
      case 'stores':
        return outboxes.set(message.stores)
      case 'wake':
        return worker.wake(message.network)
      case 'drop':
        return asked.get(message.id)?.abort(new Error('no one waits for it any more'))
      case 'stop':
        return void stop()
      case 'ask':
        return void answer(message)
    }
  })
  tellFailing()
}

const isoTime = (time: number) => new Date(time).toISOString()
