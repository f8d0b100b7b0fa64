/** Unpacks a raw LZ4 block, whose size is known. Throws a `RangeError` where it is damaged. */
export const unpackLz4 = (input: Uint8Array, size: number): Uint8Array => {
  const output = new Uint8Array(size)
  let at = 0
  let end = 0
  const next = (): number => {
    if (at >= input.length) throw damaged()
    return input[at++]!
  }
  /** A length of 15 goes on in the bytes that follow. */
  const lengthOf = (nibble: number): number => {
    let length = nibble
    if (nibble === 15)
      for (let more = 255; more === 255; ) {
        more = next()
        length += more
      }
    return length
  }
  while (at < input.length) {
    const token = next()
    const literals = lengthOf(token >> 4)
    if (at + literals > input.length || end + literals > size) throw damaged()
    output.set(input.subarray(at, at + literals), end)
    at += literals
    end += literals
    // The last sequence has literals alone.
    if (at === input.length) break
    const offset = next() + next() * 256
    const length = lengthOf(token & 15) + LEAST_MATCH
    if (offset === 0 || offset > end || end + length > size) throw damaged()
    if (offset >= length) {
      output.copyWithin(end, end - offset, end - offset + length)
      end += length
    } else for (const stop = end + length; end < stop; end++) output[end] = output[end - offset]!
  }
  if (end !== size) throw damaged()
  return output
}

const LEAST_MATCH = 4

const damaged = () => new RangeError('an LZ4 block is damaged')
