import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import {
  type CallTrace,
  type CreateTrace,
  type Hex,
  type RawBlock,
  type RewardTrace,
  type RpcBlock,
  type RpcTrace,
  type RpcTransaction,
  type SuicideTrace,
  toQuantity,
} from '../wire.ts'
import { checkShape, inconsistent } from './check-block.ts'
import { FRAME } from './schema.ts'
import { describeValue } from './shape.ts'

/**
 * Converts trees of geth's callTracer to the form of `trace_block`. Top-level calls lose the
 * intrinsic gas, except for refunds and gas charged without use (EIP-7623).
 */
export const fromCallTracer = (
  raw: Pick<RawBlock, 'block' | 'receipts'>,
  results: unknown,
  { limits = DEFAULT_LIMITS }: { limits?: Limits | undefined } = {},
): RpcTrace[] => {
  const { block, receipts } = raw
  const where = `block ${Number(block.number)}`
  if (!Array.isArray(results)) throw inconsistent(`${where} has no list of call trees: ${describeValue(results)}`)
  const traces: RpcTrace[] = []
  let i = 0
  for (const item of results) {
    const named = isObject(item) && typeof item.txHash === 'string' ? item.txHash.toLowerCase() : undefined
    let tx = block.transactions[i]
    while (named !== undefined && tx !== undefined && tx.hash !== named && mayLackTraces(tx))
      tx = block.transactions[++i]
    if (tx === undefined) {
      throw inconsistent(`${where} has ${block.transactions.length} transactions but ${results.length} call trees`)
    }
    const at = `${where}: call tree ${i}`
    if (named !== undefined && named !== tx.hash) throw inconsistent(`${at} is of transaction ${named}, not ${tx.hash}`)
    if (isObject(item) && item.result === undefined && item.type === undefined) {
      throw inconsistent(`${at} failed: ${describeValue(item.error ?? item)}`)
    }
    const top = toFrame(isObject(item) && item.result !== undefined ? item.result : item, at, limits)
    // Without a hash, only the transaction's content proves that a tree is of this block.
    if (named === undefined && !isOf(top, tx)) throw inconsistent(`${at} is not that of transaction ${tx.hash}`)
    flatten(traces, top, { block, tx, position: i, limits, receipt: receipts[i] }, at)
    i++
  }
  while (i < block.transactions.length && mayLackTraces(block.transactions[i]!)) i++
  if (i < block.transactions.length) {
    throw inconsistent(`${where} has ${block.transactions.length} transactions but ${results.length} call trees`)
  }
  return withoutIdleCalls(traces)
}

/** Normalises the answer of any node to `trace_block`. Leaves bad items to `checkTraces`. */
export const fromTraceBlock = (block: Pick<RpcBlock, 'hash' | 'number'>, answer: unknown): RpcTrace[] => {
  if (!Array.isArray(answer)) return answer as RpcTrace[]
  return withoutIdleCalls(answer.map(it => (isObject(it) && isObject(it.action) ? unify(it, it.action, block) : it)))
}

/** Chains add system transactions, which no EVM runs and which have no gas. */
export const mayLackTraces = (tx: RpcTransaction): boolean => /^0x0*$/.test(tx.gas)

/** Translates an error of any node and tracer to Parity's words. Unknown text is capitalised. */
export const toTraceError = (text: string): string => {
  const known = ERRORS.get(text)
  if (known !== undefined) return known
  const found = ERROR_PATTERNS.find(([pattern]) => pattern.test(text))
  return found?.[1] ?? text.charAt(0).toUpperCase() + text.slice(1)
}

type UnrewardedTrace = Exclude<RpcTrace, RewardTrace>

interface Frame {
  type: string
  from: Hex
  to?: Hex | null
  value?: Hex | null
  gas?: Hex
  gasUsed?: Hex
  input?: Hex
  output?: Hex | null
  error?: string | null
  revertReason?: string | null
  calls?: unknown[] | null
}

