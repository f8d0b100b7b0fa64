/** Where the next value of a record is read. One for all readers, since none of them waits: two results then need no object. */
export const cursor = { at: 0 }

/** Reads the varint at the cursor and moves behind it. */
export const takeVarint = (bytes: Uint8Array): number => {
  const first = bytes[cursor.at++]!
  if (first < 0x80) return first
  let value = first & 0x7f
  let unit = 0x80
  for (;;) {
    const byte = bytes[cursor.at++]!
    value += (byte & 0x7f) * unit
    // Beyond the end there is no byte, which ends the loop, too.
    if (!(byte >= 0x80)) return value
    unit *= 0x80
  }
}
