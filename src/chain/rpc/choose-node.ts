import { retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { pickSharer } from '../../lib/scheduling/load.ts'
import { createCondition } from '../../lib/scheduling/queues.ts'
import { createBudgetWaits } from '../budget/head-budget.ts'
import type { Endpoint } from './endpoint.ts'
import { BUDGET_USED } from './post.ts'
import type { Tracer } from './trace-methods.ts'

export interface AttemptOptions {
  tries?: number | undefined
  traces?: boolean | undefined
  urgent?: boolean | undefined
  /** Whether to wait if all budgets are used up; otherwise throws `BUDGET_USED`. Default true. */
  waits?: boolean | undefined
}

interface NodeChoiceOptions {
  endpoints: readonly Endpoint[]
  tracer: Pick<Tracer, 'suits'>
  probe(endpoint: Endpoint): Promise<void>
  clock: Clock
  log: Log
}

/** Load balancing and failover: chooses the node of a call by load, health and budget. */
export const createNodeChoice = ({ endpoints, tracer, probe, clock, log }: NodeChoiceOptions) => {
  const waits = createBudgetWaits(clock, log)
  const done = createCondition()

  const choose = async (
    failed: ReadonlySet<Endpoint>,
    { traces = false, urgent = false, waits: isPatient = true }: AttemptOptions,
    signal: AbortSignal,
  ): Promise<{ endpoint: Endpoint; done: (isDone: boolean) => void }> => {
    for (;;) {
      const [now, elapsed] = [clock.now(), clock.elapsed()]
      const suited = traces ? endpoints.filter(it => tracer.suits(it)) : endpoints
      const closedUntil = (it: Endpoint) => it.budget?.closedUntil(urgent) ?? 0
      const funded = suited.filter(it => closedUntil(it) <= now)
      if (funded.length === 0) {
        const until = Math.min(...suited.map(closedUntil))
        if (!isPatient) throw budgetsUsed(suited, until)
        await waits.wait(suited, urgent, until, signal)
        continue
      }
      const ready = funded.filter(it => it.health.backoffUntil <= elapsed)
      const best = pick(ready, failed, urgent)
      // Synchronous, so the next choice sees this load.
      if (best !== undefined) return { endpoint: best, done: best.loads[laneOf(urgent)].begin() }
      if (ready.length > 0) await done.changed(signal)
      else await clock.sleep(Math.max(1, Math.min(...funded.map(it => it.health.backoffUntil)) - elapsed), signal)
    }
  }

  const mayAsk = (it: Endpoint, { traces = false, urgent = false }: AttemptOptions): boolean => {
    const isReady = it.health.backoffUntil <= clock.elapsed()
    return isReady && (it.budget?.closedUntil(urgent) ?? 0) <= clock.now() && (!traces || tracer.suits(it))
  }

  /** Picks a node. An unhealthy one works again after a successful probe, or if there is no other. */
  const pick = (ready: readonly Endpoint[], failed: ReadonlySet<Endpoint>, urgent: boolean) => {
    const now = clock.elapsed()
    const open = ready.filter(it => !failed.has(it))
    const trusted = open.filter(it => it.health.degradedUntil <= now)
    const sound = trusted.filter(it => !it.health.isUnhealthy)
    if (sound.length > 0) for (const it of ready) if (it.health.isUnhealthy) void probe(it)
    const [from] = [sound, trusted, open, ready].filter(it => it.length > 0)
    const lane = laneOf(urgent)
    return pickSharer((from ?? []).map(it => ({ endpoint: it, load: it.loads[lane], strain: it.budget?.strain })))
      ?.endpoint
  }

  return {
    ...{ choose, mayAsk },
    waitsForBudget: waits.now,
    noteDone: done.notify,
  }
}

const budgetsUsed = (endpoints: readonly Endpoint[], until: number) =>
  retry(
    BUDGET_USED,
    `the budget of ${endpoints.map(({ name }) => name).join(' and of ')} is used up until ${new Date(until).toISOString()}, but for what is kept for the head: wait, or raise --rpc-daily and --rpc-month`,
  )
const laneOf = (urgent: boolean) => (urgent ? 'urgent' : 'others')
