/** A slice of a shared memory piece with a document's lines: one piece per document is slow. */
export interface Packed {
  piece: MemoryPiece
  from: number
  to: number
}

export interface MemoryPiece {
  bytes: Buffer
  /** Documents in it not yet released. */
  held: number
  /** An aborted request may still read it: the memory is not reused. */
  mayBeRead: boolean
}

const LINE_END = 10
/** Pieces larger than requested by this factor are not reused. */
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
    /** `tail` replaces the closing bracket of the source. */
    pack(head: string, source: Uint8Array | string, tail: string = '') {
      const bytes = typeof source === 'string' ? Buffer.from(source) : source
      // UTF-8 takes at most three bytes per UTF-16 unit.
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
    /** Whether no further document follows in its piece. */
    isFull: ({ piece }: Packed) => piece !== current,
    /** Releases pieces for reuse: allocating megabytes repeatedly burdens the garbage collector. */
    release(all: readonly Packed[]) {
      for (const { piece } of all) if (--piece.held === 0 && piece !== current) giveBack(piece)
    },
  }
}

/** Joins slices in order; adjacent ones of one piece are not copied. */
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
