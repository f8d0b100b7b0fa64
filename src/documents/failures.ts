import type { RawBlock } from '../chain/wire.ts'
import type { Revert } from '../decode/errors.ts'
import { type DecodedTrace, hasFailed, hasSucceeded, REVERT } from './traces.ts'

/** Why a transaction failed; undefined members are not known. */
export interface Failure {
  /** In words: what the contract said, or else how the step ended in which it began. */
  error: string
  revertReason: string | undefined
  revertName: string | undefined
  /** What the contract returned. */
  revertData: string | undefined
  /** Contract in whose code it began. */
  revertAddress: string | undefined
  /** Way to the step in which it began. */
  revertTrace: number[] | undefined
}

export interface Failures {
  /** By the index of the transaction; undefined where it did not fail, or nobody knows. */
  txs: readonly (Failure | undefined)[]
  /** The block's steps, with what was said in those that reverted. */
  traces: readonly DecodedTrace[]
}

/**
 * Why transactions and steps of a block failed. A step that returns what a step right below it returned has handed it on: the innermost
 * one began it, and its contract's ABI tells what it means. `decode` is told the place of the transaction, too.
 */
export const blockFailures = (
  raw: RawBlock,
  decode: (address: string, data: string, tx: number) => Revert | null,
): Failures => {
  const { block, receipts, traces = [] } = raw
  const places = new Map(block.transactions.map(({ transactionIndex }, i) => [Number(transactionIndex), i]))
  const txs: (Failure | undefined)[] = receipts.map((receipt, i) =>
    hasFailed(receipt) ? untraced(Number(receipt.gasUsed) >= Number(block.transactions[i]!.gas)) : undefined,
  )
  const origins = originsOf(traces)
  const decoded = traces.map((trace, i): DecodedTrace => {
    const origin = origins[i]
    if (origin === undefined || trace.type === 'reward') return trace
    const begun: Step = traces[origin]!
    const { address, data } = saidBy(begun)
    const revert = data === undefined ? null : decode(address ?? ZERO, data, trace.transactionPosition)
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

/** What of a step tells why it failed. */
export interface Step {
  type: string
  traceAddress: number[]
  subtraces: number
  error?: string | undefined
  action: object
  result?: object | null | undefined
}

const ZERO = `0x${'0'.repeat(40)}`

/** Without traces: what reverts leaves gas, and what halts otherwise leaves none. */
const untraced = (usedAll: boolean): Failure => ({
  error: usedAll ? 'Out of gas, or bad instruction' : 'Reverted',
  revertReason: undefined,
  revertName: undefined,
  revertData: undefined,
  revertAddress: undefined,
  revertTrace: undefined,
})

/** Whose code a step ran, undefined of a creation, and what it returned, undefined where that is nothing. */
export const saidBy = ({ type, action, result }: Step): { address: string | undefined; data: string | undefined } => {
  const address = type === 'call' ? (action as { to: string }).to : undefined
  const { output, code } = (result ?? {}) as { output?: string; code?: string }
  const said = type === 'call' ? output : type === 'create' ? code : undefined
  return { address, data: said === undefined || said.length <= 2 ? undefined : said.toLowerCase() }
}

/**
 * For each failed step, the index of the step in which the failure began; undefined for others. Steps come in the order of their execution;
 * some of them may be missing.
 */
export const originsOf = (traces: readonly Step[]): (number | undefined)[] => {
  const origins = new Array<number | undefined>(traces.length)
  if (!traces.some(trace => trace.error !== undefined)) return origins
  /** Steps around the one at hand, by their depth. */
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
    if (above !== undefined && isHandedOn(traces[above]!, trace)) below.set(above, i)
  }
  // Those below come behind.
  for (let i = traces.length - 1; i >= 0; i--) {
    const from = below.get(i)
    if (from !== undefined) origins[i] = origins[from]
  }
  return origins
}

/** Whether a step failed by what a step right below it failed by: it reverts with the same, or with nothing right after it. */
const isHandedOn = (above: Step, trace: Step): boolean => {
  const { traceAddress } = trace
  if (above.error !== 'Reverted' || !above.traceAddress.every((place, i) => place === traceAddress[i])) return false
  const [outer, inner] = [saidBy(above).data, saidBy(trace).data]
  if (outer !== inner) return false
  return inner !== undefined || traceAddress.at(-1) === above.subtraces - 1
}
