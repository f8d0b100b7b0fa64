import type { StoredAlert } from '../alerts/alert.ts'
import { readSource } from '../rules/notify/values.ts'
import { type Action, actionsOf, type StoredRule } from '../rules/rule.ts'
import type { AlertMessage } from './channels/channel.ts'
import { messageHead, saidBy } from './ledger/messages.ts'
import { type DeliveryAttempt, outcomeError, outcomeStatus } from './ledger/outcomes.ts'
import type { Job } from './ledger/queue.ts'
import type { WorkerOptions } from './worker.ts'

type SenderOptions = Pick<WorkerOptions, 'store' | 'channels' | 'secrets' | 'clock' | 'log'> & {
  signal: AbortSignal
}

export type Sender = ReturnType<typeof createSender>

export interface TestResult {
  /** Place in the rule's list of alerts. */
  action: number
  type: Action['type']
  /** Without its secrets. */
  target: string
  delivered: boolean
  status: number | null
  error: string | null
  latencyMs: number
}

export const createSender = ({ store, channels, secrets, signal: ends, clock, log }: SenderOptions) => {
  const attempt = async (
    { account, action, messages, group }: Pick<Job, 'account' | 'action' | 'messages' | 'group'>,
    signal = ends,
  ): Promise<DeliveryAttempt['outcome']> => {
    try {
      const context = { account, secrets: secrets(account), signal, now: clock.now(), group }
      return await channels.of(action).send(action, messages, context)
    } catch (error) {
      if (signal.aborted) return { type: 'aborted' }
      log.error('An attempt failed because of a fault in Chainsieve', { channel: action.type, error })
      return { type: 'retry', why: 'a fault in Chainsieve: see the log', status: null, head: '' }
    }
  }

  const testOne = async (
    rule: StoredRule,
    alert: StoredAlert,
    place: number,
    signal: AbortSignal,
  ): Promise<TestResult> => {
    const action = actionsOf(rule.input)[place]!
    const now = clock.now()
    const id = store.addTest(rule, alert, place, { channels, digestMs: 0, now })
    const message: AlertMessage = {
      id: alert.id,
      type: 'alert.test',
      network: rule.network,
      timestamp: now,
      rule: saidBy(rule),
      ...messageHead(alert),
      source: readSource(alert.source),
    }
    const begun = performance.now()
    const outcome = await attempt({ account: rule.account, action, messages: [message] }, signal)
    const latencyMs = Math.round(performance.now() - begun)
    store.settleTest(id, { ids: [id], at: now, latencyMs, outcome })
    return {
      action: place,
      type: action.type,
      target: channels.of(action).shown(action),
      delivered: outcome.type === 'delivered',
      status: outcomeStatus(outcome),
      error: outcomeError(outcome),
      latencyMs,
    }
  }

  return {
    attempt,

    /** Sends `alert.test` to every action of a rule. */
    test(rule: StoredRule, alert: StoredAlert, signal: AbortSignal): Promise<TestResult[]> {
      const both = AbortSignal.any([signal, ends])
      return Promise.all(actionsOf(rule.input).map((_, place) => testOne(rule, alert, place, both)))
    },
  }
}
