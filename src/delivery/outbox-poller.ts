import { type Outbox, openOutbox } from '../alerts/outbox.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import { fileIdentity } from '../sqlite/verify-pages.ts'
import type { OutboxOrigin } from './ledger/fan-out.ts'
import type { Expansion } from './ledger/new-deliveries.ts'
import type { WorkerOptions } from './worker.ts'

export type OutboxSource = Pick<Outbox, 'identity' | 'after' | 'last' | 'version'>

type OutboxPollerOptions = Pick<WorkerOptions, 'store' | 'outboxes' | 'rules' | 'channels' | 'log'> & {
  digestMs: number
  limits: Limits
}

const ENTRIES_AT_ONCE = 500
/** Small, so that attempts go on in between. */
const BEHIND_AT_ONCE = 50
/** Entries of one account in a row. */
const ACCOUNT_SHARE = 100

/** Turns outbox entries into deliveries. */
export const createOutboxPoller = ({
  store,
  outboxes,
  rules,
  channels,
  digestMs,
  limits,
  log,
}: OutboxPollerOptions) => {
  /** Networks whose outbox may have new entries. */
  const dirty = new Set<string>()
  const versions = new Map<string, { outbox: unknown; version: number }>()
  /** Last error of each network, to log each once. */
  const troubled = new Map<string, string>()
  const begun = new WeakSet<object>()
  let served = 0

  const complain = (message: string, network: string, error: unknown) => {
    const why = messageOf(error)
    if (troubled.get(network) !== why) log.warn(message, { network, error })
    troubled.set(network, why)
  }

  const readVersion = (network: string, outbox: OutboxSource): number | undefined => {
    try {
      return outbox.version()
    } catch (error) {
      complain('Failed to read an outbox, will retry', network, error)
      return undefined
    }
  }

  const begin = (origin: OutboxOrigin, outbox: OutboxSource) => {
    // A restored store, or one that lost its last commits, reuses numbers.
    if (!begun.has(outbox) && store.rewind(origin, outbox.last()))
      log.warn('An outbox is older than its copy: continues at its end', { network: origin.network })
    begun.add(outbox)
  }

  /** Takes new entries; if there are none, some of one account's backlog. */
  const takeSome = (network: string, outbox: OutboxSource, now: number) => {
    const origin = { network, identity: outbox.identity }
    const how = { channels, digestMs, limits, now }
    begin(origin, outbox)
    const expansions: Expansion[] = []
    const entries = outbox.after(store.cursor(origin), ENTRIES_AT_ONCE)
    if (entries.length > 0) expansions.push(store.expand(origin, entries, rules, { ...how, share: ACCOUNT_SHARE }))
    if (entries.length === ENTRIES_AT_ONCE) return { expansions, more: true }
    const backlogs = store.backlogs(origin)
    const next = backlogs[served++ % Math.max(1, backlogs.length)]
    if (next) expansions.push(store.catchUp(origin, next, outbox.after(next.n, BEHIND_AT_ONCE), rules, how))
    return { expansions, more: backlogs.length > 0 }
  }

  return {
    /** Checks a network's outbox, or all, in the next turn. */
    wake(network?: string) {
      for (const name of network === undefined ? outboxes().keys() : [network]) dirty.add(name)
    },

    /** Finds stores that were written to. */
    look() {
      for (const [network, outbox] of outboxes()) {
        const known = versions.get(network)
        const version = readVersion(network, outbox)
        if (version === undefined || (known?.outbox === outbox && known.version === version)) continue
        versions.set(network, { outbox, version })
        dirty.add(network)
      }
    },

    /** Processes some of one outbox; `more`: there is more to do at once. */
    step(now: number): { expansions: readonly Expansion[]; more: boolean } {
      for (const network of dirty) {
        dirty.delete(network)
        const outbox = outboxes().get(network)
        if (!outbox) continue
        try {
          const { expansions, more } = takeSome(network, outbox, now)
          troubled.delete(network)
          if (more) dirty.add(network)
          if (expansions.length > 0) return { expansions, more: dirty.size > 0 }
        } catch (error) {
          complain('Failed to copy an outbox, will retry', network, error)
          versions.delete(network)
        }
      }
      return { expansions: [], more: false }
    },
  }
}

const CHECK_FILES_MS = 500
/** The outboxes of all networks, opened once the store exists and again after it was replaced. */
export const createOutboxes = (stores: ReadonlyMap<string, string>, native: string | undefined, log: Log) => {
  const open = new Map<string, { file: string; identity: string; outbox: Outbox }>()
  const troubled = new Map<string, string>()
  let all = new Map<string, Outbox>()
  let lookAt = 0

  const look = () => {
    for (const [network, one] of open)
      if (one.file !== stores.get(network) || one.identity !== fileIdentity(one.file)) {
        one.outbox.close()
        open.delete(network)
      }
    for (const [network, file] of stores) {
      const identity = open.has(network) ? undefined : fileIdentity(file)
      if (identity === undefined) continue
      try {
        open.set(network, { file, identity, outbox: openOutbox(file, native) })
        troubled.delete(network)
      } catch (error) {
        // Logged once, as it is retried all the time.
        const why = messageOf(error)
        if (troubled.get(network) !== why) log.warn('Failed to open an outbox, will retry', { network, error })
        troubled.set(network, why)
      }
    }
    all = new Map([...open].map(([network, { outbox }]) => [network, outbox]))
    lookAt = performance.now() + CHECK_FILES_MS
  }

  const current = (): ReadonlyMap<string, Outbox> => {
    if (performance.now() >= lookAt) look()
    return all
  }

  return {
    /** Open outboxes by network; their files are checked regularly. */
    all: current,
    get: (network: string) => current().get(network),
    set(next: ReadonlyMap<string, string>) {
      stores = next
      lookAt = 0
    },
    close() {
      for (const { outbox } of open.values()) outbox.close()
      open.clear()
      all = new Map()
    },
  }
}
