import { retry } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { mapInOrder } from '../lib/queue.ts'
import { fetchBlocks, type ReadOptions, readBlocks } from './blocks.ts'
import { checkLink, refOf } from './check.ts'
import type { Rpc } from './rpc.ts'
import type { RangeOptions } from './source.ts'
import type { RawBlock } from './wire.ts'

export interface FetchOptions extends ReadOptions {
  /** Blocks that are asked for in one piece of work. */
  chunk: number
  /** Most pieces under way or waiting to be taken, asked for before each. */
  ahead(): number
  log: Log
}

/**
 * Back-fill: runs of blocks that are linked inside and with the run before. Runs begin at multiples of their length, save the first and the
 * last, so that the same blocks form the same runs whatever the range. Blocks are fetched ahead, in as many
 * requests as the nodes can bear and in no more memory than `AHEAD_BYTES` of answers.
 *
 * Where two runs do not link, the later one is read again; where that does not help, the chain was reorganised
 * below what was already yielded, and the iteration ends with `retry('block_unlinked')`: what is stored has to be
 * reconciled by `follow` first. A range should therefore end `finality` blocks below the head.
 */
export async function* fetchRange(rpc: Rpc, range: RangeOptions, options: FetchOptions): AsyncGenerator<RawBlock[]> {
  const { signal, order } = range
  let run: RawBlock[] = []
  /** The outer block of the last run, which the next one has to link to. */
  let edge: RawBlock | undefined
  for await (const { blocks, last } of fetchAhead(rpc, chunksOf(range, options.chunk), options, signal)) {
    run.push(...blocks)
    if (!last) continue
    if (unlinked(run, edge, order) !== undefined) run = await fetchLinked(rpc, run, edge, order, options, signal)
    edge = order === 'oldest' ? run.at(-1) : run[0]
    yield run
    run = []
  }
}

/** Blocks one by one, fetched ahead, ascending. They are checked, but not linked. */
export async function* fetchAscending(
  rpc: Rpc,
  from: number,
  to: number,
  options: FetchOptions & { tries: number },
  signal: AbortSignal,
): AsyncGenerator<RawBlock> {
  const chunks = chunksOf({ from, to, order: 'oldest', run: options.chunk }, options.chunk)
  for await (const { blocks } of fetchAhead(rpc, chunks, options, signal)) yield* blocks
}

interface Chunk {
  numbers: number[]
  /** Whether the run ends with this chunk. */
  last: boolean
}

function* chunksOf({ from, to, order, run }: Omit<RangeOptions, 'signal'>, size: number): Generator<Chunk> {
  const first = Math.floor(from / run)
  const end = Math.floor(to / run)
  for (let i = 0; i <= end - first; i++) {
    const at = (order === 'oldest' ? first + i : end - i) * run
    const low = Math.max(from, at)
    const high = Math.min(to, at + run - 1)
    for (let start = low; start <= high; start += size) {
      const stop = Math.min(start + size - 1, high)
      yield { numbers: Array.from({ length: stop - start + 1 }, (_, n) => start + n), last: stop === high }
    }
  }
}

/** Answers that may be held in memory before they are taken. */
const AHEAD_BYTES = 16 << 20

async function* fetchAhead(
  rpc: Rpc,
  chunks: Iterable<Chunk>,
  options: FetchOptions & { tries?: number },
  signal: AbortSignal,
): AsyncGenerator<{ blocks: RawBlock[]; last: boolean }> {
  const ahead = () => {
    const bytes = Math.max(...rpc.endpoints.map(it => it.bytesPerCall)) * (options.traces ? 3 : 2) * options.chunk
    return Math.min(options.ahead(), bytes === 0 ? 2 : Math.ceil(AHEAD_BYTES / bytes))
  }
  yield* mapInOrder(
    chunks,
    ahead,
    async ({ numbers, last }, inner) => ({ blocks: await fetchBlocks(rpc, numbers, options, inner), last }),
    signal,
  )
}

/** The first link that does not hold, or undefined where all do. */
const unlinked = (run: readonly RawBlock[], edge: RawBlock | undefined, order: 'oldest' | 'newest'): unknown => {
  const chain = edge === undefined ? run : order === 'oldest' ? [edge, ...run] : [...run, edge]
  try {
    for (let i = 1; i < chain.length; i++) checkLink(refOf(chain[i - 1]!.block), chain[i]!.block)
    return undefined
  } catch (error) {
    return error
  }
}

const fetchLinked = (
  rpc: Rpc,
  run: readonly RawBlock[],
  edge: RawBlock | undefined,
  order: 'oldest' | 'newest',
  options: FetchOptions,
  signal: AbortSignal,
): Promise<RawBlock[]> => {
  const numbers = run.map(it => Number(it.block.number))
  options.log.warn('Read blocks that do not link, reads them again', { from: numbers[0], to: numbers.at(-1) })
  return rpc.attempt(
    async endpoint => {
      const blocks: RawBlock[] = []
      for (let i = 0; i < numbers.length; i += options.chunk) {
        for (const block of await readBlocks(endpoint, numbers.slice(i, i + options.chunk), signal, options)) {
          if (block instanceof Error) throw block
          blocks.push(block)
        }
      }
      const fault = unlinked(blocks, edge, order)
      if (fault !== undefined) throw retry('block_unlinked', (fault as Error).message)
      return blocks
    },
    signal,
    { tries: RELINK_TRIES, traces: options.traces },
  )
}

/** With the waits between them, some ten seconds: enough for a lagging node, short enough for a real reorganisation. */
const RELINK_TRIES = 8
