import { messageOf } from '../lib/errors.ts'

export interface NodeState {
  chainId: number
  head: number
  /** Block at which it forked off another chain; null where it did not, or does not tell. */
  fork: number | null
  /** Whether it announces new blocks at the same port by WebSocket: anvil and Hardhat do. */
  announces: boolean
}

const TIMEOUT_MS = 3_000
const NO_NODE = 'the server there is not a node'

/** Which chain a node for development has, or why that cannot be known now; what is known already where it still has that. */
export const askNode = async (
  url: string,
  known: NodeState | undefined,
  signal: AbortSignal,
): Promise<NodeState | { why: string }> => {
  const { username, password, ...address } = splitUrl(url)
  const ask = async (method: string): Promise<unknown> => {
    const response = await fetch(address.href, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(username === '' ? {} : { authorization: `Basic ${btoa(`${username}:${password}`)}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    return ((await response.json()) as { result?: unknown }).result
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
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { why: (cause as { code?: string }).code ?? messageOf(cause) }
  }
}

const splitUrl = (text: string) => {
  const url = new URL(text)
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = ''
  url.password = ''
  return { href: url.href, username, password }
}
