import type { RpcLog } from '../../src/chain/wire.ts'
import { type LogQuery, logsOf } from './logs.ts'
import { type FakeNode, NodeError } from './node.ts'
import { hex } from './pack.ts'

/** What a provider of nodes allows of `eth_getLogs`, and its words where it does not. */
export interface Provider {
  blocks?: number
  results?: number
  addresses?: number
  ofBlocks?(asked: { from: number; to: number }): NodeError
  /** The same for too many logs; `fits` is the last block of a range that would do. */
  ofResults?(asked: { from: number; to: number; fits: number }): NodeError
  ofAddresses?(): NodeError
  status?: number
}

const say = (code: number, message: string, data?: unknown) => () => new NodeError(code, message, data)

/** Ten thousand blocks and ten thousand logs, in the words of those named. */
const LIMITS = { blocks: 10_000, results: 10_000 }
export const PROVIDERS = {
  quicknode: {
    ...LIMITS,
    ofBlocks: say(-32614, 'eth_getLogs is limited to a 10,000 range'),
    ofResults: say(-32602, 'query returned more than 10000 results'),
    status: 413,
  },
  infura: {
    ...LIMITS,
    ofBlocks: say(-32602, 'exceed maximum block range: 10000'),
    ofResults: ({ from, fits }) =>
      new NodeError(
        -32005,
        `query returned more than 10000 results. Try with this block range [${hex(from)}, ${hex(fits)}].`,
        { from: hex(from), to: hex(fits), limit: 10_000 },
      ),
  },
  llama: {
    ...LIMITS,
    ofBlocks: say(-32602, 'query exceeds max block range 10000'),
    ofResults: ({ from, fits }) =>
      new NodeError(-32602, `query exceeds max results 10000, retry with the range ${from}-${fits}`),
    status: 400,
  },
  arbitrum: {
    ...LIMITS,
    ofBlocks: say(-32000, 'Block range is too large'),
    ofResults: say(-32000, 'logs matched by query exceeds limit of 10000'),
  },
  mute: {
    ...LIMITS,
    ofBlocks: say(-32000, 'block range too large'),
    ofResults: say(-32000, 'backend response too large'),
    status: 503,
  },
} as const satisfies Record<string, Provider>

export const limitLogs = (node: FakeNode, provider: Provider) => {
  const refusalOf = (query: LogQuery, found: () => RpcLog[]): NodeError | undefined => {
    const { blocks = Infinity, results = Infinity, addresses = Infinity } = provider
    if (Array.isArray(query.address) && query.address.length > addresses) return provider.ofAddresses!()
    if (query.blockHash !== undefined) return undefined
    const asked = { from: Number(query.fromBlock), to: Number(query.toBlock) }
    if (asked.to - asked.from + 1 > blocks) return provider.ofBlocks!(asked)
    const next = found()[results]
    if (next === undefined) return undefined
    return provider.ofResults!({ ...asked, fits: Math.max(asked.from, Number(next.blockNumber) - 1) })
  }
  node.methods.set('eth_getLogs', params => {
    const logs = logsOf(node, params[0])
    const refusal = refusalOf(params[0] as LogQuery, () => logs)
    if (refusal !== undefined) throw refusal
    return logs
  })
  if (provider.status === undefined) return
  node.trouble = ([call]) => {
    if (call?.method !== 'eth_getLogs') return undefined
    const query = call.params[0] as LogQuery
    const refusal = refusalOf(query, () => logsOf(node, query))
    if (refusal === undefined) return undefined
    node.calls.push({ method: call.method, params: call.params })
    const { code, message, data } = refusal
    return { status: provider.status!, body: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message, data } }) }
  }
}

/** The fewest calls by which all logs of a range can be had, where a call may be for so many blocks and so many logs. */
export const fewestCalls = (
  blocksOfLogs: readonly number[],
  { from, to }: { from: number; to: number },
  { blocks = Infinity, results = Infinity }: Provider,
): number => {
  let calls = 0
  let next = 0
  for (let at = from; at <= to; calls++) {
    const end = Math.min(to, at + blocks - 1, (blocksOfLogs[next + results] ?? Infinity) - 1)
    while (blocksOfLogs[next]! <= end) next++
    at = end + 1
  }
  return calls
}
