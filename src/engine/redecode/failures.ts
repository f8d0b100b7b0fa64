import type { OwnAbi } from '../../decode/declarations.ts'
import type { Decoding } from '../../decode/decoding.ts'
import { errorsOf, type Revert } from '../../decode/reverts.ts'
import { selectorOf } from '../../decode/signature.ts'
import { originsOf, returnedBy } from '../../documents/failures.ts'
import { createStored, type StoredStep } from '../documents/record-decoder.ts'
import { valueReader } from '../documents/record-values.ts'
import { newCallRecord, readCall } from '../documents/records/call.ts'
import type { NamedKind, RevisionBuilder, Spot } from '../index/redecode-patch.ts'
import { endOrdinal, ordinalOfPosition, positionOfOrdinal } from '../query/fields/ordinals.ts'
import type { ReadHeader, StoreReader } from '../reader.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import type { Candidates } from './candidates.ts'
import { createBeginnings } from './comparison.ts'

/** Compares failed transactions and steps; records those whose reason is new or differs. */
export const createStoredFailureComparison = (reader: StoreReader, abi: OwnAbi) => {
  const stored = createStored(reader)
  const beginningOf = createBeginnings(stored)
  const selectors = new Set(errorsOf(abi).map(selectorOf))
  const callAt = createCallFinder(reader)
  const tx = {
    error: readTxField(reader, 'error'),
    revertReason: readTxField(reader, 'revertReason'),
    revertName: readTxField(reader, 'revertName'),
    data: readTxField(reader, 'revertData'),
    address: readTxField(reader, 'revertAddress'),
  }

  const concerns = (data: string | undefined): data is string => data !== undefined && selectors.has(data.slice(0, 10))

  return ({ header, ordinals }: Candidates, decoding: Decoding, revision: RevisionBuilder) => {
    // Created per call, since blocks may have been replaced.
    const begunAt = createOriginReader(stored.step)
    const decode = (data: string | undefined, address: string | undefined, block: number, place: number) => {
      if (!concerns(data)) return undefined
      const revert = decoding.revert(address ?? UNKNOWN_ADDRESS, data, beginningOf(block, place))
      return isKnownRevert(revert) ? revert : undefined
    }
    const note = (
      kind: NamedKind,
      at: Spot,
      was: Pick<StoredStep, 'revertReason' | 'revertName'>,
      now: KnownRevert,
    ) => {
      revision.name(kind, 'revertReason', at, was.revertReason ?? null, now.reason)
      revision.name(kind, 'revertName', at, was.revertName ?? null, now.name)
    }

    for (const ordinal of ordinals.tx) {
      const position = positionOfOrdinal(header, 'tx', ordinal)
      const [data, address] = [tx.data(position), tx.address(position)]
      const contract = typeof address === 'number' ? `0x${reader.addressDigits(address)}` : undefined
      const now = decode(data as string | undefined, contract, blockOf(position), placeOf(position))
      if (!now) continue
      const idOf = (read: (position: number) => unknown) => read(position) as number | undefined
      revision.name('tx', 'error', { position, ordinal }, idOf(tx.error) ?? null, now.reason)
      const was = { revertReason: idOf(tx.revertReason), revertName: idOf(tx.revertName) }
      note('tx', { position, ordinal }, was, now)
    }
    for (const ordinal of ordinals.trace) {
      const position = positionOfOrdinal(header, 'trace', ordinal)
      const step = stored.step(position)!
      // Reasons that are passed on are equal; most failures do not concern this ABI.
      const { data } = returnedBy(step)
      if (!concerns(data)) continue
      const now = decode(data, returnedBy(begunAt(position)).address, blockOf(position), step.tx)
      if (!now) continue
      note('trace', { position, ordinal }, step, now)
      const call = callAt(header, position)
      if (call !== undefined)
        note('call', { position: call, ordinal: ordinalOfPosition(header, 'call', call) }, step, now)
    }
  }
}

export type KnownRevert = Revert & { name: string; reason: string }
export const isKnownRevert = (revert: Revert | null): revert is KnownRevert => revert !== null && revert.reason !== null

export const UNKNOWN_ADDRESS = `0x${'0'.repeat(40)}`

const readTxField = ({ records }: StoreReader, field: string) => valueReader('tx', field, records)!

/** Reads the step where a failure began, which requires all steps of its transaction. */
const createOriginReader = (read: (position: number) => StoredStep | undefined) => {
  let [block, first] = [-1, 0]
  let steps: StoredStep[] = []
  let origins: ReturnType<typeof originsOf> = []

  const load = (position: number) => {
    block = blockOf(position)
    first = placeOf(position)
    const step = read(position)!
    steps = [step]
    const among = (place: number): StoredStep | undefined => {
      const other = place < 0 ? undefined : read(positionOf(block, place))
      return other?.tx === step.tx ? other : undefined
    }
    for (let before = among(first - 1); before; before = among(first - 1)) {
      steps.push(before)
      first--
    }
    steps.reverse()
    for (let next = among(first + steps.length); next; next = among(first + steps.length)) steps.push(next)
    origins = originsOf(steps)
  }

  return (position: number): StoredStep => {
    const inside = placeOf(position) - first
    if (blockOf(position) !== block || inside < 0 || inside >= steps.length) load(position)
    const index = placeOf(position) - first
    return steps[origins[index] ?? index]!
  }
}

/** Finds the call of a step by bisection, as both ascend; undefined if it calls no function. */
const createCallFinder = ({ records }: StoreReader) => {
  const call = newCallRecord()
  return (header: ReadHeader, position: number): number | undefined => {
    const [block, place] = [blockOf(position), placeOf(position)]
    const index = block - header.first
    let [low, high] = [0, endOrdinal(header, 'call', index) - endOrdinal(header, 'call', index - 1) - 1]
    while (low <= high) {
      const middle = (low + high) >>> 1
      const { bytes, start } = records.find('call', positionOf(block, middle))!
      readCall(bytes, start, call)
      if (call.trace === place) return positionOf(block, middle)
      if (call.trace < place) low = middle + 1
      else high = middle - 1
    }
    return undefined
  }
}
