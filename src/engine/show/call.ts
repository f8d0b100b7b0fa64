import { createFunctionDecoder, type FunctionDecoder } from '../../decode/abi-decoder.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { memoize } from '../../lib/caches.ts'
import type { callMapping as mapping } from '../../mapping/documents/call.ts'
import { requirePresent } from '../../sqlite/damage.ts'
import { columnIndex, RECORD_COLUMNS } from '../documents/columns.ts'
import type { RecordView } from '../documents/record-reader.ts'
import { newCallRecord, readCall } from '../documents/records/call.ts'
import { seek } from '../documents/records/fields.ts'
import { newTraceRecord, readTrace } from '../documents/records/trace.ts'
import { unpackAbi, WORD_CONTROL } from '../forms/abi-words.ts'
import { cursor, takeLength, writeNull } from '../forms/form.ts'
import { writeAddress } from '../forms/ids.ts'
import { FALSE, NULL, piece, TRUE, writeHex, writeJson } from '../forms/json.ts'
import { blockOf, positionOf } from '../schema.ts'
import { placeFields, type ShowContext, type ShownBlock, writeTxHash } from './context.ts'
import {
  createDecodedShow,
  type DecodedArguments,
  MAX_CACHED_DECLARATIONS,
  prepareDeclaration,
  type ShownDeclaration,
} from './decoded.ts'
import { sourceWriter, type WriteBy, writeAlways } from './plan.ts'
import type { Show } from './source-writers.ts'
import { writePath } from './trace.ts'

interface CallDeclaration extends ShownDeclaration {
  probability: Uint8Array
  decode?: FunctionDecoder
}

const index = (field: string): number => columnIndex('trace', field)
const TRACE = {
  from: index('action.from'),
  to: index('action.to'),
  value: index('action.value'),
  callType: index('callType'),
  path: index('traceAddress'),
  revertReason: index('revertReason'),
  revertName: index('revertName'),
}

const TX_VALUE = columnIndex('tx', 'value')
const traceForm = (column: number) => RECORD_COLUMNS.trace[column]!.form

/** The current call, and what its trace or its transaction holds of it. */
const createCallAt = ({ records, block }: ShowContext) => {
  const call = newCallRecord()
  const trace = newTraceRecord()
  /** Read on demand. */
  let input: RecordView | undefined
  const at = {
    call,
    block: undefined as unknown as ShownBlock,
    /** The row of the call's trace, if it has one. */
    bytes: undefined as Buffer | undefined,
    find(position: number): boolean {
      const view = records.find('call', position)
      const found = view && block(blockOf(position))
      if (!found) return false
      at.block = found
      readCall(view.bytes, view.start, call)
      at.bytes = undefined
      if (call.trace >= 0) {
        const step = requirePresent(records.find('trace', positionOf(found.stored.number, call.trace)), 'a call')
        at.bytes = step.bytes
        readTrace(step.bytes, step.start, trace)
      }
      input = undefined
      return true
    },
    tx: (): number => (at.bytes ? trace.tx : call.tx),
    isTraced: (column: number): boolean => at.bytes !== undefined && trace.offsets[column]! >= 0,
    inTrace(column: number): Buffer {
      cursor.at = trace.offsets[column]!
      return at.bytes!
    },
    depth(): number {
      if (!at.bytes) return call.depth
      const length = takeLength(at.inTrace(TRACE.path))
      let steps = 0
      for (let i = cursor.at; i < cursor.at + length; i++) if (at.bytes[i]! < 0x80) steps++
      return steps
    },
    input(): RecordView {
      if (input) return input
      const { number } = at.block.stored
      const view = at.bytes
        ? records.traceInput(positionOf(number, call.trace))
        : records.txInput(positionOf(number, call.tx))
      const { bytes, start, end }: RecordView = requirePresent(view, 'a call')
      input = { bytes, start, end }
      return input
    },
  }
  return at
}

