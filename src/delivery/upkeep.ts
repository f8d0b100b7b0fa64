import type { DeliveryStore } from './store.ts'
import type { RuleOf } from './teller.ts'

export interface UpkeepOptions {
  store: DeliveryStore
  rules: RuleOf
  /** Changes whenever a rule may have changed. */
  rulesVersion(): number
  /** How long what was delivered or cancelled is kept. */
  keepMs: number
  /** A channel's delivery was cancelled. */
  onCancelled(channel: string): void
}

/** Gives up what is queued for rules that are gone, and forgets what nobody needs any more. */
export interface Upkeep {
  /** Cancels some of what is queued for rules that are gone; returns whether there is more. */
  cancel(now: number): boolean
  /** Something may be queued for rules that were not looked at. */
  doubt(): void
  prune(now: number): void
}

const DAY_MS = 24 * 3_600_000
/** Dead ones wait for redelivery: they are kept for so long at least. */
const KEEP_DEAD_MS = 90 * DAY_MS
/** Of a rule that is gone: for as long as a block may still be reorganised away. */
const KEEP_GONE_MS = DAY_MS
const PRUNE_EVERY_MS = 3_600_000
const AT_ONCE = 500
const CANCEL_AT_ONCE = 2_000
/** Looking takes a tenth of the time at most, however often rules change. */
const LOOK_SHARE = 10

const GONE = 'its rule was deleted'

export const createUpkeep = ({ store, rules, rulesVersion, keepMs, onCancelled }: UpkeepOptions): Upkeep => {
  let known: number | undefined
  let lookAt = 0
  let gone: number[] = []
  let pruneAt = 0
  /** Rules up to this one were looked at. */
  let rule = Number.MIN_SAFE_INTEGER

  const look = () => {
    const begun = performance.now()
    const version = rulesVersion()
    if (version === known || begun < lookAt) return
    known = version
    gone = store.rules().filter(id => rules(id) === undefined)
    lookAt = performance.now() + LOOK_SHARE * (performance.now() - begun)
  }

  /** Returns whether all rules were looked at. */
  const pruneGone = (now: number): boolean => {
    for (let looked = 0; looked < AT_ONCE; looked++) {
      const next = store.nextRule(rule)
      if (next === undefined) {
        rule = Number.MIN_SAFE_INTEGER
        return true
      }
      if (rules(next) === undefined && store.pruneRule(next, now - KEEP_GONE_MS, AT_ONCE) === AT_ONCE) return false
      rule = next
    }
    return false
  }

  return {
    cancel(now) {
      look()
      const next = gone.at(-1)
      if (next === undefined) return false
      const cancelled = store.cancelRule(next, now, GONE, CANCEL_AT_ONCE)
      for (const channel of cancelled) onCancelled(channel)
      if (cancelled.length < CANCEL_AT_ONCE) gone.pop()
      return gone.length > 0
    },

    doubt() {
      known = undefined
    },

    prune(now) {
      if (now < pruneAt) return
      const before = { settledBefore: now - keepMs, deadBefore: now - Math.max(keepMs, KEEP_DEAD_MS) }
      const isDone = store.prune(before, AT_ONCE) < AT_ONCE
      if (pruneGone(now) && isDone) pruneAt = now + PRUNE_EVERY_MS
    },
  }
}
