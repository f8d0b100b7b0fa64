type Numeric = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

/** Concatenates arrays. */
const joiner =
  <T extends Numeric>(make: (length: number) => T) =>
  (parts: readonly T[]): T => {
    const joined = make(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  }

export const joinByteArrays = joiner(length => new Uint8Array(length))

export const joinWordArrays = joiner(length => new Uint32Array(length))

export const joinDoubleArrays = joiner(length => new Float64Array(length))

/** The same of ordinals, those of each part moved by what is given with it. */
export const joinMoved = (
  parts: readonly { values: Uint32Array<ArrayBuffer>; by: number }[],
): Uint32Array<ArrayBuffer> => {
  const joined = joinWordArrays(parts.map(({ values }) => values))
  let at = 0
  for (const { values, by } of parts) {
    const end = at + values.length
    if (by === 0) at = end
    else for (; at < end; at++) joined[at]! += by
  }
  return joined
}

/** Index of the first ascending number that is not below `number`. */
export const lowerBound = (list: ArrayLike<number>, number: number): number => {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first ascending number that is above `number`. */
export const upperBound = (list: ArrayLike<number>, number: number): number => {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! <= number) low = middle + 1
    else high = middle
  }
  return low
}

/** First index below `length` from which on a condition holds; `length` if nowhere. */
export const firstHolding = (length: number, holds: (index: number) => boolean): number => {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

type Growable = Float64Array | Uint32Array | BigInt64Array

/** A copy of twice the length, with what is there at its start. */
export const doubled = <T extends Growable>(from: T): T => {
  const larger = new (from.constructor as new (length: number) => T)(from.length * 2)
  larger.set(from as never)
  return larger
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Hash of a double by its two halves. */
export const hashHalves = (low: number, high: number): number => {
  const hash = Math.imul(low, 0x85ebca6b) ^ high
  const mixed = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
  return mixed ^ (mixed >>> 13)
}
