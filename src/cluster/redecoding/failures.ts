import type { OwnAbi } from '../../decode/declarations.ts'
import { errorsOf } from '../../decode/reverts.ts'
import { selectorOf } from '../../decode/signature.ts'
import { originsOf, returnedBy, type ExecutionStep as TraceStep } from '../../documents/failures.ts'
import { callId } from '../../documents/show.ts'
import { isKnownRevert, type KnownRevert, UNKNOWN_ADDRESS } from '../../engine/redecode/failures.ts'
import { blockOf, placeOf } from '../../engine/schema.ts'
import type { ClusterHit } from '../hits/cluster-hit.ts'
import { hitSource, type Quantity } from './compare.ts'
import type { Step } from './redecoder.ts'

/** Adds reasons to failed transactions, steps and calls, where an ABI declares the error. */
export const createFailureComparison = (abi: OwnAbi) => {
  const selectors = new Set(errorsOf(abi).map(selectorOf))
  const concerns = (data: string | undefined): data is string => data !== undefined && selectors.has(data.slice(0, 10))

  return async (hits: { txs: readonly ClusterHit[]; traces: readonly ClusterHit[] }, step: Step) => {
    const { finder, visible, decoding, beginningOf, changes } = step
    const decode = (data: string, address: string | undefined, block: number, tx: number) => {
      const revert = decoding.revert(address ?? UNKNOWN_ADDRESS, data, beginningOf(block, tx))
      return isKnownRevert(revert) ? revert : undefined
    }
    const note = (hit: ClusterHit, { name, reason }: KnownRevert) => {
      changes.set(hit, 'revertReason', reason)
      changes.set(hit, 'revertName', name)
    }
    for (const hit of hits.txs) {
      const { revertData, revertAddress } = hitSource(hit) as { revertData?: string; revertAddress?: string }
      if (!concerns(revertData)) continue
      const now = decode(revertData, revertAddress?.toLowerCase(), blockOf(hit.position), placeOf(hit.position))
      if (!now) continue
      changes.set(hit, 'error', now.reason)
      note(hit, now)
    }

    const failed = hits.traces
      .map(hit => ({ hit, source: hitSource(hit) as unknown as TraceSource }))
      // Callers pass on the same data. Most failures are not of this ABI.
      .filter(({ source }) => concerns(returnedBy(traceStep(source)).data))
    const transactions = [...new Set(failed.map(({ source }) => source.transactionHash))]
    const calls = await finder.byId(
      'call',
      failed.map(({ source }) => callOf(source)),
      visible,
    )
    const began = begunAt(await finder.stepsOf(transactions, visible))
    for (const { hit, source } of failed) {
      const { data } = returnedBy(traceStep(source))
      const { address } = returnedBy(began(hit.position) ?? traceStep(source))
      const now = decode(data!, address?.toLowerCase(), blockOf(hit.position), Number(source.transactionPosition.raw))
      if (!now) continue
      note(hit, now)
      const call = calls.get(callOf(source))
      if (call) note(call, now)
    }
  }
}

/** Step in which the failure of a step began, derived from all steps of its transaction. */
const begunAt = (hits: readonly ClusterHit[]): ((position: number) => TraceStep | undefined) => {
  const found = new Map<number, TraceStep>()
  const all = hits.map(hit => ({ hit, source: hitSource(hit) as unknown as TraceSource }))
  for (const some of Map.groupBy(all, ({ source }) => source.transactionHash).values()) {
    const steps = some.map(({ source }) => traceStep(source))
    const origins = originsOf(steps)
    for (const [i, { hit }] of some.entries()) found.set(hit.position, steps[origins[i] ?? i]!)
  }
  return position => found.get(position)
}

const callOf = ({ transactionHash, traceAddress }: TraceSource): string => callId(transactionHash, traceAddress)

/** Documents show null for a step without an error. */
const traceStep = ({ error, ...source }: TraceSource): TraceStep => ({ ...source, error: error ?? undefined })

interface TraceSource extends Omit<TraceStep, 'error'> {
  error: string | null
  transactionHash: string
  transactionPosition: Quantity
}
