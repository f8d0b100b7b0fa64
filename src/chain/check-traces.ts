import { inconsistent, isHash, show } from './check.ts'
import { mayLackTraces } from './trace.ts'
import type { RawBlock, RpcTrace } from './wire.ts'

/**
 * Throws `retry('block_inconsistent')` unless the traces are this block's and all of them: they name its hash and number, every
 * transaction that can have run has its tree, in the block's order, and every tree is whole: the outer before the inner, each at the
 * next free place, and as many below each as it says. The genesis block has none. The block itself must have passed `checkBlock`.
 */
export const checkTraces = (raw: RawBlock): void => {
  const { block, traces } = raw
  const { hash, transactions } = block
  const number = Number(block.number)
  const where = `block ${number}`
  if (!Array.isArray(traces)) throw inconsistent(`${where} has no list of traces: ${show(traces)}`)

  /** The place in the block of the transaction at hand. */
  let at = -1
  /** The trace before in the same transaction, by its address, and by depth: how many it says are below it, and how many came. */
  let path: readonly number[] = []
  const stated: number[] = []
  const came: number[] = []
  const close = (depth: number): void => {
    for (let d = stated.length - 1; d >= depth; d--) {
      if (stated[d] === came[d]) continue
      throw inconsistent(
        `${where}: the traces of transaction ${at} are not whole: ${show(path.slice(0, d))} says ${stated[d]} below it, ${came[d]} came`,
      )
    }
    stated.length = depth
    came.length = depth
  }

  for (let i = 0; i < traces.length; i++) {
    const trace: RpcTrace = traces[i]!
    const fault = shapeFault(trace)
    if (fault !== undefined) throw inconsistent(`${where}: trace ${i} ${fault}`)
    if (trace.blockHash !== hash || trace.blockNumber !== number) {
      throw inconsistent(
        `${where} ${hash}: trace ${i} is of block ${show(trace.blockNumber)} ${show(trace.blockHash)}, not of this one`,
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
            `${where}: trace ${i} is of transaction ${show(trace.transactionPosition)} ${show(trace.transactionHash)} where that of ${at} ${transactions[at]!.hash} is due`,
          )
        }
        at++
      }
      if (at === transactions.length) {
        throw inconsistent(
          `${where}: trace ${i} is of transaction ${show(trace.transactionHash)}, which does not come after place ${before} in the block`,
        )
      }
    }
    const tx = transactions[at]
    if (tx?.hash !== trace.transactionHash || trace.transactionPosition !== Number(tx?.transactionIndex)) {
      throw inconsistent(
        `${where}: trace ${i} is of transaction ${show(trace.transactionPosition)} ${show(trace.transactionHash)}, not of ${tx === undefined ? 'any' : `${at} ${tx.hash}`}`,
      )
    }
    if (depth > 0) {
      const last = depth - 1
      let same = 0
      while (same < last && traceAddress[same] === path[same]) same++
      if (same < last || depth > stated.length || traceAddress[last] !== came[last]) {
        throw inconsistent(
          `${where}: trace ${i} of transaction ${at} is at ${show(traceAddress)}, which does not follow ${show(path)}`,
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
    // What a genesis block lists was never run.
    if (number > 0 && !mayLackTraces(transactions[at]!)) {
      throw inconsistent(`${where} has no traces of transaction ${at} ${transactions[at]!.hash} and those after it`)
    }
  }
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/

const isAddress = (value: unknown) => typeof value === 'string' && ADDRESS.test(value)
const isQuantity = (value: unknown) => typeof value === 'string' && QUANTITY.test(value)
const isData = (value: unknown) => typeof value === 'string' && value.length % 2 === 0 && value.startsWith('0x')

/** What each type has in `action` and, where it is not null, in `result`. */
const FIELDS = {
  call: {
    action: { from: isAddress, to: isAddress, gas: isQuantity, input: isData, value: isQuantity },
    result: { gasUsed: isQuantity, output: isData },
  },
  create: {
    action: { from: isAddress, gas: isQuantity, init: isData, value: isQuantity },
    result: { gasUsed: isQuantity, code: isData },
  },
  suicide: { action: { address: isAddress, refundAddress: isAddress, balance: isQuantity }, result: {} },
  reward: { action: { author: isAddress, value: isQuantity }, result: {} },
} satisfies Record<RpcTrace['type'], Record<'action' | 'result', Record<string, (value: unknown) => boolean>>>

/** The same as lists, which every trace walks. */
const CHECKS = new Map<unknown, { actions: Check[]; results: Check[] }>(
  Object.entries(FIELDS).map(([type, { action, result }]) => [
    type,
    { actions: Object.entries(action), results: Object.entries(result) },
  ]),
)
type Check = [name: string, is: (value: unknown) => boolean]

const shapeFault = (trace: RpcTrace | null | undefined): string | undefined => {
  if (typeof trace !== 'object' || trace === null) return 'is no object'
  const checks = CHECKS.get(trace.type)
  if (checks === undefined) return `has an unknown type: ${show(trace.type)}`
  const action = trace.action as Record<string, unknown> | null
  if (typeof action !== 'object' || action === null) return `has no action: ${show(action)}`
  for (const [name, is] of checks.actions)
    if (!is(action[name])) return `has a malformed action.${name}: ${show(action[name])}`
  const result = trace.result as Record<string, unknown> | null
  if (typeof result !== 'object') return `has a malformed result: ${show(result)}`
  if (result !== null) {
    for (const [name, is] of checks.results)
      if (!is(result[name])) return `has a malformed result.${name}: ${show(result[name])}`
  }
  if (trace.type === 'reward') return undefined
  if (!isHash(trace.transactionHash)) return `has a malformed transactionHash: ${show(trace.transactionHash)}`
  if (trace.error !== undefined && typeof trace.error !== 'string') return `has a malformed error: ${show(trace.error)}`
  if (trace.type !== 'suicide' && result === null && trace.error === undefined) return 'has neither result nor error'
  if (trace.type === 'create' && trace.error === undefined && !isAddress(trace.result?.address)) {
    return `has a malformed result.address: ${show(trace.result?.address)}`
  }
  if (!Number.isInteger(trace.subtraces)) return `has a malformed count of subtraces: ${show(trace.subtraces)}`
  if (!Array.isArray(trace.traceAddress)) return `has no traceAddress: ${show(trace.traceAddress)}`
  return undefined
}
