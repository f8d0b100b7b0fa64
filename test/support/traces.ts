import type { Hex, RawBlock, RpcTrace } from '../../src/chain/wire.ts'
import { hex } from './pack.ts'

/** One call as a program makes it; what is left out is as in a plain call of nothing. */
export interface Act {
  /** `call`, `callcode`, `delegatecall`, `staticcall`, `create`, `create2` or `suicide`. */
  kind: string
  to: Hex
  value?: Hex
  gas?: number
  gasUsed?: number
  input?: Hex
  output?: Hex
  error?: string
  acts?: Act[]
}

const SENDER = `0x${'5e'.repeat(20)}`

/**
 * The traces of a block whose transactions do these acts, one each, as `trace_block` gives them. The block's transactions and
 * receipts are changed to be theirs: sender, receiver, input, and gas above that of the top-level call by what `makeChain` spends on
 * a transaction, 21,000.
 */
export const traceBlock = (raw: RawBlock, tops: readonly Act[]): RpcTrace[] => {
  const traces: RpcTrace[] = []
  const { block, receipts } = raw
  tops.forEach((top, position) => {
    const tx = block.transactions[position]!
    const isCreate = top.kind.startsWith('create')
    const cost = 21_000 + (isCreate ? 32_000 : 0) + 16 * (((top.input?.length ?? 2) - 2) / 2)
    Object.assign(tx, {
      from: SENDER,
      to: isCreate ? null : top.to,
      value: top.value ?? '0x0',
      input: top.input ?? '0x',
      gas: hex(cost + (top.gas ?? 0)),
    })
    Object.assign(receipts[position]!, {
      gasUsed: hex(cost + (top.gasUsed ?? 0)),
      contractAddress: isCreate ? top.to : null,
    })
    const place = { blockHash: block.hash, blockNumber: Number(block.number), transactionHash: tx.hash }
    const add = (act: Act, from: Hex, inherited: Hex, traceAddress: number[]) => {
      const { kind, to, gas = 0, gasUsed = 0, input = '0x', output = '0x', error, acts = [] } = act
      const value = kind === 'delegatecall' ? inherited : kind === 'staticcall' ? '0x0' : (act.value ?? '0x0')
      const head = { ...place, transactionPosition: position, subtraces: acts.length, traceAddress }
      const fault = error === undefined ? {} : { error }
      const isKept = error === undefined || error === 'Reverted'
      const used = hex(gasUsed)
      if (kind === 'suicide') {
        traces.push({
          ...head,
          type: 'suicide',
          action: { address: from, refundAddress: to, balance: value },
          result: null,
        })
      } else if (kind.startsWith('create')) {
        traces.push({
          ...head,
          ...fault,
          type: 'create',
          action: { creationMethod: kind, from, gas: hex(gas), init: input, value },
          result: isKept ? { ...(error === undefined && { address: to }), code: output, gasUsed: used } : null,
        })
      } else {
        traces.push({
          ...head,
          ...fault,
          type: 'call',
          action: { callType: kind, from, to, gas: hex(gas), input, value },
          result: isKept ? { gasUsed: used, output } : null,
        })
      }
      const self = kind === 'delegatecall' || kind === 'callcode' ? from : to
      for (const [i, inner] of acts.entries()) add(inner, self, value, [...traceAddress, i])
    }
    add(top, SENDER, '0x0', [])
  })
  return traces
}

/** The same block as geth's callTracer tells it; empty fields are left out as geth leaves them out. */
export const callTrees = (
  raw: RawBlock,
  traces: readonly RpcTrace[],
): { txHash: Hex; result: Record<string, unknown> }[] => {
  const trees: { txHash: Hex; result: Record<string, unknown> }[] = []
  let path: Record<string, unknown>[] = []
  for (const trace of traces) {
    if (trace.type === 'reward') continue
    const frame = toFrame(raw, trace)
    const depth = trace.traceAddress.length
    const parent = path[depth - 1]
    if (parent === undefined) trees.push({ txHash: trace.transactionHash, result: frame })
    else if (Array.isArray(parent.calls)) parent.calls.push(frame)
    else parent.calls = [frame]
    path = [...path.slice(0, depth), frame]
  }
  return trees
}

const toFrame = (raw: RawBlock, trace: Exclude<RpcTrace, { type: 'reward' }>): Record<string, unknown> => {
  if (trace.type === 'suicide') {
    const { address, refundAddress, balance } = trace.action
    return {
      from: address,
      gas: '0x0',
      gasUsed: '0x0',
      to: refundAddress,
      input: '0x',
      value: balance,
      type: 'SELFDESTRUCT',
    }
  }
  const isTop = trace.traceAddress.length === 0
  const tx = raw.block.transactions[trace.transactionPosition]!
  const type = trace.type === 'create' ? trace.action.creationMethod! : trace.action.callType
  const to = trace.type === 'create' ? trace.result?.address : trace.action.to
  const output = trace.type === 'create' ? trace.result?.code : trace.result?.output
  return {
    from: trace.action.from,
    gas: isTop ? tx.gas : trace.action.gas,
    gasUsed: isTop ? raw.receipts[trace.transactionPosition]!.gasUsed : (trace.result?.gasUsed ?? trace.action.gas),
    ...(to !== undefined && { to }),
    input: trace.type === 'create' ? trace.action.init : trace.action.input,
    ...(output !== undefined && output !== '0x' && { output }),
    ...(trace.error !== undefined && { error: GETH_ERRORS[trace.error] ?? trace.error }),
    ...(type !== 'staticcall' && { value: trace.action.value }),
    type: type.toUpperCase(),
  }
}

const GETH_ERRORS: Record<string, string> = {
  Reverted: 'execution reverted',
  'Out of gas': 'out of gas',
  'Bad instruction': 'invalid opcode: opcode 0xc not defined',
  'Bad jump destination': 'invalid jump destination',
  'Stack underflow': 'stack underflow (0 <=> 2)',
  'Out of stack': 'stack limit reached 1024 (1023)',
  'Out of bounds': 'return data out of bounds',
  'Mutable Call In Static Context': 'write protection',
  'Contract address collision': 'contract address collision',
  'Insufficient balance for transfer': 'insufficient balance for transfer',
}
export const FAILURES = Object.keys(GETH_ERRORS)
