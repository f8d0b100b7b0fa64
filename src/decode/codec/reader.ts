/** Why a value is none of its type. Thrown inside the ABI decoder only; no Error, since nobody wants its stack. */
export class Fault {
  readonly reason: string
  path = ''
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Hex text that is read at character positions; 64 characters are a word. */
export interface Reader {
  readonly text: string
  /** Words taken so far: the length of the canonical encoding, once all is read. */
  words: number
  /** Accounts for so many characters, which must be there. */
  take(at: number, length: number): void
}

/**
 * Values may share their bytes, and arrays of arrays that do can unfold to any size; what unfolds to more than this many times
 * its data is no log that a contract means.
 */
const UNFOLDING = 8

export const createReader = (text: string, spans?: [from: number, to: number][]): Reader => {
  const limit = (text.length >> 6) * UNFOLDING
  return {
    text,
    words: 0,
    take(at, length) {
      if (at + length > text.length) throw new Fault('the data ends inside it')
      this.words += length / 64
      if (this.words > limit) throw new Fault(`it expands to more than ${UNFOLDING} times the data`)
      spans?.push([at, at + length])
    },
  }
}

/** The place that the offset at `head` points to, counted from `base`. */
export const follow = (reader: Reader, head: number, base: number): number => {
  const at = base + 2 * readSize(reader.text, head)
  if (at >= reader.text.length) throw new Fault('its offset points beyond the data')
  return at
}

/** An offset or a length, infinite where it is longer than any data. */
export const readSize = (text: string, at: number): number =>
  text.startsWith(ZEROS_52, at) ? Number.parseInt(text.slice(at + 52, at + 64), 16) : Number.POSITIVE_INFINITY

const ZEROS_52 = '0'.repeat(52)
