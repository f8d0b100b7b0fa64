import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import type { RawBlock, RpcTrace } from '../wire.ts'
import { checkShape, inconsistent, MAX_PLACES } from './check-block.ts'
import { mayLackTraces } from './normal-traces.ts'
import { TRACES } from './schema.ts'
import { describeValue } from './shape.ts'

/** Throws `retry('block_inconsistent')` unless the traces are complete trees of this block. */
export const checkTraces = (raw: RawBlock, limits: Limits = DEFAULT_LIMITS): void => {
  const { block, traces } = raw
  const { hash, transactions } = block
  const number = Number(block.number)
  const where = `block ${number}`
  checkShape(TRACES, 'traces', traces, where, limits)
  if (traces === undefined) return
  if (traces.length > MAX_PLACES) throw inconsistent(`${where} has more than ${MAX_PLACES} traces`)

  let at = -1
  /** Address of the previous trace; by depth, the stated and the actual number of children. */
  let path: readonly number[] = []
  const stated: number[] = []
  const came: number[] = []
  const close = (depth: number): void => {
    for (let d = stated.length - 1; d >= depth; d--) {
      if (stated[d] === came[d]) continue
      throw inconsistent(
        `${where}: the traces of transaction ${at} are incomplete: ${describeValue(path.slice(0, d))} announces ${stated[d]} inner ones, ${came[d]} came`,
      )
    }
    stated.length = depth
    came.length = depth
  }

  for (let i = 0; i < traces.length; i++) {
    const trace: RpcTrace = traces[i]!
    const fault = resultFault(trace)
    if (fault !== undefined) throw inconsistent(`${where}: trace ${i} ${fault}`)
    if (trace.blockHash !== hash || trace.blockNumber !== number) {
      throw inconsistent(
        `${where} ${hash}: trace ${i} is of block ${describeValue(trace.blockNumber)} ${describeValue(trace.blockHash)}, not of this one`,
      )
    }
    if (trace.type === 'reward') continue
    const traceAddress: readonly number[] = trace.traceAddress
    const depth: number = traceAddress.length
    if (depth === 0) {
      close(0)
      const before = at++
      while (at < transactions.length && transactions[at]!.hash !== trace.transactionHash) {
        if (!mayLackTraces(transactions[at]!)) {
          throw inconsistent(
            `${where}: trace ${i} is of transaction ${describeValue(trace.transactionPosition)} ${describeValue(trace.transactionHash)} instead of ${at} ${transactions[at]!.hash}`,
          )
        }
        at++
      }
      if (at === transactions.length) {
        throw inconsistent(
          `${where}: trace ${i} is of transaction ${describeValue(trace.transactionHash)}, which does not come after place ${before} in the block`,
        )
      }
    }
    const tx = transactions[at]
    if (tx?.hash !== trace.transactionHash || trace.transactionPosition !== Number(tx?.transactionIndex)) {
      throw inconsistent(
        `${where}: trace ${i} is of transaction ${describeValue(trace.transactionPosition)} ${describeValue(trace.transactionHash)}, not of ${tx === undefined ? 'any' : `${at} ${tx.hash}`}`,
      )
    }
    if (depth > 0) {
      const last = depth - 1
      let same = 0
      while (same < last && traceAddress[same] === path[same]) same++
      if (same < last || depth > stated.length || traceAddress[last] !== came[last]) {
        throw inconsistent(
          `${where}: trace ${i} of transaction ${at} is at ${describeValue(traceAddress)}, which does not follow ${describeValue(path)}`,
        )
      }
      close(depth)
      came[last]!++
    }
    path = traceAddress
    stated.push(trace.subtraces)
    came.push(0)
  }
  close(0)
  for (at++; at < transactions.length; at++) {
    // Transactions of a genesis block are never executed.
    if (number > 0 && !mayLackTraces(transactions[at]!)) {
      throw inconsistent(`${where} has no traces of transaction ${at} ${transactions[at]!.hash} and those after it`)
    }
  }
}

const resultFault = (trace: RpcTrace): string | undefined => {
  if (trace.type === 'reward') return undefined
  const { type, result, error } = trace
  if (type !== 'suicide' && !result && error === undefined) return 'has neither result nor error'
  if (type === 'create' && error === undefined && typeof trace.result?.address !== 'string')
    return `has no address of the contract that it created: ${describeValue(trace.result?.address)}`
  return undefined
}