interface TraceContext {
  block: RpcBlock
  tx: RpcTransaction
  position: number
  receipt: RawBlock['receipts'][number] | undefined
  limits: Limits
}

/** Appends the traces of a tree. Not recursive: depth is up to 1,024, breadth far larger. */
const flatten = (traces: RpcTrace[], top: Frame, context: TraceContext, at: string): void => {
  const waiting: { frame: Frame; traceAddress: number[]; value: Hex }[] = [
    { frame: top, traceAddress: [], value: top.value ?? '0x0' },
  ]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { frame, traceAddress, value } = next
    const children = (frame.calls ?? []).map(call => {
      const child = toFrame(call, at, context.limits)
      return { frame: child, value: child.value ?? (/^delegatecall$/i.test(child.type) ? value : '0x0') }
    })
    traces.push(toTrace(frame, value, traceAddress, children.length, context))
    for (let i = children.length - 1; i >= 0; i--) {
      waiting.push({ ...children[i]!, traceAddress: [...traceAddress, i] })
    }
  }
}

const toTrace = (
  frame: Frame,
  value: Hex,
  traceAddress: number[],
  subtraces: number,
  { block, tx, position, receipt }: TraceContext,
): RpcTrace => {
  const place = {
    blockHash: block.hash,
    blockNumber: Number(block.number),
    subtraces,
    traceAddress,
    transactionHash: tx.hash,
    transactionPosition: position,
  }
  const type = frame.type.toLowerCase()
  const { from, to, input = '0x' } = frame
  if (type === 'selfdestruct' || type === 'suicide') {
    return { ...place, type: 'suicide', action: { address: from, refundAddress: to!, balance: value }, result: null }
  }
  const { gas = '0x0', gasUsed = '0x0' } = traceAddress.length === 0 ? gasOfTop(frame, block, tx, receipt) : frame
  const said = frame.error || (frame.revertReason ? REVERTED : undefined)
  const fault = said === undefined ? {} : { error: errorOf(said, to) }
  const isKept = fault.error === undefined || fault.error === REVERTED
  const output = frame.output ?? '0x'
  if (type.startsWith('create')) {
    const address = to ?? (traceAddress.length === 0 ? (receipt?.contractAddress as Hex | null | undefined) : undefined)
    const created = fault.error === undefined ? { address: address! } : {}
    return {
      ...place,
      ...fault,
      type: 'create',
      action: { creationMethod: type, from, gas, init: input, value },
      result: isKept ? { ...created, code: output, gasUsed } : null,
    }
  }
  return {
    ...place,
    ...fault,
    type: 'call',
    action: { callType: CALL_TYPES.has(type) ? type : 'call', from, to: to!, gas, input, value },
    result: isKept ? { gasUsed, output } : null,
  }
}

/** Gas of the top-level call without the intrinsic gas, which some nodes already subtract. */
const gasOfTop = (frame: Frame, block: RpcBlock, tx: RpcTransaction, receipt: TraceContext['receipt']) => {
  const limit = Number(tx.gas)
  const stated = Number(frame.gas ?? tx.gas)
  const intrinsic = stated < limit ? limit - stated : Math.min(limit, intrinsicGas(block, tx))
  const used = Number(receipt?.gasUsed ?? frame.gasUsed ?? '0x0')
  return { gas: toQuantity(limit - intrinsic), gasUsed: toQuantity(Math.max(0, used - intrinsic)) }
}

