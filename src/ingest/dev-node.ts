import { createTransport, NODE_PROTOCOLS, parseNodeUrl } from '../chain/rpc/transport.ts'
import { messageOf } from '../lib/errors.ts'
import { systemClock } from '../lib/retry.ts'

export interface NodeState {
  chainId: number
  head: number
  /** Block at which it forked off another chain; null where it did not, or that is unknown. */
  fork: number | null
  announces: boolean
}

const DEV_NODE_TIMEOUT_MS = 3_000
const MAX_NODE_BYTES = 1 << 20
const UNCOUNTED_HOLD = { take: async () => {}, close() {} }
const NO_NODE = 'the server there is not a node'

/** The chain of a node for development, or why it is not known; `known` where it is the same. */
export const askNode = async (
  url: string,
  known: NodeState | undefined,
  signal: AbortSignal,
): Promise<NodeState | { why: string }> => {
  const transport = createTransport(parseNodeUrl(url, NODE_PROTOCOLS), {
    ...{ connections: 1, timeoutMs: DEV_NODE_TIMEOUT_MS, clock: systemClock },
  })
  const ask = async (method: string): Promise<unknown> => {
    const inner = AbortSignal.any([signal, AbortSignal.timeout(DEV_NODE_TIMEOUT_MS)])
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    const { bytes } = await transport.post(message, { most: MAX_NODE_BYTES, hold: UNCOUNTED_HOLD, signal: inner })
    return (JSON.parse(bytes.toString()) as { result?: unknown }).result
  }
  try {
    const chainId = Number(await ask('eth_chainId'))
    if (chainId === known?.chainId) return known
    const head = Number(await ask('eth_blockNumber'))
    if (!Number.isSafeInteger(chainId) || !Number.isSafeInteger(head)) return { why: NO_NODE }
    const [anvil, hardhat] = [await ask('anvil_nodeInfo'), await ask('hardhat_metadata')] as [
      { forkConfig?: { forkBlockNumber?: unknown } } | undefined,
      { forkedNetwork?: { forkBlockNumber?: unknown } } | undefined,
    ]
    const fork = Number(anvil?.forkConfig?.forkBlockNumber ?? hardhat?.forkedNetwork?.forkBlockNumber ?? Number.NaN)
    const announces = anvil !== undefined || hardhat !== undefined
    return { chainId, head, fork: Number.isSafeInteger(fork) ? fork : null, announces }
  } catch (error) {
    if (error instanceof SyntaxError) return { why: NO_NODE }
    const { code } = error as { code?: unknown }
    return { why: typeof code === 'string' ? code : messageOf(error) }
  } finally {
    await transport.close()
  }
}
