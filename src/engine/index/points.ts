import { doubled, joinByteArrays, joinDoubleArrays, joinMoved } from '../../lib/arrays.ts'
import { damagedValue } from '../../sqlite/damage.ts'

/** Numbers of documents, 8 bytes each: 64-bit integers in even fields, doubles in odd ones. */
export interface Numbers {
  fields: Float64Array<ArrayBuffer>
  values: Uint8Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

/** Values of a field in one segment, ascending, and the ordinals of their documents. */
export interface PointColumn {
  field: number
  values: BigInt64Array<ArrayBuffer> | Float64Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

export const createNumbersBuilder = (capacity = 1 << 10) => {
  let fields = new Float64Array(capacity)
  let values = new BigInt64Array(capacity)
  let ordinals = new Uint32Array(capacity)
  let doubles = new Float64Array(values.buffer)
  let count = 0
  return {
    add(field: number, value: bigint | number, ordinal: number) {
      if (count === fields.length) {
        fields = doubled(fields)
        values = doubled(values)
        ordinals = doubled(ordinals)
        doubles = new Float64Array(values.buffer)
      }
      fields[count] = field
      if (typeof value === 'bigint') values[count] = value
      else doubles[count] = value
      ordinals[count++] = ordinal
    },
    finish: (): Numbers => ({
      fields: fields.subarray(0, count),
      values: new Uint8Array(values.buffer, 0, count * 8),
      ordinals: ordinals.subarray(0, count),
    }),
  }
}

export const joinNumbers = (parts: readonly { part: Numbers; by: number }[]): Numbers => ({
  fields: joinDoubleArrays(parts.map(({ part }) => part.fields)),
  values: joinByteArrays(parts.map(({ part }) => part.values)),
  ordinals: joinMoved(parts.map(({ part, by }) => ({ values: part.ordinals, by }))),
})

export const readPointColumn = (field: number, values: Buffer, ordinals: Buffer): PointColumn => {
  if (values.length !== ordinals.length * 2) throw damagedValue('a column of the index')
  return { field, values: readValues(field, values), ordinals: readPointOrdinals(ordinals) }
}

/** Copies what is read: arrays must begin at multiples of their size. */
export const readPointOrdinals = (ordinals: Buffer): PointColumn['ordinals'] => {
  if (ordinals.length % 4 !== 0) throw damagedValue('a column of the index')
  return new Uint32Array(new Uint8Array(ordinals).buffer)
}

const readValues = (field: number, values: Buffer): PointColumn['values'] => {
  if (values.length % 8 !== 0) throw damagedValue('a column of the index')
  const { buffer } = new Uint8Array(values)
  return field % 2 === 0 ? new BigInt64Array(buffer) : new Float64Array(buffer)
}

export const mergeColumns = (field: number, columns: readonly Omit<PointColumn, 'field'>[]): PointColumn => {
  const size = columns.reduce((sum, { ordinals }) => sum + ordinals.length, 0)
  const values = newValues(field, size)
  const ordinals = new Uint32Array(size)
  const places = columns.map(() => 0)
  for (let to = 0; to < size; to++) {
    let best = -1
    let least: bigint | number | undefined
    for (let i = 0; i < columns.length; i++) {
      const value = columns[i]!.values[places[i]!]
      if (value === undefined || (least !== undefined && value >= least)) continue
      best = i
      least = value
    }
    values[to] = least!
    ordinals[to] = columns[best]!.ordinals[places[best]!++]!
  }
  return { field, values, ordinals }
}

export const columnsOfNumbers = ({ fields, values, ordinals }: Numbers): PointColumn[] => {
  const places = Map.groupBy(fields.keys(), i => fields[i]!)
  const integers = new BigInt64Array(values.buffer)
  const doubles = new Float64Array(values.buffer)
  return [...places]
    .sort(([a], [b]) => a - b)
    .map(([field, at]) => sortedColumn(field, field % 2 === 0 ? integers : doubles, ordinals, at))
}

/** The column of a field whose numbers are at these indices; equal ones keep their order. */
const sortedColumn = (
  field: number,
  from: PointColumn['values'],
  ordinals: Uint32Array,
  indices: readonly number[],
): PointColumn => {
  const count = indices.length
  const keys = new Float64Array(count)
  const order = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    keys[i] = Number(from[indices[i]!]!)
    order[i] = i
  }
  // Doubles sort fast and order integers up to rounding; equal ones are compared exactly.
  order.sort((a, b) => keys[a]! - keys[b]! || comparePoints(from[indices[a]!]!, from[indices[b]!]!) || a - b)
  const column = { field, values: newValues(field, count), ordinals: new Uint32Array(count) }
  for (let i = 0; i < count; i++) {
    const index = indices[order[i]!]!
    column.values[i] = from[index]!
    column.ordinals[i] = ordinals[index]!
  }
  return column
}

const comparePoints = (a: bigint | number, b: bigint | number): number => (a < b ? -1 : a > b ? 1 : 0)

export const newValues = (field: number, length: number): PointColumn['values'] =>
  field % 2 === 0 ? new BigInt64Array(length) : new Float64Array(length)
