import type { AlertPruning } from '../alerts/prune.ts'
import type { Writer } from '../engine/writer.ts'
import { type OpenRequest, openPruneRequest } from './prune-requests.ts'

/** Does what prune requests ask for, a few milliseconds at a time. */
export interface Pruner {
  /** One step; returns whether there may be more to do. */
  step(): boolean
}

export interface PrunerOptions {
  store: string
  writer: Pick<Writer, 'prune' | 'also'>
  alerts: AlertPruning
}

/** Time between two looks at whether something is asked for. */
export const LOOK_MS = 1_000

export const createPruner = ({ store, writer, alerts }: PrunerOptions): Pruner => {
  let open: OpenRequest | undefined
  let steps: Iterator<void> | undefined
  let lookAt = 0

  function* work({ request, end }: OpenRequest): Generator<void, void> {
    while (writer.prune(request)) yield
    if (request.alerts) {
      const { alerts: limits } = request
      for (let more = true, page = alerts.begin(limits); more; ) {
        writer.also(() => {
          more = page()
        })
        yield
      }
    }
    end()
  }

  return {
    step() {
      if (!steps) {
        if (performance.now() < lookAt) return false
        lookAt = performance.now() + LOOK_MS
        open = openPruneRequest(store)
        if (!open) return false
        steps = work(open)
      }
      try {
        if (steps.next().done) steps = undefined
      } catch (error) {
        // The next look starts it again.
        steps = undefined
        throw error
      }
      return true
    },
  }
}