export const createCallShow = (context: ShowContext): Show => {
  const { reader, records, addresses, name } = context
  const at = createCallAt(context)
  const { call } = at
  const show = createDecodedShow(addresses)
  const where = placeFields(() => at.block)
  let by: CallDeclaration | null
  /** Decoded on demand. */
  let decoded: DecodedArguments | undefined

  const declarationOf = memoize(MAX_CACHED_DECLARATIONS, (id: number): CallDeclaration | null => {
    const { event, probability } = reader.signature(id)
    return event && { ...prepareDeclaration(event), probability: piece(JSON.stringify(probability)) }
  })

  const decode = (): DecodedArguments => {
    if (!by) return { args: null, error: null }
    const { bytes, start, end } = at.input()
    const { located } = show
    if (
      by.args &&
      bytes[start] === WORD_CONTROL.selector &&
      located.locate(by.args, false, bytes, start + PACKED_SELECTOR_BYTES, end)
    )
      return 'located'
    by.decode ??= createFunctionDecoder(by.abi)
    return by.decode(unpackAbi(bytes.subarray(start, end), reader.addressDigits))
  }
  const decodedOnce = (): DecodedArguments => (decoded ??= decode())

  const writeSelector = (out: ByteWriter) => {
    const { bytes, start, end } = at.input()
    if (bytes[start] === WORD_CONTROL.selector) return writeHex(out, bytes, start + 1, start + PACKED_SELECTOR_BYTES)
    writeJson(out, unpackAbi(bytes.subarray(start, end), reader.addressDigits).slice(0, 10))
  }

  /** A field of its trace, or else of its own record. */
  const either =
    (column: number, writeOwn: (out: ByteWriter) => void): WriteBy =>
    plan => {
      const write = traceForm(column).json(plan, context)
      return out => {
        if (at.bytes) return write(out, at.inTrace(column))
        writeOwn(out)
        return true
      }
    }

  /** A field of its trace alone. */
  const traced =
    (column: number): WriteBy =>
    plan => {
      const write = traceForm(column).json(plan, context)
      return out => at.isTraced(column) && write(out, at.inTrace(column))
    }

  const fields = {
    method: () => writeAlways(out => out.bytes(by ? by.name : NULL)),
    selector: () => writeAlways(out => writeSelector(out)),
    args: plan => {
      const list = show.list(plan)
      return out => list(out, by, decodedOnce(), call.decimals)
    },
    from: either(TRACE.from, out => writeAddress(out, call.from, addresses)),
    to: either(TRACE.to, out => writeAddress(out, call.to, addresses)),
    value: plan => {
      const write = traceForm(TRACE.value).json(plan, context)
      return out => {
        if (at.bytes) return at.isTraced(TRACE.value) ? write(out, at.inTrace(TRACE.value)) : writeNull(out, plan)
        const view = requirePresent(records.find('tx', positionOf(at.block.stored.number, call.tx)), 'a call')
        return seek('tx', TX_VALUE, view.bytes, view.start) ? write(out, view.bytes) : writeNull(out, plan)
      }
    },
    callType: either(TRACE.callType, out => name(out, call.callType)),
    depth: () => writeAlways(out => out.decimal(at.depth())),
    traceAddress: either(TRACE.path, out => out.bytes(NO_STEPS)),
    reverted: () => writeAlways(out => out.bytes(call.reverted ? TRUE : FALSE)),
    transactionHash: where.transactionHash(at.tx),
    transactionIndex: where.quantity(at.tx),
    blockHash: where.blockHash,
    blockNumber: where.blockNumber,
    error: () => out => {
      const result = decodedOnce()
      if (result === 'located' || result.error === null) out.bytes(NULL)
      else writeJson(out, result.error)
      return true
    },
    revertReason: traced(TRACE.revertReason),
    revertName: traced(TRACE.revertName),
    str: () => out => {
      if (by) show.text(out, by, decodedOnce())
      else out.bytes(NULL)
      return true
    },
    timestamp: where.datetime,
    probability: () => writeAlways(out => out.bytes(by ? by.probability : NULL)),
  } satisfies Record<keyof typeof mapping.fields, WriteBy>

  const writeParent = (out: ByteWriter) => {
    writeTxHash(out, at.block, at.tx())
  }

  return {
    find(position) {
      if (!at.find(position)) return false
      by = declarationOf(call.signature)
      decoded = undefined
      return true
    },
    id(out) {
      writeParent(out)
      out.bytes(CALL_INFIX)
      if (at.bytes) writePath(out, at.inTrace(TRACE.path))
    },
    routing: out => out.bytes(at.block.hash),
    parent: writeParent,
    decoding: () => (by ? { inputs: by.abi.inputs, decimals: call.decimals } : undefined),
    source: sourceWriter('call', fields),
  }
}

const CALL_INFIX = piece('_c')
const NO_STEPS = piece('[]')
const PACKED_SELECTOR_BYTES = 5
