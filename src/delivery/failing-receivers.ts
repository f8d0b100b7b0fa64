import type { Log } from '../lib/log.ts'
import { actionsOf, type StoredRule } from '../rules/rule.ts'
import { receiverOfAction } from './channels/index.ts'
import type { DeliveryAttempt } from './ledger/outcomes.ts'
import type { Failed } from './ledger/records.ts'

interface FailingDelivery {
  account: number
  channel: string
  receiver: string
  target: string
  error: string
  /** ISO-8601 UTC. */
  since: string
}

/** Failing receivers of a rule in the order of its actions; none if it is paused. */
export const failingOf = <T extends FailingDelivery>(
  { account, enabled, input }: StoredRule,
  failing: readonly T[],
): T[] => {
  if (!enabled || failing.length === 0) return []
  const found = actionsOf(input).flatMap(action => {
    const receiver = receiverOfAction(action)
    return failing.filter(it => it.account === account && it.channel === action.type && it.receiver === receiver)
  })
  return [...new Set(found)]
}

/** A sentence without its full stop. */
export const sayFailing = ({ channel, target, since, error }: Omit<FailingDelivery, 'account' | 'receiver'>): string =>
  `${channel} to ${target} has accepted nothing since ${since}: ${error}`

export type Receiver = Pick<Failed, 'account' | 'rule' | 'channel' | 'receiver' | 'target'>

interface LoggedFailure extends Failed {
  toldAt: number
}

const TELL_MS = 60_000
const MAX_FAILING = 1_000
const MAX_TOLD = 200

/** Tracks receivers whose last delivery failed, and logs changes. */
export const createFailingReceivers = (log: Log) => {
  const failing = new Map<string, LoggedFailure>()
  const keyOf = ({ account, channel, receiver }: Omit<Receiver, 'rule' | 'target'>) =>
    `${account} ${channel} ${receiver}`

  return {
    note(receiver: Receiver, outcome: DeliveryAttempt['outcome'], now: number) {
      if (outcome.type === 'aborted') return
      const { channel, target } = receiver
      const key = keyOf(receiver)
      const known = failing.get(key)
      if (outcome.type === 'delivered') {
        if (!failing.delete(key)) return
        const seconds = Math.round((now - known!.since) / 1000)
        return log.info('A receiver accepts deliveries again', { channel, target, seconds })
      }
      const status = 'status' in outcome ? outcome.status : null
      if (known === undefined && failing.size >= MAX_FAILING) return
      // Logged when it begins and, rate-limited, when the reason changes.
      const tells = known === undefined || (known.error !== outcome.why && now - known.toldAt >= TELL_MS)
      if (tells) log.warn('A receiver does not accept deliveries', { channel, target, error: outcome.why })
      const { since, toldAt } = known ?? { since: now, toldAt: now }
      const told = tells ? now : toldAt
      failing.set(key, { ...receiver, error: outcome.why, status, since, at: now, toldAt: told })
    },

    /** Restores a failure from before this start, without logging it again. */
    remember(known: Failed) {
      if (failing.size >= MAX_FAILING) return
      failing.set(keyOf(known), { ...known, toldAt: 0 })
    },

    /** Undefined if the last delivery succeeded. */
    since: (receiver: Omit<Receiver, 'rule' | 'target'>): number | undefined => failing.get(keyOf(receiver))?.since,

    /** Failing receivers that a rule still notifies, the longest failing first. */
    list(notifies: (rule: number, receiver: Receiver) => boolean): Failed[] {
      for (const [key, known] of failing) if (!notifies(known.rule, known)) failing.delete(key)
      return [...failing.values()]
        .sort((a, b) => a.since - b.since)
        .slice(0, MAX_TOLD)
        .map(({ toldAt: _, ...known }) => known)
    },
  }
}
