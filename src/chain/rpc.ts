import { ChainsieveError, retry } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { backoff, type Clock } from '../lib/retry.ts'
import { type Call, resultOf } from './answers.ts'
import { type Head, readHead, readHeads } from './blocks.ts'
import type { Endpoint } from './endpoint.ts'
import type { Tracing } from './source.ts'
import { createTracer } from './tracing.ts'

/** Several nodes of one chain, seen as one that always answers in the end. */
export interface Rpc {
  readonly endpoints: readonly Endpoint[]
  /**
   * Runs `work` against a node, and again until it succeeds or the signal aborts: the first node in the order given that is
   * well, another one where it throws `retry`. Each failure shows in the status of its node. With `tries`, the last of so many
   * errors is thrown. Errors other than `retry` are thrown at once. With `traces`, only nodes that give traces are taken, where any
   * does, and `endpoint.traces` is known when `work` runs.
   */
  attempt<T>(work: (endpoint: Endpoint) => Promise<T>, signal: AbortSignal, options?: AttemptOptions): Promise<T>
  /**
   * The newest block of a node. One far above all that were read before is believed only if the node shows it by its number too:
   * whoever makes up a head must not lead everything after it. The block below need not be there: a node may begin with this one.
   */
  headOf(endpoint: Endpoint, signal: AbortSignal): Promise<Head>
  /** The chain that all nodes have to be of. */
  chainId(signal: AbortSignal): Promise<number>
  /** See `ChainSource.tracing`. */
  tracing(): Tracing | undefined
}

export interface AttemptOptions {
  tries?: number | undefined
  traces?: boolean | undefined
}

export interface RpcOptions {
  endpoints: readonly Endpoint[]
  /** The chain that the nodes have to be of; that of the first one to answer where it is left out. */
  chainId?: number
  log: Log
  clock: Clock
  random: () => number
}

export const createRpc = ({ endpoints, chainId, log, clock, random }: RpcOptions): Rpc => {
  let expected = chainId
  const tracer = createTracer({ endpoints, clock, log })

  /** Waits for a node that may be asked: one that has not failed in this attempt if there is any. */
  const choose = async (failed: ReadonlySet<Endpoint>, traces: boolean, signal: AbortSignal): Promise<Endpoint> => {
    for (;;) {
      const now = clock.now()
      const suited = traces ? endpoints.filter(it => tracer.suits(it)) : endpoints
      const rested = suited.filter(it => it.restUntil <= now)
      const open = rested.filter(it => !failed.has(it))
      const best = open.find(it => it.doubtedUntil <= now) ?? open[0] ?? rested[0]
      if (best !== undefined) return best
      await clock.sleep(Math.max(1, Math.min(...suited.map(it => it.restUntil)) - now), signal)
    }
  }

  /** A second node on another chain would answer everything, and all of it wrong. */
  const introduce = async (endpoint: Endpoint, signal: AbortSignal) => {
    if (endpoint.chainId !== undefined) return
    const [answer] = await endpoint.send([CHAIN_ID], signal)
    const told = resultOf(answer!, CHAIN_ID.method)
    const id = typeof told === 'number' || (typeof told === 'string' && told !== '') ? Number(told) : Number.NaN
    if (!Number.isSafeInteger(id)) throw retry('node_bad_answer', 'does not send its chain id as a number')
    expected ??= id
    if (id !== expected) {
      throw retry('node_other_chain', `is a node of chain ${id}, but chain ${expected} is followed: remove its URL`)
    }
    // Several pieces of work may have asked at once.
    if (endpoint.chainId === undefined) endpoint.traces.asked = false
    endpoint.chainId = id
  }

  const attempt: Rpc['attempt'] = async (work, signal, options = {}) => {
    const { tries = Number.POSITIVE_INFINITY, traces = false } = options
    const failed = new Set<Endpoint>()
    for (let tried = 1; ; ) {
      signal.throwIfAborted()
      const endpoint = await choose(failed, traces, signal)
      if (failed.has(endpoint)) {
        failed.clear()
        await clock.sleep(backoff(Math.ceil(tried / endpoints.length), { random, capMs: 5_000 }), signal)
      }
      const mark = endpoint.mark()
      try {
        await introduce(endpoint, signal)
        if (traces) await tracer.ask(endpoint, signal)
        if (traces && !tracer.suits(endpoint)) continue
        const value = await work(endpoint)
        endpoint.well(mark)
        return value
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        failed.add(endpoint)
        // Nothing is wrong with such a node, and asking again is of no use.
        if (error.code === LACKS_METHOD) {
          if (failed.size === endpoints.length) throw error
          continue
        }
        endpoint.failed(mark, error)
        if (tried++ >= tries) throw error
      }
    }
  }

  let highest = -1
  const headOf: Rpc['headOf'] = async (endpoint, signal) => {
    const head = await readHead(endpoint, signal)
    if (head.number > highest + STRIDE) {
      const [shown] = (await readHeads(endpoint, head.number, head.number, signal)) as [Head]
      if (shown.hash !== head.hash)
        throw retry('block_inconsistent', `its head is block ${head.number} ${head.hash}, but it shows ${shown.hash}`)
    }
    highest = Math.max(highest, head.number)
    return head
  }

  return {
    endpoints,
    attempt,
    headOf,
    chainId: signal => attempt(async endpoint => endpoint.chainId!, signal),
    tracing: () => tracer.status(),
  }
}

/** A head may rise by this many blocks without proof: reading the blocks up to it is proof enough. */
export const STRIDE = 32

/** Code of the error of a node that does not have a method at all. */
export const LACKS_METHOD = 'node_lacks_method'

const CHAIN_ID: Call = { method: 'eth_chainId', params: [] }
