import { impossible } from '../../sqlite/damage.ts'

/**
 * Numbers of documents as they come, on their way to the thread that writes: integers that fit 64 bits as such in even facets, doubles in odd
 * ones, 8 bytes each.
 */
export interface Numbers {
  facets: Float64Array<ArrayBuffer>
  values: Uint8Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

/** The numeric index of one facet in one segment: values in ascending order beside the ordinals of their documents. */
export interface Column {
  facet: number
  values: BigInt64Array<ArrayBuffer> | Float64Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

export const createNumbersBuilder = () => {
  let capacity = 1 << 10
  let facets = new Float64Array(capacity)
  let values = new BigInt64Array(capacity)
  let ordinals = new Uint32Array(capacity)
  let doubles = new Float64Array(values.buffer)
  let count = 0
  return {
    add(facet: number, value: bigint | number, ordinal: number) {
      if (count === capacity) {
        capacity *= 2
        facets = copied(facets, new Float64Array(capacity))
        values = copied(values, new BigInt64Array(capacity))
        ordinals = copied(ordinals, new Uint32Array(capacity))
        doubles = new Float64Array(values.buffer)
      }
      facets[count] = facet
      if (typeof value === 'bigint') values[count] = value
      else doubles[count] = value
      ordinals[count++] = ordinal
    },
    finish: (): Numbers => ({
      facets: facets.slice(0, count),
      values: new Uint8Array(values.buffer.slice(0, count * 8)),
      ordinals: ordinals.slice(0, count),
    }),
  }
}

/** A column as the table `num` holds it. */
export const readColumn = (facet: number, values: Buffer, ordinals: Buffer): Column => {
  if (values.length !== ordinals.length * 2 || ordinals.length % 4 !== 0) throw impossible('a column of the index')
  // Copies: the arrays must begin at multiples of their size.
  const { buffer } = new Uint8Array(values)
  return {
    facet,
    values: facet % 2 === 0 ? new BigInt64Array(buffer) : new Float64Array(buffer),
    ordinals: new Uint32Array(new Uint8Array(ordinals).buffer),
  }
}

/** Puts columns of one facet together. Equal values stand in the order of the columns. */
export const mergeColumns = (facet: number, columns: readonly Omit<Column, 'facet'>[]): Column => {
  const size = columns.reduce((sum, { ordinals }) => sum + ordinals.length, 0)
  const values = facet % 2 === 0 ? new BigInt64Array(size) : new Float64Array(size)
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
  return { facet, values, ordinals }
}

/** Sorts numbers into columns, by facet. */
export const columnsOfNumbers = ({ facets, values, ordinals }: Numbers): Column[] => {
  const places = new Map<number, number[]>()
  for (let i = 0; i < facets.length; i++) {
    const list = places.get(facets[i]!)
    if (list) list.push(i)
    else places.set(facets[i]!, [i])
  }
  const integers = new BigInt64Array(values.buffer)
  const doubles = new Float64Array(values.buffer)
  return [...places]
    .sort(([a], [b]) => a - b)
    .map(([facet, at]) => {
      const list = Uint32Array.from(at)
      return facet % 2 === 0
        ? sortedColumn(
            facet,
            new BigInt64Array(list.length),
            i => integers[list[i]!]!,
            i => ordinals[list[i]!]!,
          )
        : sortedColumn(
            facet,
            new Float64Array(list.length),
            i => doubles[list[i]!]!,
            i => ordinals[list[i]!]!,
          )
    })
}

/** A column of numbers in any order, given by index; equal ones stay in their order. */
export const sortedColumn = (
  facet: number,
  target: BigInt64Array<ArrayBuffer> | Float64Array<ArrayBuffer>,
  valueAt: (index: number) => bigint | number,
  ordinalAt: (index: number) => number,
): Column => {
  const count = target.length
  // Doubles sort fast and order integers up to rounding; what they hold equal is compared exactly.
  const keys = new Float64Array(count)
  for (let i = 0; i < count; i++) keys[i] = Number(valueAt(i))
  const order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = i
  order.sort((a, b) => keys[a]! - keys[b]! || exactly(valueAt(a), valueAt(b)) || a - b)
  const ordinals = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    target[i] = valueAt(order[i]!)
    ordinals[i] = ordinalAt(order[i]!)
  }
  return { facet, values: target, ordinals }
}

const exactly = (a: bigint | number, b: bigint | number): number => (a < b ? -1 : a > b ? 1 : 0)

const copied = <T extends Float64Array | BigInt64Array | Uint32Array>(from: T, to: T): T => {
  to.set(from as never)
  return to
}
