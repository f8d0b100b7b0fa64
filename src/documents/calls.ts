import type { RawBlock } from '../chain/wire.ts'
import type { DecodedCall } from '../decode/calls.ts'
import type { Revert } from '../decode/reverts.ts'
import type { DecodedArg, Signature } from '../decode/types.ts'
import { createFailures, type DecodedTrace, hasFailed, revertOf } from './traces.ts'

export interface BlockCall {
  /** Place of the transaction in its block. */
  tx: number
  /** Place among the block's stored traces; null for a transaction's own call without traces. */
  trace: number | null
  from: string
  to: string
  signature: Signature
  /** As it comes from the node. */
  value: unknown
  callType: string
  /** Number of calls above it. */
  depth: number
  /** Null if the call data could not be decoded. */
  args: DecodedArg[] | null
  /** A fault of the call data, also if they decode. */
  error: string | null
  /** The call, or one above it, failed. */
  reverted: boolean
  /** The error that the contract itself returned, if it is known. */
  revert: Revert | undefined
  decimals?: number | null
}

type UndecodedCall = Omit<BlockCall, 'signature' | 'args' | 'error' | 'decimals'> & { input: string }

/** All function calls of a block: from its traces, or else its transactions. */
const callsIn = ({ block, receipts }: RawBlock, traces: readonly DecodedTrace[] | undefined): UndecodedCall[] => {
  const calls: UndecodedCall[] = []
  if (traces === undefined) {
    for (const [i, { from, to, input, value, transactionIndex }] of block.transactions.entries()) {
      if (!to || !namesFunction(input)) continue
      const [tx, reverted] = [Number(transactionIndex), hasFailed(receipts[i]!)]
      calls.push({ tx, trace: null, from, to, input, value, callType: 'call', depth: 0, reverted, revert: undefined })
    }
    return calls
  }
  const failures = createFailures()
  for (const [place, trace] of traces.entries()) {
    if (trace.type === 'reward') continue
    const reverted = failures(trace)
    if (trace.type !== 'call' || !namesFunction(trace.action.input)) continue
    const { from, to, input, value, callType } = trace.action
    const depth = trace.traceAddress.length
    const [tx, revert] = [trace.transactionPosition, revertOf(trace)]
    calls.push({ tx, trace: place, from, to, input, value, callType, depth, reverted, revert })
  }
  return calls
}

/** The decoded calls of a block. `signatureOf` gives one object for equal signatures. */
export const blockCalls = (
  raw: RawBlock,
  traces: readonly DecodedTrace[] | undefined,
  decode: (to: string, input: string, tx: number) => DecodedCall,
  signatureOf: (call: DecodedCall) => Signature,
): BlockCall[] =>
  // By name: to copy the rest of an object takes longer than to decode it.
  callsIn(raw, traces).map(({ tx, trace, from, to, input, value, callType, depth, reverted, revert }) => {
    const decoded = decode(to, input, tx)
    const { args, error } = decoded
    const signature = signatureOf(decoded)
    return { tx, trace, from, to, signature, value, callType, depth, args, error, reverted, revert }
  })

/** The traces that call functions, and the calls with their places among these. */
export const keepCalls = (
  traces: readonly DecodedTrace[],
  calls: readonly BlockCall[],
): { traces: DecodedTrace[]; calls: BlockCall[] } => ({
  traces: calls.flatMap(({ trace }) => (trace === null ? [] : traces[trace]!)),
  calls: calls.map((call, place) => (call.trace === null ? call : { ...call, trace: place })),
})

const namesFunction = (input: string): boolean => input.length >= 10
