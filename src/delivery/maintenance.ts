import type { Log } from '../lib/log.ts'
import { DAY_MS } from '../lib/time.ts'
import { isPaused, PAUSED } from './ledger/new-deliveries.ts'
import type { WorkerOptions } from './worker.ts'

type MaintenanceOptions = Pick<WorkerOptions, 'store' | 'rules' | 'ageClock'> & {
  rulesVersion(): number
  /** Retention of settled deliveries. */
  keepMs: number
  log?: Log
  onCancelled(channel: string): void
}

/** Dead deliveries may be redelivered, so they are kept longer. */
const KEEP_DEAD_MS = 90 * DAY_MS
/** Deliveries of a deleted rule are kept while its blocks may be reorganised. */
const KEEP_GONE_MS = DAY_MS
const PRUNE_EVERY_MS = 3_600_000
const MIN_PRUNE_EVERY_MS = 30_000
const PRUNE_AT_ONCE = 500
const CANCEL_BATCH = 2_000
/** Checking rules takes at most a tenth of the time. */
const LOOK_SHARE = 10

export type Ended = 'deleted' | 'paused'

export const ENDED: Readonly<Record<Ended, string>> = {
  deleted: 'its rule was deleted',
  paused: PAUSED,
}

/** Cancels deliveries of deleted or paused rules, and prunes old ones (retention). */
export const createMaintenance = ({
  store,
  rules,
  rulesVersion,
  keepMs,
  ageClock = now => now,
  log,
  onCancelled,
}: MaintenanceOptions) => {
  // A short retention needs frequent pruning.
  const pruneEveryMs = Math.min(PRUNE_EVERY_MS, Math.max(MIN_PRUNE_EVERY_MS, keepMs / 4))
  let known: number | undefined
  let lookAt = 0
  let ended: { id: number; why: Ended }[] = []
  let pruneAt = 0
  let removed = 0
  /** Rules up to this id were checked. */
  let rule = Number.MIN_SAFE_INTEGER

  const endOf = (id: number): Ended | undefined => {
    const rule = rules(id)
    if (rule === undefined) return 'deleted'
    return isPaused(rule) ? 'paused' : undefined
  }

  const cancelSome = (id: number, why: Ended, now: number): boolean => {
    const cancelled = store.cancelRule(id, now, ENDED[why], CANCEL_BATCH)
    for (const channel of cancelled) onCancelled(channel)
    if (cancelled.length === CANCEL_BATCH) return false
    if (why === 'paused') store.endPause(id, true)
    return true
  }

  const look = () => {
    const begun = performance.now()
    const version = rulesVersion()
    if (version === known || begun < lookAt) return
    known = version
    const done = new Set(store.pausesDone())
    for (const id of done) if (endOf(id) !== 'paused') store.endPause(id, false)
    ended = store.rules().flatMap(id => {
      const why = endOf(id)
      return why === undefined || (why === 'paused' && done.has(id)) ? [] : [{ id, why }]
    })
    lookAt = performance.now() + LOOK_SHARE * (performance.now() - begun)
  }

  const pruneGone = (now: number): boolean => {
    for (let looked = 0; looked < PRUNE_AT_ONCE; looked++) {
      const next = store.nextRule(rule)
      if (next === undefined) {
        rule = Number.MIN_SAFE_INTEGER
        return true
      }
      if (rules(next) === undefined) {
        const gone = store.pruneRule(next, now - KEEP_GONE_MS, PRUNE_AT_ONCE)
        removed += gone
        if (gone === PRUNE_AT_ONCE) return false
      }
      rule = next
    }
    return false
  }

  return {
    /** Cancels some deliveries of deleted or paused rules; returns whether there are more. */
    cancel(now: number): boolean {
      look()
      const next = ended.at(-1)
      if (next === undefined) return false
      if (cancelSome(next.id, next.why, now)) ended.pop()
      return ended.length > 0
    },

    /** Cancels all deliveries of a deleted or paused rule; returns how many were since then. */
    async cancelAll(rule: number, why: Ended, since: number, now: () => number): Promise<number> {
      while (!cancelSome(rule, why, now())) await new Promise(setImmediate)
      return store.cancelledSince(rule, ENDED[why], since)
    },

    /** Makes the next call check all rules. */
    doubt() {
      known = undefined
    },

    prune(clock: number, elapsed: number) {
      if (elapsed < pruneAt) return
      const now = ageClock(clock)
      const before = { settledBefore: now - keepMs, deadBefore: now - Math.max(keepMs, KEEP_DEAD_MS) }
      const old = store.prune(before, PRUNE_AT_ONCE)
      removed += old
      if (!pruneGone(now) || old === PRUNE_AT_ONCE) return
      if (removed > 0) {
        const settledBefore = new Date(before.settledBefore).toISOString()
        log?.info('Removed deliveries from the ledger that are no longer kept', { deliveries: removed, settledBefore })
      }
      removed = 0
      if (!store.shrink()) pruneAt = elapsed + pruneEveryMs
    },
  }
}
