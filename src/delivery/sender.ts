import type { StoredAlert } from '../alerts/alert.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/retry.ts'
import type { Action, StoredRule } from '../rules/rule.ts'
import type { Message } from './channel.ts'
import { readSource } from './payload.ts'
import { type Attempt, errorOf, type Job } from './queue.ts'
import type { DeliveryStore } from './store.ts'
import { type ChannelOf, headOf, saidBy } from './teller.ts'

export interface SenderOptions {
  store: DeliveryStore
  channels: ChannelOf
  /** Signing secrets of an account, the newest first. */
  secrets(account: number): readonly string[]
  /** Ends attempts when the program stops. */
  signal: AbortSignal
  clock: Clock
  log: Log
}

export interface Sender {
  attempt(job: Pick<Job, 'account' | 'action' | 'messages'>, signal?: AbortSignal): Promise<Attempt['outcome']>
  /** Sends once to every action of a rule, as `alert.test`. */
  test(rule: StoredRule, alert: StoredAlert, signal: AbortSignal): Promise<TestResult[]>
}

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

/** Makes attempts. */
export const createSender = ({ store, channels, secrets, signal: ends, clock, log }: SenderOptions): Sender => {
  const attempt: Sender['attempt'] = async ({ account, action, messages }, signal = ends) => {
    try {
      const context = { account, secrets: secrets(account), signal, now: clock.now() }
      return await channels.of(action).send(action, messages, context)
    } catch (error) {
      if (signal.aborted) return { type: 'aborted' }
      log.error('An attempt failed because of a fault in Chainsieve', { channel: action.type, error })
      return { type: 'retry', why: 'a fault in Chainsieve: see the log', status: null, head: '' }
    }
  }

  const testOne = async (rule: StoredRule, alert: StoredAlert, place: number, signal: AbortSignal) => {
    const action = rule.input.config.alerts[place]!
    const now = clock.now()
    const id = store.addTest(rule, alert, place, { channels, digestMs: 0, now })
    const message: Message = {
      id: alert.id,
      type: 'alert.test',
      network: rule.network,
      timestamp: now,
      rule: saidBy(rule),
      ...headOf(alert),
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
      status: 'status' in outcome ? outcome.status : null,
      error: errorOf(outcome),
      latencyMs,
    }
  }

  return {
    attempt,

    test(rule, alert, signal) {
      const both = AbortSignal.any([signal, ends])
      return Promise.all(rule.input.config.alerts.map((_, place) => testOne(rule, alert, place, both)))
    },
  }
}
