import { createEventDecoder, type EventDecoder } from '../../decode/abi-decoder.ts'
import { elementaryType } from '../../decode/signature.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { memoize, rememberedBy } from '../../lib/caches.ts'
import type { eventMapping as mapping } from '../../mapping/documents/event.ts'
import { unpackAbi } from '../forms/abi-words.ts'
import { piece } from '../forms/json.ts'
import type { StoredSignature } from '../reader.ts'
import { type ShowContext, writeTxHash } from './context.ts'
import {
  createDecodedShow,
  type DecodedArguments,
  MAX_CACHED_DECLARATIONS,
  prepareDeclaration,
  type ShownDeclaration,
} from './decoded.ts'
import { createLogAt, logEnvelope, logFields } from './log.ts'
import { sourceWriter, type WriteBy, writeAlways } from './plan.ts'
import { type RowShape, writeArgumentCells, writeCell } from './row.ts'
import type { Show } from './source-writers.ts'

interface EventDeclaration extends ShownDeclaration {
  signature: StoredSignature
  error: Uint8Array
  probability: Uint8Array
  decode?: EventDecoder
}

export const createEventShow = (context: ShowContext): Show => {
  const { reader, addresses } = context
  const at = createLogAt(context)
  const fields = logFields(at, context)
  const show = createDecodedShow(addresses)
  let by: EventDeclaration
  /** Decoded on demand. */
  let decoded: DecodedArguments | undefined

  /** Null if logs of this signature are no events. */
  const declarationOf = memoize(MAX_CACHED_DECLARATIONS, (id: number): EventDeclaration | null => {
    const signature = reader.signature(id)
    const { event, error, probability } = signature
    return (
      event && {
        ...prepareDeclaration(event, error === null && !event.anonymous),
        signature,
        error: piece(JSON.stringify(error)),
        probability: piece(JSON.stringify(probability)),
      }
    )
  })

  const locate = (): boolean => {
    const { topicsStart, topicsEnd } = at.record
    return (
      by.args !== undefined &&
      show.located.locate(by.args, true, at.bytes, topicsStart, topicsEnd) &&
      show.located.locate(by.args, false, at.bytes, topicsEnd, at.end)
    )
  }

  const text = (start: number, end: number): string => unpackAbi(at.bytes.subarray(start, end), reader.addressDigits)

  const decode = (): DecodedArguments => {
    const { topic, event, error } = by.signature
    if (error !== null) return { args: null, error }
    if (locate()) return 'located'
    const { topicsStart, topicsEnd } = at.record
    const topics = topic === null ? [] : [topic]
    const rest = text(topicsStart, topicsEnd)
    for (let from = 2; from < rest.length; from += 64) topics.push(`0x${rest.slice(from, from + 64)}`)
    by.decode ??= createEventDecoder(event!)
    return by.decode(topics, text(topicsEnd, at.end))
  }
  const decodedOnce = (): DecodedArguments => (decoded ??= decode())

  const own = {
    event: () => writeAlways(out => out.bytes(by.name)),
    args: plan => {
      const list = show.list(plan)
      return out => list(out, by, decodedOnce(), at.record.decimals)
    },
    logIndex: fields.logIndex,
    transactionIndex: fields.transactionIndex,
    transactionHash: fields.transactionHash,
    address: fields.address,
    blockHash: fields.blockHash,
    blockNumber: fields.blockNumber,
    error: () => writeAlways(out => out.bytes(by.error)),
    str: () => writeAlways(out => show.text(out, by, decodedOnce())),
    timestamp: fields.timestamp,
    probability: () => writeAlways(out => out.bytes(by.probability)),
  } satisfies Record<keyof typeof mapping.fields, WriteBy>

  /** Fields as cells of a row. */
  const cells: Partial<Record<string, (out: ByteWriter) => void>> = {
    blockNumber: out => out.decimal(at.block.stored.number),
    timestamp: out => out.bytes(at.block.datetime, 1, at.block.datetime.length - 1),
    transactionHash: out => writeTxHash(out, at.block, at.record.tx),
    transactionIndex: out => out.decimal(at.record.tx),
    logIndex: out => out.decimal(at.place),
    blockHash: out => out.bytes(at.block.hash),
    address(out) {
      out.ascii('0x')
      addresses.checksummed(out, at.record.address)
    },
  }

  return {
    row(shape) {
      const fields = shape.fields.flatMap(name => cells[name] ?? [])
      if (fields.length < shape.fields.length) return undefined
      const fits = rememberedBy((declaration: EventDeclaration) => hasShape(declaration, shape))
      return out => {
        if (!fits(by) || decodedOnce() !== 'located') return false
        for (let i = 0; i < fields.length; i++) writeCell(out, fields[i]!)
        writeArgumentCells(out, show.located, by.args!, at.record.decimals, shape)
        return true
      }
    },
    find(position) {
      const declaration = at.find(position) && declarationOf(at.record.signature)
      if (!declaration) return false
      by = declaration
      decoded = undefined
      return true
    },
    ...logEnvelope('event', at),
    decoding: () => ({ inputs: by.abi.inputs, decimals: at.record.decimals }),
    source: sourceWriter('event', own),
  }
}

/** The hash of an indexed text is shown as the text would be, which takes decoding. */
const hasShape = ({ abi, args }: EventDeclaration, shape: RowShape): boolean =>
  abi.name === shape.name &&
  args?.length === shape.args.length &&
  args.every(({ form }, i) => form !== 'hash' && elementaryType(abi.inputs[i]!.type) === shape.args[i]!.type)
