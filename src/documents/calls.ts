import type { RawBlock } from '../chain/wire.ts'
import type { DecodedCall } from '../decode/calls.ts'
import type { Revert } from '../decode/errors.ts'
import type { DecodedArg, Signature } from '../decode/types.ts'
import { createFailures, type DecodedTrace, hasFailed, revertOf } from './traces.ts'

/** A call of a function, in the order of the block's execution. */
export interface BlockCall {
  /** Place of the transaction in its block. */
  tx: number
  /** Place among the block's traces that are kept; null for a transaction's own call where these are not known. */
  trace: number | null
  from: string
  to: string
  signature: Signature
  /** As the node tells it. */
  value: unknown
  callType: string
  /** Calls above it. */
  depth: number
  /** Null where the call data could not be decoded. */
  args: DecodedArg[] | null
  /** What is wrong with the call data, also where it decodes. */
  error: string | null
  /** It failed, or a call above it did. */
  reverted: boolean
  /** What the contract said where it failed itself, as far as that is known. */
  revert: Revert | undefined
  /** As those of a decoded log. */
  decimals?: number | null
}

/** A call before it is decoded. */
type UndecodedCall = Omit<BlockCall, 'signature' | 'args' | 'error' | 'decimals'> & { input: string }

/** All calls of a block that name a function: those in its traces, or where it has none those that its transactions are. */
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

/** The calls of a block with what they mean; `traces` are its steps, where it has any, `decode` is told the place of the transaction, too, and `signatureOf` gives the same object for equal signatures. */
export const blockCalls = (
  raw: RawBlock,
  traces: readonly DecodedTrace[] | undefined,
  decode: (to: string, input: string, tx: number) => DecodedCall,
  signatureOf: (call: DecodedCall) => Signature,
): BlockCall[] =>
  // By name, since copying what is left over takes longer than to decode it.
  callsIn(raw, traces).map(({ tx, trace, from, to, input, value, callType, depth, reverted, revert }) => {
    const decoded = decode(to, input, tx)
    const { args, error } = decoded
    const signature = signatureOf(decoded)
    return { tx, trace, from, to, signature, value, callType, depth, args, error, reverted, revert }
  })

/** Of a block's steps those alone that call functions: the calls then stand at their places among these. */
export const keepCalls = (
  traces: readonly DecodedTrace[],
  calls: readonly BlockCall[],
): { traces: DecodedTrace[]; calls: BlockCall[] } => ({
  traces: calls.flatMap(({ trace }) => (trace === null ? [] : traces[trace]!)),
  calls: calls.map((call, place) => (call.trace === null ? call : { ...call, trace: place })),
})

const namesFunction = (input: string): boolean => input.length >= 10
