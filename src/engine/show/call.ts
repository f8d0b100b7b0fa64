import { createFunctionDecoder, type FunctionDecoder } from '../../decode/abi.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { call as mapping } from '../../mapping/documents/call.ts'
import { present } from '../../sqlite/damage.ts'
import { columnIndex, RECORD_COLUMNS } from '../documents/columns.ts'
import type { RecordView } from '../documents/record-reader.ts'
import { newCallRecord, readCall } from '../documents/records/call.ts'
import { seek } from '../documents/records/fields.ts'
import { newTraceRecord, readTrace } from '../documents/records/trace.ts'
import { writeIntegers } from '../forms/bytes.ts'
import { cursor } from '../forms/cursor.ts'
import { type FieldPlan, takeLength, writeNull } from '../forms/form.ts'
import { writeAddress } from '../forms/ids.ts'
import { FALSE, NULL, piece, TRUE, writeHex, writeJson, writeObject } from '../forms/json.ts'
import { unpack, WORD } from '../forms/words.ts'
import { blockOf, positionOf } from '../schema.ts'
import { type Context, placeFields, type ShownBlock, writeTxHash } from './context.ts'
import { createDecodedShow, type Declaration, type Decoded, declare } from './decoded.ts'
import { always, planMembers, planSource, type Write, type WriteBy } from './plan.ts'
import type { Show } from './show.ts'
import { writePath } from './trace.ts'

interface CallDeclaration extends Declaration {
  probability: Uint8Array
  /** Compiled when it is first needed. */
  decode?: FunctionDecoder
}

const DECLARATIONS = 5_000
const NOTHING_DECODED: Decoded = { args: null, error: null }

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
const formOf = (column: number) => RECORD_COLUMNS.trace[column]!.form

