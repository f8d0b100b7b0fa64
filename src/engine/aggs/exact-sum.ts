import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { singleMetric } from '../../query/aggs/metric-results.ts'
import { valueReader } from '../documents/record-values.ts'
import { columnSource, INEXACT } from '../query/fields/field-values.ts'
import { numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import type { AggregationContext, AggregationState, Aggregator } from './aggregator.ts'
import { type Batch, type BatchView, ordinalAt } from './batch.ts'
import { createSource, type ValueSource } from './value-source.ts'
import { eachValue, gathered } from './values.ts'

interface ExactState extends AggregationState {
  totals: bigint[]
}

type Add = (i: number, value: number | bigint) => void

/** An exact sum of integers, even of those beyond 64 bits that the field does not show. */
export const createExactTotal = ({ values, format }: SpecOf<'sum'>, context: AggregationContext): Aggregator => {
  const source = createSource({ ...values, missing: undefined }, undefined, context)
  const missing = values.missing === undefined ? undefined : (values.missing as bigint)
  const totals: bigint[] = []
  return {
    collect(at, batch): ExactState {
      const sums = Array.from({ length: batch.buckets }, () => createExactSum())
      const seen = missing === undefined ? undefined : new Uint8Array(batch.count)
      const add: Add = (i, value) => {
        const sum = sums[batch.owners ? batch.owners[i]! : 0]!
        if (seen) seen[i] = 1
        sum.add(value)
      }
      const field = values.fields[at.kind]
      if (field) addValues(at, batch, { field, source, context }, add)
      for (let i = 0; seen && i < batch.count; i++) if (seen[i] === 0) add(i, missing!)
      return { totals: sums.map(sum => sum.total()), bytes: 100 + 48 * batch.buckets }
    },
    merge(state, owners) {
      for (const [i, total] of (state as ExactState).totals.entries())
        totals[owners[i]!] = (totals[owners[i]!] ?? 0n) + total
    },
    finish() {},
    result(owner) {
      const total = totals[owner] ?? 0n
      const metric = singleMetric('sum', Number(total), format)
      return { ...metric, body: [...metric.body, ['exact_value', String(total)]] }
    },
    number: owner => Number(totals[owner] ?? 0n),
    bytes: () => totals.length * 48,
  }
}

interface ExactReading {
  field: FieldPath
  source: ValueSource
  context: AggregationContext
}

const addValues = (at: BatchView, batch: Batch, reading: ExactReading, add: Add): void =>
  at.elements ? addFromElements(at, batch, reading, add) : addFromDocuments(at, batch, reading, add)

const addFromDocuments = (at: BatchView, batch: Batch, { field, source, context }: ExactReading, add: Add) => {
  const { reader } = context
  const column = columnSource(at.kind, field, reader)
  const bounds = column?.bounds(at)
  if (column && !bounds) return
  const read = valueReader(at.kind, field.field, reader.records)
  if (!read || (bounds && (bounds.greatest < INEXACT || !Number.isFinite(bounds.greatest))))
    return eachValue(source.read(at, batch), batch, add)
  const numbered = numberedAs(at.kind)
  for (let i = 0; i < batch.count; i++) {
    if ((i & DOCUMENT_CHECK_MASK) === 0) reader.check()
    const value = read(positionOfOrdinal(at.header, numbered, ordinalAt(batch, i)))
    if (typeof value === 'number' || typeof value === 'bigint') add(i, value)
  }
}

const DOCUMENT_CHECK_MASK = 0x1f

/** The index holds 64 bits; documents are loaded for larger or inexact integers. */
const addFromElements = (at: BatchView, batch: Batch, { source, context }: ExactReading, add: Add) => {
  const { documents, role, roles } = at.elements!
  const numbers = gathered(source.read(at, batch), batch)
  for (let i = 0; i < batch.count; i++) {
    const number = numbers[i]!
    if (Number.isSafeInteger(number)) {
      add(i, number)
      continue
    }
    const element = ordinalAt(batch, i)
    const { position, input } = roles[role[element]!]!
    if (!/^u?int\d*$/.test(input.type)) continue
    context.reader.check()
    const value = argumentInteger(at, documents[element]!, position, input.type, context)
    if (value !== undefined) add(i, value)
  }
}

const argumentInteger = (
  { kind, header }: { kind: Kind; header: BatchView['header'] },
  ordinal: number,
  position: number,
  type: string,
  { exact }: AggregationContext,
): bigint | undefined => {
  const [document] = exact.load(kind, [positionOfOrdinal(header, numberedAs(kind), ordinal)], ['args'])
  const args = document?._source.args as { value: { hex: string } }[] | null | undefined
  const hex = args?.[position]?.value.hex
  if (hex === undefined || hex.length > 66) return undefined
  const value = BigInt(hex)
  // Hex of negative integers has the width of their type.
  const width = Number(/^int(\d+)$/.exec(type)?.[1] ?? (type === 'int' ? 256 : 0))
  return width > 0 ? BigInt.asIntN(width, value) : value
}

/** Sums integers exactly, small ones as doubles while that is exact. */
export const createExactSum = () => {
  let big = 0n
  let small = 0
  return {
    add(value: number | bigint) {
      if (typeof value === 'bigint') {
        big += value
        return
      }
      const next = small + value
      if (Number.isSafeInteger(next)) small = next
      else {
        big += BigInt(small) + BigInt(value)
        small = 0
      }
    },
    total: () => big + BigInt(small),
  }
}
