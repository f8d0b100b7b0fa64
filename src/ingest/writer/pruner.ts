import type { AlertPruning } from '../../alerts/marks.ts'
import type { Writer } from '../../engine/writer.ts'
import type { Log } from '../../lib/log.ts'
import type { Range } from '../../lib/ranges.ts'
import { type OpenRequest, openPruneRequest, type PruneRequest } from '../requests/prune-requests.ts'

export interface PrunerOptions {
  store: string
  writer: Pick<Writer, 'prune' | 'also'>
  alerts: AlertPruning
  log: Log
}

/** Time between two looks at whether something is asked for. */
export const LOOK_MS = 1_000

/** Does what prune requests ask for, a few milliseconds at a time. */
export const createPruner = ({ store, writer, alerts, log }: PrunerOptions) => {
  let open: OpenRequest | undefined
  let steps: Iterator<void> | undefined
  let lookAt = 0

  function* work({ request, end }: OpenRequest): Generator<void, void> {
    let removed: Range | undefined
    const onHidden = ({ from, to }: Range) => {
      removed = { from: removed?.from ?? from, to }
    }
    try {
      while (writer.prune(request, onHidden)) yield
    } finally {
      if (removed) log.info('Removed old blocks', { ...removed, ...whyOf(request) })
    }
    if (request.alerts) {
      const { alerts: limits } = request
      const { step, removed } = alerts.begin(limits)
      for (let more = true; more; ) {
        writer.also(() => {
          more = step()
        })
        yield
      }
      if (removed() > 0)
        log.info('Removed old alerts', { alerts: removed(), before: new Date(limits.before).toISOString() })
    }
    end()
  }

  return {
    /** One step; returns whether there may be more to do. */
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

/** What is kept, in the words of the settings. */
const whyOf = ({ below, keepBlocks, keepSeconds }: PruneRequest) => ({
  ...(below !== undefined && { before: below }),
  ...(keepBlocks !== undefined && { keepBlocks }),
  ...(keepSeconds !== undefined && { keepFor: showDuration(keepSeconds) }),
})

const showDuration = (seconds: number): string =>
  `${seconds % 86_400 === 0 ? seconds / 86_400 : (seconds / 86_400).toFixed(2)}d`
