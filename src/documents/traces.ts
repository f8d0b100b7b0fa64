import type { RewardTrace, RpcReceipt, RpcTrace } from '../chain/wire.ts'
import type { Revert } from '../decode/reverts.ts'
import type { traceMapping as mapping } from '../mapping/documents/trace.ts'

/** The decoded revert of a failed step. As a symbol, it cannot come from a node. */
export const REVERT: unique symbol = Symbol('revert')

export type DecodedTrace = RpcTrace & { readonly [REVERT]?: Revert }

export const revertOf = (trace: object): Revert | undefined => (trace as { [REVERT]?: Revert })[REVERT]

/** Reads a field of a trace, by its path in the mapping. A missing `error` reads as null. */
export const traceReader = (path: string): ((trace: RpcTrace) => unknown) =>
  TRACE_READERS[path as WirePath] as (trace: object) => unknown

type WirePath = Exclude<
  keyof typeof mapping.fields,
  'transactionHash' | 'transactionPosition' | 'blockHash' | 'blockNumber' | 'timestamp'
>

interface WireTrace {
  type: string
  action: Record<string, unknown>
  result?: Record<string, unknown> | null
  subtraces: unknown
  traceAddress: unknown
  error?: unknown
}

/** Static member access is several times faster, and every trace needs all members. */
const TRACE_READERS: Record<WirePath, (trace: WireTrace) => unknown> = {
  type: ({ type }) => type,
  callType: ({ type, action }) => (type === 'call' ? action.callType : undefined),
  'action.from': ({ action }) => action.from,
  'action.to': ({ action }) => action.to,
  'action.value': ({ action }) => action.value,
  'action.gas': ({ action }) => action.gas,
  'action.input': ({ action }) => action.input,
  'action.init': ({ action }) => action.init,
  'action.creationMethod': ({ action }) => action.creationMethod,
  'action.address': ({ action }) => action.address,
  'action.refundAddress': ({ action }) => action.refundAddress,
  'action.balance': ({ action }) => action.balance,
  'action.author': ({ action }) => action.author,
  'action.rewardType': ({ action }) => action.rewardType,
  'result.gasUsed': ({ result }) => result?.gasUsed,
  'result.output': ({ result }) => result?.output,
  'result.address': ({ result }) => result?.address,
  'result.code': ({ result }) => result?.code,
  error: trace => ('error' in trace ? trace.error : null),
  revertReason: trace => revertOf(trace)?.reason ?? undefined,
  revertName: trace => revertOf(trace)?.name ?? undefined,
  subtraces: ({ subtraces }) => subtraces,
  traceAddress: ({ traceAddress }) => traceAddress,
}

/** Makes what says of each step, in the order of execution, whether it or one around it failed. */
export const createFailures = (): ((trace: Exclude<RpcTrace, RewardTrace>) => boolean) => {
  /** Depth of the topmost failed step around the current one. */
  let failed = Number.POSITIVE_INFINITY
  let transaction = -1
  return ({ transactionPosition, traceAddress, error }) => {
    const depth = traceAddress.length
    if (transactionPosition !== transaction || depth <= failed) failed = Number.POSITIVE_INFINITY
    transaction = transactionPosition
    if (error !== undefined && failed === Number.POSITIVE_INFINITY) failed = depth
    return failed <= depth
  }
}

/** Receipts from before Byzantium have no status. */
export const hasFailed = ({ status }: RpcReceipt): boolean => status === '0x0' || status === false

export const hasSucceeded = ({ status }: RpcReceipt): boolean => status === '0x1' || status === true
