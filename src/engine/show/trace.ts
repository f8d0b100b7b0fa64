import type { ByteWriter } from '../../lib/bytes.ts'
import { MAPPING } from '../../mapping/index.ts'
import { INPUT, newTraceRecord, readTrace, txOfTrace } from '../documents/records/trace.ts'
import { writeWords } from '../forms/abi-words.ts'
import { cursor, type FieldPlan, takeLength, takeVarint } from '../forms/form.ts'
import { CLOSE, type JsonMember, memberKey, NULL, OPEN, piece, writeMembers, writeObject } from '../forms/json.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { placeFields, type ShowContext, type ShownBlock, writeTxHash } from './context.ts'
import { planSource, type SourcePlan, type WriteBy, type WriteField } from './plan.ts'
import { fieldsAt, type RecordAt } from './record.ts'
import type { Show } from './source-writers.ts'

type TraceObject = 'action' | 'result'
const INPUT_FIELD = 'action.input'

export const createTraceShow = (context: ShowContext): Show => {
  const { records } = context
  const trace = newTraceRecord()
  const at: RecordAt = { bytes: Buffer.alloc(0), offsets: trace.offsets }
  const record = fieldsAt('trace', at, context)
  const where = placeFields(() => block)
  let block: ShownBlock
  let place = 0

  /** The call data, or an explicit null. */
  const input =
    ({ single }: FieldPlan): WriteField =>
    out => {
      if (trace.input === INPUT.none) return false
      const view = records.traceInput(positionOf(block.stored.number, place))
      if (view) writeWords(out, view.bytes, view.start, view.end, context.addresses)
      else if (single) out.bytes(NULL)
      return view != null || single
    }

  const inTransaction =
    (by: (plan: FieldPlan) => WriteField) =>
    (plan: FieldPlan): WriteField => {
      const write = by(plan)
      return out => trace.tx >= 0 && write(out)
    }

  const writers = new Map<string, WriteBy>([
    ...record.writers,
    [INPUT_FIELD, input],
    ['transactionHash', inTransaction(where.transactionHash(() => trace.tx))],
    ['transactionPosition', inTransaction(where.quantity(() => trace.tx))],
    ['blockHash', where.blockHash],
    ['blockNumber', where.blockNumber],
    ['timestamp', where.datetime],
  ])
  const names = Object.keys(MAPPING.trace.fields)

  const member = (plan: SourcePlan, name: string, key: string): JsonMember[] => {
    const field = plan.field(name)
    return field ? [{ key: memberKey(key), write: writers.get(name)!(field) }] : []
  }

  const isPresent = (name: string): boolean => (name === INPUT_FIELD ? trace.input !== INPUT.none : record.has(name))

  const group = (plan: SourcePlan, outer: TraceObject): JsonMember => {
    const inside = names.filter(name => name.startsWith(`${outer}.`))
    const members = inside.flatMap(name => member(plan, name, name.slice(outer.length + 1)))
    const isShown = plan.isShown(outer)
    return {
      key: memberKey(outer),
      write(out) {
        if (!inside.some(isPresent)) return false
        out.byte(OPEN)
        const start = out.length
        writeMembers(out, members, start)
        const isEmpty = out.length === start
        out.byte(CLOSE)
        return isShown || !isEmpty
      },
    }
  }

  const members = (plan: SourcePlan): JsonMember[] => {
    const results = names.filter(name => name.startsWith('result.'))
    // A failed step shows a null result behind its error.
    const noResult: JsonMember = {
      key: memberKey('result'),
      write(out) {
        if (!record.has('error') || results.some(isPresent)) return false
        out.bytes(NULL)
        return true
      },
    }
    return names.flatMap((name, i): JsonMember[] => {
      const outer = name.slice(0, Math.max(0, name.indexOf('.')))
      if (outer !== '') return names[i - 1]!.startsWith(`${outer}.`) ? [] : [group(plan, outer as TraceObject)]
      const own = member(plan, name, name)
      return name === 'error' && plan.isShown('result') ? [...own, noResult] : own
    })
  }

  /** For a reward: the number of rewards before it in its block. */
  const rewardsBefore = (): number => {
    const { number } = block.stored
    let count = 0
    if (place === 0) return count
    records.each('trace', positionOf(number, 0), positionOf(number, place - 1), (_, { bytes, start }) => {
      if (txOfTrace(bytes, start) < 0) count++
    })
    return count
  }

  const writeParent = (out: ByteWriter) => {
    if (trace.tx < 0) return out.bytes(block.hash)
    writeTxHash(out, block, trace.tx)
  }

  return {
    find(position) {
      const view = records.find('trace', position)
      const found = view && context.block(blockOf(position))
      if (!found) return false
      block = found
      place = placeOf(position)
      at.bytes = view.bytes
      readTrace(view.bytes, view.start, trace)
      return true
    },
    id(out) {
      writeParent(out)
      out.bytes(TRACE_INFIX)
      if (trace.tx < 0) out.ascii(`_${rewardsBefore()}`)
      else writePath(out, record.seek('traceAddress'))
    },
    routing: out => out.bytes(block.hash),
    parent: writeParent,
    source(filter) {
      const plan = planSource('trace', filter)
      if (!plan) return undefined
      const all = members(plan)
      return out => writeObject(out, all)
    },
  }
}

const TRACE_INFIX = piece('_t')

/** Appends `_<place>` for each step of the trace address at the cursor. */
export const writePath = (out: ByteWriter, bytes: Buffer | undefined) => {
  if (!bytes) return
  const length = takeLength(bytes)
  for (const end = cursor.at + length; cursor.at < end; ) out.ascii(`_${takeVarint(bytes)}`)
}
