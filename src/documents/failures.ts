import type { RawBlock } from '../chain/wire.ts'
import type { Revert } from '../decode/reverts.ts'
import { type DecodedTrace, hasFailed, hasSucceeded, REVERT } from './traces.ts'

/** Undefined members are not known. */
export interface Failure {
  /** The contract's reason, or the error of the step in which the failure began. */
  error: string
  revertReason: string | undefined
  revertName: string | undefined
  revertData: string | undefined
  revertAddress: string | undefined
  /** Trace address of that step. */
  revertTrace: number[] | undefined
}

export interface Failures {
  /** By the index of the transaction; undefined if it did not fail, or the reason is not known. */
  txs: readonly (Failure | undefined)[]
  traces: readonly DecodedTrace[]
}

/**
 * Why transactions and steps of a block failed. A step that returns what a step right below it
 * returned has passed it on: the innermost one began it, and its contract's ABI decodes it.
 */
export const blockFailures = (
  raw: RawBlock,
  decode: (address: string, data: string, tx: number) => Revert | null,
): Failures => {
  const { block, receipts, traces = [] } = raw
  const places = new Map(block.transactions.map(({ transactionIndex }, i) => [Number(transactionIndex), i]))
  const txs: (Failure | undefined)[] = receipts.map((receipt, i) =>
    hasFailed(receipt)
      ? failureWithoutTraces(Number(receipt.gasUsed) >= Number(block.transactions[i]!.gas))
      : undefined,
  )
  const origins = originsOf(traces)
  const decoded = traces.map((trace, i): DecodedTrace => {
    const origin = origins[i]
    if (origin === undefined || trace.type === 'reward') return trace
    const begun: ExecutionStep = traces[origin]!
    const { address, data } = returnedBy(begun)
    const revert = data === undefined ? null : decode(address ?? ZERO_ADDRESS, data, trace.transactionPosition)
    const index = trace.traceAddress.length === 0 ? places.get(trace.transactionPosition) : undefined
    if (index !== undefined && !hasSucceeded(receipts[index]!))
      txs[index] = {
        error: revert?.reason ?? begun.error!,
        revertReason: revert?.reason ?? undefined,
        revertName: revert?.name ?? undefined,
        revertData: data,
        revertAddress: address,
        revertTrace: begun.traceAddress,
      }
    return revert ? { ...trace, [REVERT]: revert } : trace
  })
  return { txs, traces: decoded }
}

export interface ExecutionStep {
  type: string
  traceAddress: number[]
  subtraces: number
  error?: string | undefined
  action: object
  result?: object | null | undefined
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** Without traces: a revert leaves gas, any other failure leaves none. */
const failureWithoutTraces = (usedAll: boolean): Failure => ({
  error: usedAll ? 'Out of gas, or bad instruction' : 'Reverted',
  revertReason: undefined,
  revertName: undefined,
  revertData: undefined,
  revertAddress: undefined,
  revertTrace: undefined,
})

/** The contract whose code a step ran, unless it is a creation, and the returned data, if any. */
export const returnedBy = ({
  type,
  action,
  result,
}: ExecutionStep): { address: string | undefined; data: string | undefined } => {
  const address = type === 'call' ? (action as { to: string }).to : undefined
  const { output, code } = (result ?? {}) as { output?: string; code?: string }
  const said = type === 'call' ? output : type === 'create' ? code : undefined
  return { address, data: said === undefined || said.length <= 2 ? undefined : said.toLowerCase() }
}

/**
 * For each failed step, in the order of execution, the index of the step in which the failure
 * began. Some steps may be missing.
 */
export const originsOf = (traces: readonly ExecutionStep[]): (number | undefined)[] => {
  const origins = new Array<number | undefined>(traces.length)
  if (!traces.some(trace => trace.error !== undefined)) return origins
  /** Indices of the steps around the current one, by depth. */
  const path: number[] = []
  /** For each step, the last step directly below it that failed and returned the same. */
  const below = new Map<number, number>()
  for (const [i, trace] of traces.entries()) {
    if (trace.type === 'reward') continue
    const depth = trace.traceAddress.length
    path.length = depth
    path[depth] = i
    if (trace.error === undefined) continue
    origins[i] = i
    const above = depth === 0 ? undefined : path[depth - 1]
    if (above !== undefined && isPassedOn(traces[above]!, trace)) below.set(above, i)
  }
  for (let i = traces.length - 1; i >= 0; i--) {
    const from = below.get(i)
    if (from !== undefined) origins[i] = origins[from]
  }
  return origins
}

/**
 * Whether a step only passes on the failure of a step right below it: it reverts with the same
 * data, or with none right after it.
 */
const isPassedOn = (above: ExecutionStep, trace: ExecutionStep): boolean => {
  const { traceAddress } = trace
  if (above.error !== 'Reverted' || !above.traceAddress.every((place, i) => place === traceAddress[i])) return false
  const [outer, inner] = [returnedBy(above).data, returnedBy(trace).data]
  if (outer !== inner) return false
  return inner !== undefined || traceAddress.at(-1) === above.subtraces - 1
}
