/** How hits are written into a file. */
export type Form = 'csv' | 'ndjson'

const [QUOTE, NEWLINE] = [34, 10]

/** Hits among the bytes: lines, but for those within quotes and the line of names. */
export const countLines = (form: Form) => {
  let lines = form === 'csv' ? -1 : 0
  let quoted = false
  return {
    add(chunk: Uint8Array): number {
      for (const byte of chunk) {
        if (byte === QUOTE && form === 'csv') quoted = !quoted
        else if (byte === NEWLINE && !quoted) lines++
      }
      return Math.max(lines, 0)
    },
    lines: () => Math.max(lines, 0),
  }
}
