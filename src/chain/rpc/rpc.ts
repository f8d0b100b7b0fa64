import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import { BLOCK_MISSING, OTHER_CHAIN } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { type Head, readHead, readHeads } from './headers.ts'
import { createIntroduction } from './introduction.ts'
import { type AttemptOptions, createNodeChoice } from './node-choice.ts'
import { BUDGET_USED, LEFT_ALONE } from './post.ts'
import { createTracer } from './trace-methods.ts'

export type Rpc = ReturnType<typeof createRpc>

export interface RpcOptions {
  endpoints: readonly Endpoint[]
  /** The chain that the nodes have to be of; that of the first one to answer where it is left out. */
  chainId?: number
  log: Log
  clock: Clock
  random: () => number
}

/** Several nodes of one chain, seen as one that always answers in the end. */
export const createRpc = ({ endpoints, chainId, log, clock, random }: RpcOptions) => {
  const tracer = createTracer({ endpoints, clock, log })
  const { introduce, probe, close } = createIntroduction({ chainId, clock })
  const { choose, mayAsk, waitsForBudget, noteDone } = createNodeChoice({ endpoints, tracer, probe, clock, log })

  /**
   * Runs `work` against a node, and again until it succeeds or the signal aborts: the node that is well and likely to be done first,
   * another one where it throws `retry`. Each failure shows in the status of its node. With `tries`, the last of so many
   * errors is thrown; `block_missing` is thrown once no node that is well has what is asked for, and counts as no failure of theirs, but for urgent work with `tries`.
   * Errors other than `retry` are thrown at once. With `traces`, only nodes that give traces are taken, where any
   * does, and `endpoint.traces` is known when `work` runs. Nodes whose budgets are used up are left out, and waited for where there is no
   * other; what is urgent may use what is kept for the head.
   */
  const attempt = async <T>(
    work: (endpoint: Endpoint) => Promise<T>,
    signal: AbortSignal,
    options: AttemptOptions = {},
  ): Promise<T> => {
    const { tries = Number.POSITIVE_INFINITY, traces = false } = options
    const failed = new Set<Endpoint>()
    let missed = 0
    for (let tried = 1; ; ) {
      signal.throwIfAborted()
      const { endpoint, done } = await choose(failed, options, signal)
      if (failed.has(endpoint)) {
        done(false)
        failed.clear()
        await clock.sleep(backoff(Math.ceil(tried / endpoints.length), { random, capMs: 5_000 }), signal)
        continue
      }
      const mark = endpoint.health.mark()
      let isDone = false
      try {
        const introduced = introduce(endpoint, signal)
        // Where it is only asked again, that holds nothing up; it has answered when what it gave is taken.
        if (endpoint.chainId === undefined) await introduced
        introduced.catch(() => {})
        if (traces) await tracer.ask(endpoint, signal)
        if (traces && !tracer.suits(endpoint)) continue
        const value = await work(endpoint)
        await introduced
        endpoint.health.well(mark)
        isDone = true
        return value
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        // Nothing is wrong with the node, which says itself when it may be asked again.
        if (error.code === BUDGET_USED || error.code === LEFT_ALONE) continue
        failed.add(endpoint)
        // Nothing is wrong with such a node, and asking again is of no use.
        if (error.code === LACKS_METHOD) {
          if (failed.size === endpoints.length) throw error
          continue
        }
        if (error.code === OTHER_CHAIN) endpoint.chainIdAt = Number.NEGATIVE_INFINITY
        // Nobody waits for a block that all have pruned. One of the head, which has a number of tries, comes soon.
        if (error.code === BLOCK_MISSING && (options.urgent !== true || tries === Number.POSITIVE_INFINITY)) {
          if (endpoints.some(it => !failed.has(it) && mayAsk(it, options))) continue
          if (++missed >= MISSED_TIMES) throw error
          failed.clear()
          await clock.sleep(backoff(missed, { random }), signal)
          continue
        }
        endpoint.health.failed(mark, error)
        if (tried++ >= tries) throw error
      } finally {
        done(isDone)
        noteDone()
      }
    }
  }

  let highest = -1
  /**
   * The newest block of a node. One far above all that were read before is believed only if the node shows it by its number too:
   * whoever makes up a head must not lead everything after it. The block below need not be there: a node may begin with this one.
   */
  const headOf = async (endpoint: Endpoint, signal: AbortSignal): Promise<Head> => {
    const head = await readHead(endpoint, signal)
    if (head.number > highest + STRIDE) {
      const [shown] = (await readHeads(endpoint, head.number, head.number, signal)) as [Head]
      if (shown.hash !== head.hash)
        throw retry('block_inconsistent', `its head is block ${head.number} ${head.hash}, but it shows ${shown.hash}`)
    }
    highest = Math.max(highest, head.number)
    endpoint.head = { ...head, at: clock.elapsed() }
    return head
  }

  return {
    endpoints,
    attempt,
    headOf,
    /** The same, of a node that may not have been asked for anything yet. */
    async look(endpoint: Endpoint, signal: AbortSignal) {
      await introduce(endpoint, signal)
      return headOf(endpoint, signal)
    },
    /** The highest block that any node told last. */
    highest() {
      const told = endpoints.flatMap(({ head, otherChain }) => (head && otherChain === undefined ? [head.number] : []))
      return told.length > 0 ? Math.max(...told) : undefined
    },
    /** The chain that all nodes have to be of. */
    chainId: (signal: AbortSignal) => attempt(async endpoint => endpoint.chainId!, signal, { urgent: true }),
    /** See `ChainSource.tracing`. */
    tracing: () => tracer.status(),
    waitsForBudget,
    /** Asks nothing more by itself. */
    close,
    /** Whether each question counts. */
    isSparing: endpoints.some(({ budget }) => budget !== undefined),
  }
}

/** A head may rise by this many blocks without proof: reading the blocks up to it is proof enough. */
export const STRIDE = 32

/** Times that all nodes say not to have a block: behind an address may be several, of which one was not as far. */
const MISSED_TIMES = 3

/** Code of the error of a node that does not have a method at all. */
export const LACKS_METHOD = 'node_lacks_method'