export const createCallShow = (context: Context): Show => {
  const { reader, records, addresses, name } = context
  const show = createDecodedShow(addresses)
  const where = placeFields(() => block)
  const call = newCallRecord()
  const trace = newTraceRecord()
  const declarations = new Map<number, CallDeclaration | null>()
  let block: ShownBlock
  /** The row of the call's trace; of the transaction's own call, none. */
  let bytes: Buffer | undefined
  let by: CallDeclaration | null
  /** Both undefined until somebody asks. */
  let decoded: Decoded | undefined
  let input: { bytes: Buffer; start: number; end: number } | undefined

  const declarationOf = (id: number): CallDeclaration | null => {
    let found = declarations.get(id)
    if (found === undefined) {
      const { event, probability } = reader.signature(id)
      found = event && { ...declare(event), probability: piece(JSON.stringify(probability)) }
      if (declarations.size >= DECLARATIONS) declarations.clear()
      declarations.set(id, found)
    }
    return found
  }

  const tx = (): number => (bytes ? trace.tx : call.tx)

  /** Puts the cursor before a field of the call's trace. */
  const inTrace = (column: number): Buffer => {
    cursor.at = trace.offsets[column]!
    return bytes!
  }

  const inputOnce = () => {
    if (input) return input
    const { number } = block.stored
    const view = bytes
      ? records.traceInput(positionOf(number, call.trace))
      : records.txInput(positionOf(number, call.tx))
    const { bytes: row, start, end }: RecordView = present(view, 'a call')
    input = { bytes: row, start, end }
    return input
  }

  const decode = (): Decoded => {
    if (!by) return NOTHING_DECODED
    const { bytes: packed, start, end } = inputOnce()
    const { located } = show
    if (by.args && packed[start] === WORD.selector && located.locate(by.args, false, packed, start + SELECTOR, end))
      return 'located'
    by.decode ??= createFunctionDecoder(by.abi)
    return by.decode(unpack(packed.subarray(start, end), reader.addressDigits))
  }
  const decodedOnce = (): Decoded => (decoded ??= decode())

  const writeSelector = (out: ByteWriter) => {
    const { bytes: packed, start, end } = inputOnce()
    if (packed[start] === WORD.selector) return writeHex(out, packed, start + 1, start + SELECTOR)
    writeJson(out, unpack(packed.subarray(start, end), reader.addressDigits).slice(0, 10))
  }

  const party =
    (column: number, own: () => number): (() => Write) =>
    () => {
      const write = formOf(column).json(WHOLE, context)
      return out => {
        if (bytes) return write(out, inTrace(column))
        writeAddress(out, own(), addresses)
        return true
      }
    }

  /** What only a trace tells, where it does. */
  const traced =
    (column: number): ((plan: FieldPlan) => Write) =>
    plan => {
      const write = formOf(column).json(plan, context)
      return out => (bytes !== undefined && trace.offsets[column]! >= 0 ? write(out, inTrace(column)) : false)
    }

  const depth = (): number => {
    if (!bytes) return call.depth
    const length = takeLength(inTrace(TRACE.path))
    let steps = 0
    for (let i = cursor.at; i < cursor.at + length; i++) if (bytes[i]! < 0x80) steps++
    return steps
  }

  const fields = {
    method: () => always(out => out.bytes(by ? by.name : NULL)),
    selector: () => always(out => writeSelector(out)),
    args: plan => {
      const list = show.list(plan)
      return out => list(out, by, decodedOnce(), call.decimals)
    },
    from: party(TRACE.from, () => call.from),
    to: party(TRACE.to, () => call.to),
    value: plan => {
      const write = formOf(TRACE.value).json(plan, context)
      return out => {
        if (bytes) return trace.offsets[TRACE.value]! < 0 ? writeNull(out, plan) : write(out, inTrace(TRACE.value))
        const view = present(records.find('tx', positionOf(block.stored.number, call.tx)), 'a call')
        return seek('tx', TX_VALUE, view.bytes, view.start) ? write(out, view.bytes) : writeNull(out, plan)
      }
    },
    callType: plan => {
      const write = formOf(TRACE.callType).json(plan, context)
      return out => {
        if (bytes) return write(out, inTrace(TRACE.callType))
        name(out, call.callType)
        return true
      }
    },
    depth: () => always(out => out.decimal(depth())),
    traceAddress: () =>
      always(out => {
        if (!bytes) return out.bytes(EMPTY_LIST)
        const length = takeLength(inTrace(TRACE.path))
        writeIntegers(out, bytes, cursor.at, cursor.at + length)
      }),
    reverted: () => always(out => out.bytes(call.reverted ? TRUE : FALSE)),
    transactionHash: where.transactionHash(tx),
    transactionIndex: where.quantity(tx),
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
    probability: () => always(out => out.bytes(by ? by.probability : NULL)),
  } satisfies Record<keyof typeof mapping.fields, WriteBy>

  const writeParent = (out: ByteWriter) => {
    writeTxHash(out, block, tx())
  }

  return {
    find(position) {
      const view = records.find('call', position)
      const found = view && context.block(blockOf(position))
      if (!found) return false
      block = found
      readCall(view.bytes, view.start, call)
      bytes = undefined
      if (call.trace >= 0) {
        const step = present(records.find('trace', positionOf(found.stored.number, call.trace)), 'a call')
        bytes = step.bytes
        readTrace(step.bytes, step.start, trace)
      }
      by = declarationOf(call.signature)
      decoded = undefined
      input = undefined
      return true
    },
    id(out) {
      writeParent(out)
      out.bytes(INFIX)
      if (bytes) writePath(out, inTrace(TRACE.path))
    },
    routing: out => out.bytes(block.hash),
    parent: writeParent,
    decoding: () => (by ? { inputs: by.abi.inputs, decimals: call.decimals } : undefined),
    source(filter) {
      const plan = planSource('call', filter)
      const members = plan && planMembers(plan, fields)
      return members && (out => writeObject(out, members))
    },
  }
}

const INFIX = piece('_c')
const EMPTY_LIST = piece('[]')
/** Bytes of a packed selector. */
const SELECTOR = 5
const WHOLE: FieldPlan = { shown: 'whole', single: true, members: -1, cut: value => value }
