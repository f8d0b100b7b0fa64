import { mapInOrder } from '../../lib/scheduling/in-order.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RawBlock } from '../wire.ts'
import type { Asked } from './log-limit.ts'
import type { ScopedPart } from './scoped-source.ts'

/** Blocks of a window that are read together, and all blocks around them in which nothing was found. */
export interface Slice<T> {
  range: Asked
  found: readonly T[]
}

export interface SlicesOptions<T> {
  rpc: Pick<Rpc, 'endpoints'>
  /** Blocks of a slice. */
  chunk: number
  /** Most requests in flight at one node. */
  concurrency: number
  fetch(slice: Slice<T>, signal: AbortSignal): Promise<RawBlock[]>
  signal: AbortSignal
}

/** Fetches what was found in a window, some slices ahead, and gathers them into parts. */
export async function* partsOf<T extends { number: number }>(
  window: Asked,
  found: readonly T[],
  { rpc, chunk, concurrency, fetch, signal }: SlicesOptions<T>,
): AsyncGenerator<ScopedPart> {
  const fetched = async (slice: Slice<T>, inner: AbortSignal) => ({
    to: slice.range.to,
    blocks: await fetch(slice, inner),
  })
  const ahead = () => slicesAhead(rpc, chunk, concurrency)
  let [from, blocks]: [number, RawBlock[]] = [window.from, []]
  for await (const slice of mapInOrder(slicesOf(window, found, chunk), ahead, fetched, signal)) {
    for (const block of slice.blocks) blocks.push(block)
    if (blocks.length < PART_BLOCKS && slice.to < window.to) continue
    yield { from, to: slice.to, blocks }
    from = slice.to + 1
    blocks = []
  }
}

function* slicesOf<T extends { number: number }>(
  { from, to }: Asked,
  found: readonly T[],
  size: number,
): Generator<Slice<T>> {
  let at = from
  for (let i = 0; i < found.length || at <= to; i += size) {
    const some = found.slice(i, i + size)
    const end = i + size < found.length ? some.at(-1)!.number : to
    yield { range: { from: at, to: end }, found: some }
    at = end + 1
  }
}

/** Slices that may be under way. */
const slicesAhead = ({ endpoints }: Pick<Rpc, 'endpoints'>, chunk: number, concurrency: number): number => {
  const bytes = Math.max(...endpoints.map(it => it.bytesPerCall)) * 2 * chunk
  return Math.min(concurrency, bytes === 0 ? 2 : Math.ceil(AHEAD_BYTES / bytes))
}

/** Answers that may be held in memory before they are taken. */
const AHEAD_BYTES = 16 << 20
/** Blocks that make up a part, or a few more. */
export const PART_BLOCKS = 200
