import { createByteWriter } from '../../lib/bytes.ts'
import { joinBytes, joinDoubles } from '../../lib/typed-arrays.ts'

/**
 * Rows of one table on their way from the thread that decodes to the thread that writes: numbers in one typed array, blobs in one pool,
 * so that a batch moves between threads without a copy.
 */
export interface Rows {
  /** Row-major cells; see `cellOf`. */
  cells: Float64Array<ArrayBuffer>
  pool: Uint8Array<ArrayBuffer>
}

/**
 * A cell is the number itself; NaN for NULL; `Infinity` for the explicit null of integer columns, -1; and below zero a
 * blob: -1 - (offset in the pool × 2^24 + length).
 */
export type Cell = number | Buffer | null

const LENGTH = 2 ** 24

export interface RowsBuilder {
  /** Pool that blobs are appended to, between `beginBlob` and `endBlob`. */
  readonly pool: ReturnType<typeof createByteWriter>
  number(value: number): void
  null(): void
  /** A null that the chain's data states, as opposed to a member it does not carry. */
  explicitNull(): void
  beginBlob(): void
  endBlob(): void
  finish(): Rows
}

export const createRowsBuilder = (): RowsBuilder => {
  let cells = new Float64Array(1024)
  let count = 0
  let blobStart = 0
  const pool = createByteWriter(1 << 16)
  const push = (cell: number) => {
    if (count === cells.length) {
      const larger = new Float64Array(count * 2)
      larger.set(cells)
      cells = larger
    }
    cells[count++] = cell
  }
  return {
    pool,
    number: push,
    null: () => push(Number.NaN),
    explicitNull: () => push(Number.POSITIVE_INFINITY),
    beginBlob() {
      blobStart = pool.length
    },
    endBlob() {
      const length = pool.length - blobStart
      if (length >= LENGTH) throw new Error(`a value of ${length} bytes is too large for the store (16 MiB)`)
      push(-1 - (blobStart * LENGTH + length))
    },
    finish: () => ({ cells: cells.slice(0, count), pool: pool.take() }),
  }
}

/** One behind the other; blobs are found in the joined pool. */
export const joinRows = (parts: readonly Rows[]): Rows => {
  const [first, ...others] = parts
  if (first && others.length === 0) return first
  const cells = joinDoubles(parts.map(part => part.cells))
  let at = 0
  let before = 0
  for (const part of parts) {
    const end = at + part.cells.length
    for (; at < end; at++) if (cells[at]! < 0) cells[at]! -= before * LENGTH
    before += part.pool.length
  }
  return {
    cells,
    pool: joinBytes(parts.map(part => part.pool)),
  }
}

/** The value to bind for a cell. Blobs are views of the pool. */
export const cellValue = (cell: number, pool: Buffer): Cell => {
  if (cell >= 0) return cell === Number.POSITIVE_INFINITY ? -1 : cell
  if (Number.isNaN(cell)) return null
  const place = -1 - cell
  const offset = Math.floor(place / LENGTH)
  return pool.subarray(offset, offset + (place - offset * LENGTH))
}
