import type { Log } from '../lib/log.ts'
import type { StoredRule } from '../rules/rule.ts'
import { receiverOfAction } from './channels/index.ts'
import type { Attempt } from './ledger/outcomes.ts'
import type { Failed } from './ledger/records.ts'

/** A receiver whose last delivery failed, and since when nothing was delivered to it. */
interface FailingDelivery {
  account: number
  channel: string
  receiver: string
  target: string
  error: string
  /** ISO-8601 UTC. */
  since: string
}

/** The failing receivers of a rule, in the order of its actions; none if it is paused. */
export const failingOf = <T extends FailingDelivery>(
  { account, enabled, input }: StoredRule,
  failing: readonly T[],
): T[] => {
  if (!enabled || failing.length === 0) return []
  const found = input.config.alerts.flatMap(action => {
    const receiver = receiverOfAction(action)
    return failing.filter(it => it.account === account && it.channel === action.type && it.receiver === receiver)
  })
  return [...new Set(found)]
}

/** A sentence without its end. */
export const sayFailing = ({ channel, target, since, error }: Omit<FailingDelivery, 'account' | 'receiver'>): string =>
  `${channel} to ${target} has accepted nothing since ${since}: ${error}`

export type Receiver = Pick<Failed, 'account' | 'rule' | 'channel' | 'receiver' | 'target'>

interface LoggedFailure extends Failed {
  /** When its failure was logged last. */
  toldAt: number
}

const TELL_MS = 60_000
/** Failing receivers that are remembered, at most. */
const MAX_FAILING = 1_000
const MAX_TOLD = 200

/** Which receivers take nothing now, and why. */
export const createFailingReceivers = (log: Log) => {
  const failing = new Map<string, LoggedFailure>()
  const keyOf = ({ account, channel, receiver }: Omit<Receiver, 'rule' | 'target'>) =>
    `${account} ${channel} ${receiver}`

  return {
    /** Records the outcome of an attempt for its receiver. */
    note(receiver: Receiver, outcome: Attempt['outcome'], now: number) {
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
      // Once when it begins, then where the reason is another, which may be so after each attempt.
      const tells = known === undefined || (known.error !== outcome.why && now - known.toldAt >= TELL_MS)
      if (tells) log.warn('A receiver does not accept deliveries', { channel, target, error: outcome.why })
      const { since, toldAt } = known ?? { since: now, toldAt: now }
      const told = tells ? now : toldAt
      failing.set(key, { ...receiver, error: outcome.why, status, since, at: now, toldAt: told })
    },

    /** Goes on as after that failure. It was before this start, and is not logged again. */
    remember(known: Failed) {
      if (failing.size >= MAX_FAILING) return
      failing.set(keyOf(known), { ...known, toldAt: 0 })
    },

    /** Since when nothing was delivered to it; undefined where the last delivery was a success. */
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
