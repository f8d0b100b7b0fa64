import { createEventDecoder, createFunctionDecoder } from '../../decode/abi-decoder.ts'
import { createCallSignatures } from '../../decode/calls.ts'
import type { OwnAbi } from '../../decode/declarations.ts'
import type { Decoding } from '../../decode/decoding.ts'
import type { DecodedArg, Signature } from '../../decode/types.ts'
import { createStored } from '../documents/record-decoder.ts'
import type { RevisionBuilder } from '../index/redecode-patch.ts'
import { ordinalOfPosition, positionOfOrdinal } from '../query/fields/ordinals.ts'
import type { StoredSignature, StoreReader } from '../reader.ts'
import { blockOf, PLACES_PER_BLOCK, positionOf } from '../schema.ts'
import { abiNames, type Candidates, decodes } from './candidates.ts'

/** Compares documents with the ABI, and records in `revision` which decode differently now. */
export const createComparison = (reader: StoreReader, abi: OwnAbi) => {
  const stored = createStored(reader)
  const argumentsIn = createArgumentsDecoder()
  const callSignature = createCallSignatures()
  const beginningOf = createBeginnings(stored)
  const addressOf = (id: number): string => `0x${reader.addressDigits(id)}`
  const names = abiNames(abi)

  return ({ header, ordinals }: Candidates, decoding: Decoding, revision: RevisionBuilder) => {
    for (const ordinal of ordinals.log) {
      const position = positionOfOrdinal(header, 'log', ordinal)
      const log = stored.log(position)!
      const { topics, data } = log
      if (!names.topics.has(topics[0]!)) continue
      const was = reader.signature(log.signature)
      const now = decoding.log({ address: addressOf(log.address), topics, data }, position)
      if (isBetter(now.signature, was))
        revision.log({ position, ordinal }, log, { signature: was, args: argumentsIn.log(was, topics, data) }, now)
    }
    for (const ordinal of ordinals.call) {
      const position = positionOfOrdinal(header, 'call', ordinal)
      const call = stored.call(position)!
      const { input, tx, traceAddress } = call
      if (!names.selectors.has(input.slice(0, 10))) continue
      const to = addressOf(call.to)
      const was = reader.signature(call.signature)
      const at = beginningOf(blockOf(position), tx)
      const decoded = decoding.call(to, input, at)
      const signature = callSignature(decoded)
      if (isBetter(signature, was)) {
        const before = { signature: was, args: argumentsIn.call(was, input) }
        revision.call({ position, ordinal }, call, before, { signature, args: decoded.args })
      }
      // A transaction calls the same function as its root call.
      const method = traceAddress.length === 0 ? decoding.methodOf(input, to, at) : null
      if (method === null || isLessSure(surenessOf(signature), surenessOf(was))) continue
      const owner = positionOf(blockOf(position), tx)
      const place = { position: owner, ordinal: ordinalOfPosition(header, 'tx', owner) }
      revision.name('tx', 'method', place, stored.method(owner), method)
    }
  }
}

/** Position that a transaction's decoding refers to: an upgrade takes effect after its own. */
export const createBeginnings =
  (stored: Pick<ReturnType<typeof createStored>, 'upgradeFrom'>) =>
  (block: number, tx: number): number =>
    stored.upgradeFrom(block, tx) ?? positionOf(block + 1, 0)

export interface Sureness {
  /** Whether it decodes its documents. */
  decodes: boolean
  probability: number
}

export const surenessOf = (signature: Signature): Sureness => ({
  decodes: decodes(signature),
  probability: signature.probability,
})

/** A declaration that newly decodes always wins; otherwise the probability decides. */
export const isLessSure = (now: Sureness, was: Sureness): boolean => {
  if (now.decodes && !was.decodes) return false
  return now.probability < was.probability || (now.probability === was.probability && was.decodes && !now.decodes)
}

const isBetter = (now: Signature, was: Signature): boolean =>
  now.event !== null && now.key !== was.key && !isLessSure(surenessOf(now), surenessOf(was))

/** Decodes the arguments that were indexed, by the declaration that was used then. */
const createArgumentsDecoder = () => {
  const logs = new Map<number, ReturnType<typeof createEventDecoder>>()
  const calls = new Map<number, ReturnType<typeof createFunctionDecoder>>()
  const decoderOf = <T>(
    known: Map<number, T>,
    { id, event }: StoredSignature,
    create: (event: NonNullable<Signature['event']>) => T,
  ): T => {
    let decoder = known.get(id)
    if (!decoder) {
      decoder = create(event!)
      known.set(id, decoder)
    }
    return decoder
  }
  return {
    log(signature: StoredSignature, topics: readonly string[], data: string): DecodedArg[] | null {
      if (!signature.event || signature.error !== null) return null
      return decoderOf(logs, signature, createEventDecoder)(topics, data).args
    },
    call(signature: StoredSignature, input: string): DecodedArg[] | null {
      if (!signature.event) return null
      return decoderOf(calls, signature, createFunctionDecoder)(input).args
    },
  }
}

/** Places of upgrade logs in a block, ascending; also of blocks without local documents. */
export const createUpgrades = (reader: Pick<StoreReader, 'prepare'>): ((block: number) => number[]) => {
  const upgrades = reader.prepare('SELECT pos FROM upgrade WHERE pos BETWEEN ? AND ? ORDER BY pos').pluck()
  return block => upgrades.all(positionOf(block, 0), positionOf(block, PLACES_PER_BLOCK - 1)) as number[]
}
