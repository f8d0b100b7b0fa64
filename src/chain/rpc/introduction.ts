import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Clock } from '../../lib/retry.ts'
import { type Call, OTHER_CHAIN, resultOf } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { CHAIN_ID, toChainId } from './headers.ts'
import { BUDGET_USED } from './post.ts'

/** Finds out which chain nodes are of, and whether those that did not answer do again. */
export const createIntroduction = ({ chainId, clock }: { chainId: number | undefined; clock: Clock }) => {
  let expected = chainId
  /**
   * A node of another chain would answer everything, and all of it wrong. What is behind an address may change, so it is asked again
   * now and then.
   */
  const introduce = async (endpoint: Endpoint, signal: AbortSignal) => {
    const now = clock.elapsed()
    const { chainId: known, chainIdAt } = endpoint
    if (known !== undefined && now - chainIdAt < CHAIN_ID_MS) return
    // Other work that comes meanwhile goes by what is known.
    endpoint.chainIdAt = now
    try {
      const [answer] = await endpoint.send([CHAIN_ID], signal, true)
      const id = toChainId(answer!)
      expected ??= id
      endpoint.otherChain = id === expected ? undefined : id
      if (endpoint.otherChain !== undefined) throw otherChain(id, expected)
      // Several pieces of work may have asked at once.
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
    /** Asks nothing more by itself. */
    close: () => closing.abort(),
  }
}

const otherChain = (id: number, expected: number) =>
  retry(
    OTHER_CHAIN,
    `is a node of chain ${id}, but this network is chain ${expected}: check --rpc and --network, or choose another data folder. It is asked again every minute`,
  )

/** An address is asked so often for its chain. */
const CHAIN_ID_MS = 60_000
const BLOCK_NUMBER: Call = { method: 'eth_blockNumber', params: [] }
