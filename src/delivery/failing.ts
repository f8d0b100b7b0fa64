import type { Action, StoredRule } from '../rules/rule.ts'
import { plain } from './text.ts'
import { destinationOf } from './webhook.ts'

/** What tells receivers of a channel apart, and is the same in all rules that notify one: behind a host are many. */
export const receiverOf = ({ parameters }: Action): string =>
  'recipients' in parameters ? parameters.recipients.map(plain).join(', ') : destinationOf(parameters.url)

/** A receiver whose last delivery failed, and since when nothing was delivered to it. */
interface Failing {
  account: number
  channel: string
  receiver: string
  target: string
  error: string
  /** ISO-8601 UTC. */
  since: string
}

/** Those that a rule notifies, in the order of its alerts; none where it is paused. */
export const failingOf = <T extends Failing>({ account, enabled, input }: StoredRule, failing: readonly T[]): T[] => {
  if (!enabled || failing.length === 0) return []
  const found = input.config.alerts.flatMap(action => {
    const receiver = receiverOf(action)
    return failing.filter(it => it.account === account && it.channel === action.type && it.receiver === receiver)
  })
  return [...new Set(found)]
}

/** A sentence without its end. */
export const sayFailing = ({ channel, target, since, error }: Omit<Failing, 'account' | 'receiver'>): string =>
  `${channel} to ${target} has accepted nothing since ${since}: ${error}`
