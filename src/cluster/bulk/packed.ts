/** A document's lines in a piece of memory that it shares with others: a piece of its own for each would take longer than all else. */
export interface Packed {
  piece: MemoryPiece
  from: number
  to: number
}

export interface MemoryPiece {
  bytes: Buffer
  /** Documents in it that are not released. */
  held: number
  /** A request that was given up may still be read from it: then its memory is not used again. */
  mayBeRead: boolean
}

const LINE_END = 10
/** A piece that is larger than is asked for by more is not used again. */
const MUCH_LARGER = 1.5

/** `size`: bytes of a piece, at least those of a document. */
export const createPacker = (size: () => number) => {
  let free: MemoryPiece[] = []
  let current: MemoryPiece | undefined
  let at = 0

  const pieceOf = (least: number): MemoryPiece => {
    const wanted = Math.max(size(), least)
    free = free.filter(({ bytes }) => bytes.length >= wanted && bytes.length <= wanted * MUCH_LARGER)
    return free.pop() ?? { bytes: Buffer.allocUnsafeSlow(wanted), held: 0, mayBeRead: false }
  }
  const giveBack = (piece: MemoryPiece) => {
    if (piece.held === 0 && !piece.mayBeRead) free.push(piece)
  }

  return {
    /** `tail` stands in place of the bracket that ends the source. */
    pack(head: string, source: Uint8Array | string, tail: string = '') {
      const bytes = typeof source === 'string' ? Buffer.from(source) : source
      // A letter takes three bytes at most.
      const most = 3 * (head.length + tail.length) + bytes.length + 1
      if (!current || at + most > current.bytes.length) {
        const before = current
        current = pieceOf(most)
        at = 0
        if (before) giveBack(before)
      }
      const piece = current
      const from = at
      at += piece.bytes.write(head, at)
      piece.bytes.set(bytes, at)
      at += bytes.length
      if (tail !== '') at += piece.bytes.write(tail, at - 1) - 1
      piece.bytes[at++] = LINE_END
      piece.held++
      return { piece, from, to: at }
    },
    /** Whether no further document comes behind this one in its piece. */
    isFull: ({ piece }: Packed) => piece !== current,
    /** These need their memory no more: others get it. Pieces of many megabytes that come and go keep the garbage collector busy. */
    release(all: readonly Packed[]) {
      for (const { piece } of all) if (--piece.held === 0 && piece !== current) giveBack(piece)
    },
  }
}

/** All of them in their order; where they stand one behind the other, in the memory that they are in. */
export const joinPacked = (all: readonly Packed[]): Buffer => {
  const runs: Buffer[] = []
  for (let i = 0; i < all.length; ) {
    const { piece, from } = all[i]!
    let { to } = all[i++]!
    for (; i < all.length && all[i]!.piece === piece && all[i]!.from === to; i++) to = all[i]!.to
    runs.push(piece.bytes.subarray(from, to))
  }
  return runs.length === 1 ? runs[0]! : Buffer.concat(runs)
}
