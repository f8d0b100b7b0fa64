import { type Outbox, openOutbox } from '../alerts/outbox.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { fileIdentity } from '../sqlite/raw-file.ts'

const CHECK_FILES_MS = 500

/** The outboxes of all networks, each opened when its store exists, and again after the store was replaced. */
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
        // Told once: it is tried again all the time.
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
    /** The open outboxes, by network. Checks their files now and then. */
    all: current,
    get: (network: string) => current().get(network),
    /** Sets the stores, as files by network. */
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
