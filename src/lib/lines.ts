const NEWLINE_CODE = 10

/** Lines that are not empty. */
export function* filledLines(body: Uint8Array = new Uint8Array()): Generator<Uint8Array, void> {
  for (let at = 0; at < body.length; ) {
    const found = body.indexOf(NEWLINE_CODE, at)
    const end = found < 0 ? body.length : found
    const line = body.subarray(at, end)
    if (!isBlankLine(line)) yield line
    at = end + 1
  }
}

const isBlankLine = (line: Uint8Array): boolean => line.every(byte => byte === 32 || byte === 9 || byte === 13)
