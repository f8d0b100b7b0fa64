import { retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { mapInOrder } from '../../lib/scheduling/queues.ts'
import { checkLink } from '../check/check-block.ts'
import type { Head } from '../rpc/answers.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RangeOptions } from '../source.ts'
import type { RawBlock } from '../wire.ts'
import {
  callsOf,
  callsPerBlock,
  createGatherer,
  fetchBlocks,
  type Question,
  questionOf,
  type ReadOptions,
  readAnswers,
  readBlocks,
} from './read-blocks.ts'

export interface FetchOptions extends ReadOptions {
  chunk: number
  ahead(): number
  log: Log
}

/**
 * Back-fill: yields linked batches, fetched ahead and aligned to multiples of their length.
 * Unlinked batches are retried; then `retry('block_unlinked')` lets `follow` reconcile.
 */
export async function* fetchRange(rpc: Rpc, range: RangeOptions, options: FetchOptions): AsyncGenerator<RawBlock[]> {
  for await (const parts of fetchParts<never>(rpc, range, options))
    yield parts.flatMap(part => ('taken' in part ? [] : part.blocks))
}

/** Like `fetchRange`, but passes unread answers to the taker; rejected ones are parsed here. */
export async function* fetchParts<T extends TakenBlocks>(
  rpc: Rpc,
  range: RangeOptions,
  options: FetchOptions,
  taker?: Taker<T>,
): AsyncGenerator<RangePart<T>[]> {
  const { signal, order } = range
  let run: RangePart<T>[] = []
  /** Last block of the previous batch, to which the next must link. */
  let edge: Head | undefined
  const fetch = async (numbers: readonly number[], inner: AbortSignal): Promise<RangePart<T>[]> =>
    taker?.wants(numbers)
      ? fetchTaken(rpc, numbers, options, taker, inner)
      : [{ blocks: await fetchBlocks(rpc, numbers, options, inner) }]
  const ahead = taker ? { ...options, threads: taker.threads } : options
  for await (const { result, last } of fetchAhead(rpc, chunksOf(range, options.chunk), ahead, signal, fetch)) {
    run.push(...result)
    if (!last) continue
    let heads = run.flatMap(headsOf)
    if (unlinked(heads, edge, order) !== undefined) {
      for (const part of run) if ('taken' in part) part.taken.drop()
      const blocks = await fetchLinked(rpc, heads, edge, order, options, signal)
      heads = blocks.map(headOfBlock)
      run = [{ blocks }]
    }
    edge = order === 'oldest' ? heads.at(-1) : heads[0]
    yield run
    run = []
  }
}

export async function* fetchAscending(
  rpc: Rpc,
  from: number,
  to: number,
  options: FetchOptions & { tries: number },
  signal: AbortSignal,
): AsyncGenerator<RawBlock> {
  const chunks = chunksOf({ from, to, order: 'oldest', run: options.chunk }, options.chunk)
  const fetch = (numbers: readonly number[], inner: AbortSignal) => fetchBlocks(rpc, numbers, options, inner)
  for await (const { result } of fetchAhead(rpc, chunks, options, signal, fetch)) yield* result
}

interface Chunk {
  numbers: number[]
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

/** Maximum bytes of answers buffered before they are taken. */
const AHEAD_BYTES = 16 << 20

async function* fetchAhead<R>(
  rpc: Rpc,
  chunks: Iterable<Chunk>,
  options: FetchOptions & { threads?: number },
  signal: AbortSignal,
  fetch: (numbers: readonly number[], signal: AbortSignal) => Promise<R>,
): AsyncGenerator<{ result: R; last: boolean }> {
  const ahead = () => {
    const bytes = Math.max(...rpc.endpoints.map(it => it.bytesPerCall)) * (options.traces ? 3 : 2) * options.chunk
    return Math.min(options.ahead(), (bytes === 0 ? 2 : Math.ceil(AHEAD_BYTES / bytes)) + (options.threads ?? 0))
  }
  yield* mapInOrder(
    chunks,
    ahead,
    async ({ numbers, last }, inner) => ({ result: await fetch(numbers, inner), last }),
    signal,
  )
}

const unlinked = (run: readonly Head[], edge: Head | undefined, order: 'oldest' | 'newest'): unknown => {
  const chain = edge === undefined ? run : order === 'oldest' ? [edge, ...run] : [...run, edge]
  try {
    for (let i = 1; i < chain.length; i++) checkLink(chain[i - 1]!, chain[i]!)
    return undefined
  } catch (error) {
    return error
  }
}

const fetchLinked = (
  rpc: Rpc,
  run: readonly Head[],
  edge: Head | undefined,
  order: 'oldest' | 'newest',
  options: FetchOptions,
  signal: AbortSignal,
): Promise<RawBlock[]> => {
  const numbers = run.map(({ number }) => number)
  options.log.warn('Received blocks that do not link, reads them again', { from: numbers[0], to: numbers.at(-1) })
  return rpc.attempt(
    async endpoint => {
      const blocks: RawBlock[] = []
      for (let i = 0; i < numbers.length; i += options.chunk) {
        for (const block of await readBlocks(endpoint, numbers.slice(i, i + options.chunk), signal, options)) {
          if (block instanceof Error) throw block
          blocks.push(block)
        }
      }
      const fault = unlinked(blocks.map(headOfBlock), edge, order)
      if (fault !== undefined) throw retry('block_unlinked', (fault as Error).message)
      return blocks
    },
    signal,
    { tries: RELINK_TRIES, traces: options.traces, urgent: options.urgent },
  )
}

/** About ten seconds of retries: enough for a lagging node, short for a real reorganisation. */
const RELINK_TRIES = 8

export interface Taker<T extends TakenBlocks> {
  threads: number
  wants(numbers: readonly number[]): boolean
  /** Reads and checks an answer; returns the bytes if it fails, and the caller finds the fault. */
  take(body: Uint8Array, question: Question): Promise<T | Uint8Array>
}

export interface TakenBlocks {
  /** Ascending and contiguous, checked but not linked. */
  blocks: readonly Head[]
  drop(): void
}

export type RangePart<T extends TakenBlocks> = { blocks: RawBlock[] } | { taken: T }

const headOfBlock = ({ block }: RawBlock): Head => ({
  number: Number(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
})

const headsOf = (part: RangePart<TakenBlocks>): readonly Head[] =>
  'taken' in part ? part.taken.blocks : part.blocks.map(headOfBlock)

/** Like `fetchBlocks`, but passes answers to the taker first; rejected ones are parsed here. */
const fetchTaken = async <T extends TakenBlocks>(
  rpc: Rpc,
  numbers: readonly number[],
  options: ReadOptions,
  taker: Taker<T>,
  signal: AbortSignal,
): Promise<RangePart<T>[]> => {
  const step = callsPerBlock({ whole: true, traceMethod: options.traces ? 'trace_block' : undefined })
  // At most one request: a split answer cannot be taken.
  const most = Math.max(1, Math.floor(Math.min(...rpc.endpoints.map(it => it.batch)) / step))
  const slices: (readonly number[])[] = []
  for (let i = 0; i < numbers.length; i += most) slices.push(numbers.slice(i, i + most))
  return Promise.all(slices.map(slice => fetchSlice(rpc, slice, options, taker, signal)))
}

const fetchSlice = <T extends TakenBlocks>(
  rpc: Rpc,
  numbers: readonly number[],
  options: ReadOptions,
  taker: Taker<T>,
  signal: AbortSignal,
): Promise<RangePart<T>> => {
  const gather = createGatherer(numbers)
  let isPlain = true
  return rpc.attempt(
    async endpoint => {
      const question = questionOf(endpoint, gather.missing(), options)
      if (!isPlain || !question.whole)
        return { blocks: gather.add(await readBlocks(endpoint, gather.missing(), signal, options)) }
      const answers = await endpoint.sendUnread(callsOf(question), signal, body => taker.take(body, question))
      if (!Array.isArray(answers)) return answers
      isPlain = false
      return { blocks: gather.add(await readAnswers(endpoint, question, answers, signal, options)) }
    },
    signal,
    { traces: options.traces },
  )
}
