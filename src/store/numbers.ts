/**
 * The numeric index of one segment: for each facet its values in ascending order beside the ordinals of their documents. Integers that fit
 * 64 bits are kept as such, everything else as doubles.
 */
export interface Numbers {
  facets: Float64Array<ArrayBuffer>
  counts: Uint32Array<ArrayBuffer>
  /** All values, 8 bytes each, facet by facet: BigInt64 in even facets, Float64 in odd ones. */
  values: Uint8Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

export interface NumbersBuilder {
  add(facet: number, value: bigint | number, ordinal: number): void
  finish(): Numbers
}

interface Column {
  values: (bigint | number)[]
  ordinals: number[]
}

export const createNumbersBuilder = (): NumbersBuilder => {
  const columns = new Map<number, Column>()
  return {
    add(facet, value, ordinal) {
      let column = columns.get(facet)
      if (!column) {
        column = { values: [], ordinals: [] }
        columns.set(facet, column)
      }
      column.values.push(value)
      column.ordinals.push(ordinal)
    },
    finish() {
      const facets = Float64Array.from([...columns.keys()].sort((a, b) => a - b))
      const total = [...columns.values()].reduce((sum, column) => sum + column.values.length, 0)
      const numbers: Numbers = {
        facets,
        counts: new Uint32Array(facets.length),
        values: new Uint8Array(total * 8),
        ordinals: new Uint32Array(total),
      }
      let at = 0
      for (const [index, facet] of facets.entries()) {
        const { values, ordinals } = columns.get(facet)!
        const order = Uint32Array.from(values.keys()).sort((a, b) =>
          values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : a - b,
        )
        const target = valuesOf(facet, numbers.values, at, values.length)
        for (let i = 0; i < order.length; i++) {
          target[i] = values[order[i]!]!
          numbers.ordinals[at + i] = ordinals[order[i]!]!
        }
        numbers.counts[index] = values.length
        at += values.length
      }
      return numbers
    },
  }
}

/** A view of the values of a facet; `bytes` must be aligned to 8. */
export const valuesOf = (
  facet: number,
  bytes: Uint8Array,
  from = 0,
  count = bytes.length / 8,
): { [index: number]: bigint | number; length: number } => {
  const Type = facet % 2 === 0 ? BigInt64Array : Float64Array
  return new Type(bytes.buffer as ArrayBuffer, bytes.byteOffset + from * 8, count)
}
