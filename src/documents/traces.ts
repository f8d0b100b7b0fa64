import type { RewardTrace, RpcReceipt, RpcTrace } from '../chain/wire.ts'
import type { Revert } from '../decode/errors.ts'
import type { trace as mapping } from '../mapping/documents/trace.ts'

/** The decoded revert of a failed step; it belongs to the step, and no node can forge it. */
export const REVERT: unique symbol = Symbol('revert')

/** A step, and what a contract said where it reverted. */
export type DecodedTrace = RpcTrace & { readonly [REVERT]?: Revert }

export const revertOf = (trace: object): Revert | undefined => (trace as { [REVERT]?: Revert })[REVERT]

/**
 * Reads a field of a trace, as its path in the mapping names it, from the wire's object. The type of a call stands among its other members
 * there, and that nothing went wrong is told by silence.
 */
export const traceReader = (path: string): ((trace: RpcTrace) => unknown) =>
  READERS[path as WirePath] as (trace: object) => unknown

type WirePath = Exclude<
  keyof typeof mapping.fields,
  'transactionHash' | 'transactionPosition' | 'blockHash' | 'blockNumber' | 'timestamp'
>

/** A trace of any type. */
interface Wire {
  type: string
  action: Record<string, unknown>
  result?: Record<string, unknown> | null
  subtraces: unknown
  traceAddress: unknown
  error?: unknown
}

/** Written out, since a member that is read by name takes several times as long, and every trace is asked for each of these. */
const READERS: Record<WirePath, (trace: Wire) => unknown> = {
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

/** Tells of each step of a block, which are given in the order of their execution, whether it failed or one around it did. */
export const createFailures = (): ((trace: Exclude<RpcTrace, RewardTrace>) => boolean) => {
  /** Depth of the topmost step that failed of those around the one at hand. */
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