/** Rules since Istanbul; initialisation code costs gas since Shanghai. */
const intrinsicGas = (block: RpcBlock, tx: RpcTransaction): number => {
  const data = tx.input
  let gas = 21_000
  for (let i = 2; i < data.length; i += 2) gas += data.charCodeAt(i) === 48 && data.charCodeAt(i + 1) === 48 ? 4 : 16
  if (tx.to === null || tx.to === undefined) {
    gas += 32_000
    if (block.withdrawalsRoot !== undefined) gas += 2 * Math.ceil((data.length - 2) / 64)
  }
  if (Array.isArray(tx.accessList)) {
    for (const entry of tx.accessList) gas += 2_400 + 1_900 * (entry?.storageKeys?.length ?? 0)
  }
  if (Array.isArray(tx.authorizationList)) gas += 25_000 * tx.authorizationList.length
  return gas
}

const toFrame = (value: unknown, at: string, limits: Limits): Frame => {
  if (!isObject(value) || typeof value.type !== 'string')
    throw inconsistent(`${at} has no call in it: ${describeValue(value)}`)
  checkShape(FRAME, '', value, at, limits)
  const { calls } = value
  if (calls !== undefined && calls !== null && !Array.isArray(calls)) {
    throw inconsistent(`${at} has no list of inner calls: ${describeValue(calls)}`)
  }
  return value as unknown as Frame
}

const isOf = (top: Frame, tx: RpcTransaction): boolean =>
  isSame(top.from, tx.from) &&
  isSame(top.input ?? '0x', tx.input) &&
  (tx.to === null || tx.to === undefined ? /^create/i.test(top.type) : isSame(top.to, tx.to))

const isSame = (a: unknown, b: Hex) => typeof a === 'string' && (a === b || a.toLowerCase() === b.toLowerCase())

/** Removes idle calls of precompiles, which only geth and anvil report. */
const withoutIdleCalls = (traces: RpcTrace[]): RpcTrace[] => {
  if (!traces.some(isIdleCall)) return traces
  const kept: RpcTrace[] = []
  /** The current trace and its ancestors, outermost first; children kept, children removed. */
  const path: { told: UnrewardedTrace; trace: UnrewardedTrace; came: number; leftOut: number }[] = []
  for (const told of traces) {
    if (told?.type === 'reward') {
      kept.push(told)
      continue
    }
    const address = told?.traceAddress
    if (!Array.isArray(address) || address.length > path.length) return traces
    path.length = address.length
    const parent = path.at(-1)
    const trace = { ...told }
    if (parent !== undefined) {
      const above = parent.told.traceAddress
      if (address.at(-1) !== parent.came++ || above.some((it, i) => it !== address[i])) return traces
      if (isIdleCall(told)) {
        parent.leftOut++
        parent.trace.subtraces--
        continue
      }
      trace.traceAddress = [...parent.trace.traceAddress, address.at(-1)! - parent.leftOut]
    }
    path.push({ told, trace, came: 0, leftOut: 0 })
    kept.push(trace)
  }
  return kept
}

/** Whether a contract calls a precompile without value. Before its fork, that uses no gas. */
const isIdleCall = (trace: RpcTrace): boolean => {
  if (trace?.type !== 'call' || !(trace.traceAddress?.length > 0) || trace.subtraces !== 0) return false
  const number = precompileNumber(trace.action?.to)
  if (number === undefined || !/^0x0*$/.test(trace.action.value)) return false
  return number <= 9 || trace.error !== undefined || !/^0x0*$/.test(trace.result?.gasUsed ?? '0x0')
}

const precompileNumber = (address: Hex | null | undefined): number | undefined => {
  if (typeof address !== 'string' || !address.startsWith(MANY_ZEROS)) return undefined
  const number = Number.parseInt(address.slice(MANY_ZEROS.length), 16)
  return (number >= 1 && number <= 0x11) || number === 0x100 ? number : undefined
}

const MANY_ZEROS = `0x${'0'.repeat(36)}`

const errorOf = (said: string, to: Hex | null | undefined): string => {
  const error = toTraceError(said)
  return KNOWN.has(error) || precompileNumber(to) === undefined ? error : BUILT_IN_FAILED
}

