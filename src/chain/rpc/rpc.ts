import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import {
  BLOCK_MISSING,
  type Call,
  CHAIN_ID,
  type Head,
  OTHER_CHAIN,
  readHead,
  readHeads,
  resultOf,
  toChainId,
} from './answers.ts'
import { type AttemptOptions, createNodeChoice } from './choose-node.ts'
import type { Endpoint } from './endpoint.ts'
import { BUDGET_USED, LEFT_ALONE } from './post.ts'
import { createTracer } from './trace-methods.ts'

export type Rpc = ReturnType<typeof createRpc>

interface RpcOptions {
  endpoints: readonly Endpoint[]
  chainId?: number
  log: Log
  clock: Clock
  random: () => number
}

export const createRpc = ({ endpoints, chainId, log, clock, random }: RpcOptions) => {
  const tracer = createTracer({ endpoints, clock, log })
  const { introduce, probe, close } = createIntroduction({ chainId, clock })
  const { choose, mayAsk, waitsForBudget, noteDone } = createNodeChoice({ endpoints, tracer, probe, clock, log })

  /**
   * Runs `work` on the best node, and on another one on `retry`, until success or abort. With
   * `tries`, throws the last error; `block_missing` once all healthy nodes lack the block. With
   * `traces`, uses only nodes with traces, and `endpoint.traces` is known. Waits for used-up
   * budgets.
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
        // A repeated introduction runs in parallel, but must succeed before the value is returned.
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
        // The node is fine; it states when to retry.
        if (error.code === BUDGET_USED || error.code === LEFT_ALONE) continue
        failed.add(endpoint)
        if (error.code === LACKS_METHOD) {
          if (failed.size === endpoints.length) throw error
          continue
        }
        if (error.code === OTHER_CHAIN) endpoint.chainIdAt = Number.NEGATIVE_INFINITY
        // Gives up on a block that all nodes pruned. The head, which limits `tries`, comes soon.
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
  /** The newest block of a node. A head far above ours must be confirmed by reading that block. */
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
    async look(endpoint: Endpoint, signal: AbortSignal) {
      await introduce(endpoint, signal)
      return headOf(endpoint, signal)
    },
    highest() {
      const told = endpoints.flatMap(({ head, otherChain }) => (head && otherChain === undefined ? [head.number] : []))
      return told.length > 0 ? Math.max(...told) : undefined
    },
    chainId: (signal: AbortSignal) => attempt(async endpoint => endpoint.chainId!, signal, { urgent: true }),
    tracing: () => tracer.status(),
    waitsForBudget,
    close,
    isSparing: endpoints.some(({ budget }) => budget !== undefined),
  }
}

/** Unconfirmed rise of a head: reading the blocks up to it is proof enough. */
export const STRIDE = 32

/** Rounds in which all nodes lack a block: one URL may have several nodes, some lagging. */
const MISSED_TIMES = 3

export const LACKS_METHOD = 'node_lacks_method'

const createIntroduction = ({ chainId, clock }: { chainId: number | undefined; clock: Clock }) => {
  let expected = chainId
  /** Identifies a node's chain, repeatedly, as the node behind a URL may change. */
  const introduce = async (endpoint: Endpoint, signal: AbortSignal) => {
    const now = clock.elapsed()
    const { chainId: known, chainIdAt } = endpoint
    if (known !== undefined && now - chainIdAt < CHAIN_ID_MS) return
    endpoint.chainIdAt = now
    try {
      const [answer] = await endpoint.send([CHAIN_ID], signal, true)
      const id = toChainId(answer!)
      expected ??= id
      endpoint.otherChain = id === expected ? undefined : id
      if (endpoint.otherChain !== undefined) throw otherChain(id, expected)
      if (endpoint.chainId === undefined) endpoint.traces.asked = false
      endpoint.chainId = id
    } catch (error) {
      endpoint.chainIdAt = Number.NEGATIVE_INFINITY
      if (error instanceof ChainsieveError && error.code === OTHER_CHAIN) endpoint.chainId = undefined
      throw error
    }
  }

  const probed = new Set<Endpoint>()
  const closing = new AbortController()
  const probe = async (endpoint: Endpoint) => {
    const { signal } = closing
    if (probed.has(endpoint)) return
    probed.add(endpoint)
    const mark = endpoint.health.mark()
    try {
      endpoint.chainIdAt = Number.NEGATIVE_INFINITY
      endpoint.traces.asked = false
      await introduce(endpoint, signal)
      resultOf((await endpoint.send([BLOCK_NUMBER], signal, true))[0]!, BLOCK_NUMBER.method)
      for (const load of Object.values(endpoint.loads)) load.forget()
      endpoint.health.well(mark)
    } catch (error) {
      if (!signal.aborted && error instanceof ChainsieveError && error.code !== BUDGET_USED)
        endpoint.health.failed(mark, error)
    } finally {
      probed.delete(endpoint)
    }
  }

  return {
    ...{ introduce, probe },
    close: () => closing.abort(),
  }
}

const otherChain = (id: number, expected: number) =>
  retry(
    OTHER_CHAIN,
    `is a node of chain ${id}, but this network is chain ${expected}: check --rpc and --network, or choose another data folder. It is asked again every minute`,
  )
const CHAIN_ID_MS = 60_000
const BLOCK_NUMBER: Call = { method: 'eth_blockNumber', params: [] }
