/** A document's lines in a piece of memory that it shares with others: a piece of its own for each would take longer than all else. */
export interface Packed {
  piece: Buffer
  from: number
  to: number
}

/** Writes the lines of a document; `tail` stands in place of the bracket that ends its source. */
type Pack = (head: string, source: Uint8Array | string, tail?: string) => Packed

const PIECE_BYTES = 1 << 20
const LINE_END = 10

/** Writes documents one behind the other, each with its line ends. */
export const createPacker = (): Pack => {
  let piece = Buffer.allocUnsafeSlow(0)
  let at = 0
  return (head, source, tail = '') => {
    const bytes = typeof source === 'string' ? Buffer.from(source) : source
    // A letter takes three bytes at most.
    const most = 3 * (head.length + tail.length) + bytes.length + 1
    if (at + most > piece.length) {
      piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, most))
      at = 0
    }
    const from = at
    at += piece.write(head, at)
    piece.set(bytes, at)
    at += bytes.length
    if (tail !== '') at += piece.write(tail, at - 1) - 1
    piece[at++] = LINE_END
    return { piece, from, to: at }
  }
}

/** All of them in their order, in memory of their own. */
export const joined = (all: readonly Packed[]): Buffer => {
  const runs: Buffer[] = []
  for (let i = 0; i < all.length; ) {
    const { piece, from } = all[i]!
    let { to } = all[i++]!
    for (; i < all.length && all[i]!.piece === piece && all[i]!.from === to; i++) to = all[i]!.to
    runs.push(piece.subarray(from, to))
  }
  return Buffer.concat(runs)
}