const unify = (
  trace: Record<string, unknown>,
  action: Record<string, unknown>,
  block: Pick<RpcBlock, 'hash' | 'number'>,
): RpcTrace => {
  const changes: Record<string, unknown> = {}
  const { type, error, result } = trace
  if (trace.blockHash === undefined || trace.blockHash === null) changes.blockHash = block.hash
  if (trace.blockNumber === undefined || trace.blockNumber === null) changes.blockNumber = Number(block.number)
  else if (typeof trace.blockNumber === 'string') changes.blockNumber = Number(trace.blockNumber)
  if (typeof trace.transactionPosition === 'string') changes.transactionPosition = Number(trace.transactionPosition)
  if (result === undefined) changes.result = null
  if (error === null || error === '') changes.error = undefined
  else if (typeof error === 'string') {
    const said = errorOf(error, action.to as Hex)
    if (said !== error) changes.error = said
    if (said !== REVERTED && result !== null) changes.result = null
    else if (isObject(result) && 'address' in result) {
      const { address: _, ...kept } = result
      changes.result = kept
    }
  }
  if (type === 'call') {
    const added: Record<string, unknown> = {}
    if (action.value === undefined || action.value === null) added.value = '0x0'
    if (action.callType === undefined || action.callType === null) added.callType = 'call'
    if (added.value !== undefined || added.callType !== undefined) changes.action = { ...action, ...added }
  }
  for (const _ in changes) {
    const changed = { ...trace, ...changes }
    if (changed.error === undefined) delete changed.error
    return changed as unknown as RpcTrace
  }
  return trace as unknown as CallTrace | CreateTrace | SuicideTrace
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const CALL_TYPES = new Set(['call', 'callcode', 'delegatecall', 'staticcall'])
const REVERTED = 'Reverted'
const OUT_OF_GAS = 'Out of gas'
const BUILT_IN_FAILED = 'Built-in failed'

const ERRORS = new Map([
  ['execution reverted', REVERTED],
  [REVERTED, REVERTED],
  ['out of gas', OUT_OF_GAS],
  [OUT_OF_GAS, OUT_OF_GAS],
])

/** Errors of geth, Erigon, revm (Reth, anvil), Nethermind and Besu. The first match wins. */
const ERROR_PATTERNS: [pattern: RegExp, error: string][] = [
  [/^(execution )?revert(ed)?\b/i, REVERTED],
  [/out ?of ?gas|oog$|^gas uint64 overflow/i, OUT_OF_GAS],
  [/^(invalid (opcode|instruction)|bad instruction|opcodenotfound|invalidfeopcode|notactivated)/i, 'Bad instruction'],
  [/^(invalid|bad) ?jump/i, 'Bad jump destination'],
  [/^stack ?underflow/i, 'Stack underflow'],
  [/^(stack limit reached|stack ?overflow|out of stack)/i, 'Out of stack'],
  [/write protection|static ?call|static context|insidestatic/i, 'Mutable Call In Static Context'],
  [/^(return data out of bounds|outofoffset|out of bounds|access violation|invalid return data)/i, 'Out of bounds'],
  [/^(precompiled? ?(failed|error)|built-in failed|invalid input length)/i, BUILT_IN_FAILED],
  [/^(contract address collision|createcollision)/i, 'Contract address collision'],
  [/^(insufficient balance|outoffunds?)/i, 'Insufficient balance for transfer'],
  [/^(max call depth|call depth exceeded|calltoodeep)/i, 'Call depth exceeded'],
  [/^(max initcode size|createinitcodesizelimit)/i, 'Initcode size limit exceeded'],
  [/^(max code size|code size limit|createcontractsizelimit)/i, 'Code size limit exceeded'],
  [/^(invalid code|createcontractstartingwithef)/i, 'Invalid code prefix 0xEF'],
  [/^nonce ?(uint64 )?overflow/i, 'Nonce overflow'],
]

const KNOWN = new Set([...ERRORS.values(), ...ERROR_PATTERNS.map(([, error]) => error)])
