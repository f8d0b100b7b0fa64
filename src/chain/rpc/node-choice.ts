import { retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { createCondition } from '../../lib/scheduling/condition.ts'
import { pickSharer } from '../../lib/scheduling/load.ts'
import { createBudgetWaits } from '../budget/head-budget.ts'
import type { Endpoint } from './endpoint.ts'
import { BUDGET_USED } from './post.ts'
import type { Tracer } from './trace-methods.ts'

export interface AttemptOptions {
  tries?: number | undefined
  traces?: boolean | undefined
  /** For the head. Default false. */
  urgent?: boolean | undefined
  /** Whether it waits where all budgets are used up; else it throws `retry` with `BUDGET_USED`. Default true. */
  waits?: boolean | undefined
}

interface NodeChoiceOptions {
  endpoints: readonly Endpoint[]
  tracer: Pick<Tracer, 'suits'>
  /** Looks whether a node that did not answer does again. */
  probe(endpoint: Endpoint): Promise<void>
  clock: Clock
  log: Log
}

/** Chooses the node that is asked next, and waits where none may be asked. */
export const createNodeChoice = ({ endpoints, tracer, probe, clock, log }: NodeChoiceOptions) => {
  const waits = createBudgetWaits(clock, log)
  const done = createCondition()

  /** Waits for a node that may be asked: one that has not failed in this attempt if there is any. */
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
      const rested = funded.filter(it => it.health.restUntil <= elapsed)
      const best = pick(rested, failed, urgent)
      // At once, so that whoever chooses next knows of it.
      if (best !== undefined) return { endpoint: best, done: best.loads[laneOf(urgent)].begin() }
      if (rested.length > 0) await done.changed(signal)
      else await clock.sleep(Math.max(1, Math.min(...funded.map(it => it.health.restUntil)) - elapsed), signal)
    }
  }

  /** Whether a node has what an attempt takes, and may be asked now. */
  const mayAsk = (it: Endpoint, { traces = false, urgent = false }: AttemptOptions): boolean => {
    const isRested = it.health.restUntil <= clock.elapsed()
    return isRested && (it.budget?.closedUntil(urgent) ?? 0) <= clock.now() && (!traces || tracer.suits(it))
  }

  /** A node that did not answer is given work again once a probe is answered, unless there is no other node. */
  const pick = (rested: readonly Endpoint[], failed: ReadonlySet<Endpoint>, urgent: boolean) => {
    const now = clock.elapsed()
    const open = rested.filter(it => !failed.has(it))
    const trusted = open.filter(it => it.health.doubtedUntil <= now)
    const sound = trusted.filter(it => !it.health.isSuspect)
    if (sound.length > 0) for (const it of rested) if (it.health.isSuspect) void probe(it)
    const [from] = [sound, trusted, open, rested].filter(it => it.length > 0)
    const lane = laneOf(urgent)
    return pickSharer((from ?? []).map(it => ({ endpoint: it, load: it.loads[lane], strain: it.budget?.strain })))
      ?.endpoint
  }

  return {
    ...{ choose, mayAsk },
    /** What waits because the budgets of all nodes are used up. */
    waitsForBudget: waits.now,
    /** Some work is done, whatever became of it. */
    noteDone: done.notify,
  }
}

const budgetsUsed = (endpoints: readonly Endpoint[], until: number) =>
  retry(
    BUDGET_USED,
    `the budget of ${endpoints.map(({ name }) => name).join(' and of ')} is used up until ${new Date(until).toISOString()}, but for what is kept for the head: wait, or raise --rpc-daily and --rpc-month`,
  )

const laneOf = (urgent: boolean) => (urgent ? 'urgent' : 'others')
