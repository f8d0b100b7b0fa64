import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { mapInOrder } from '../../lib/scheduling/queues.ts'
import type { Limits } from '../../limits/index.ts'
import { BLOCK_MISSING } from '../rpc/answers.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { LogFilter, ScopedPart, ScopedSource } from '../source.ts'
import type { RawBlock, RpcBlock } from '../wire.ts'
import type { LogFinding } from './check-logs.ts'
import { askBloom, fitsAny, mergeFilters } from './log-filter.ts'
import type { AskedRange } from './log-limit.ts'
import { createLogReader } from './log-reader.ts'
import { type Density, newDensity, type Reach } from './range-size.ts'
import { fetchWanted, LOGS_LEFT_OUT, type WantedOptions } from './wanted-blocks.ts'

interface ScopedSourceOptions {
  rpc: Rpc
  batch: number
  concurrency: number
  bloom: boolean
  verify: boolean
  limits: Limits
  log: Log
  clock: Clock
  random: () => number
}

/** Finds logs by `eth_getLogs`: in the largest ranges that nodes accept, then block by block. */
export const createScopedSource = (options: ScopedSourceOptions): ScopedSource => {
  const { rpc, batch, concurrency, bloom, limits, log } = options
  const reader = createLogReader(options)
  const chunk = Math.max(1, Math.floor(batch / 2))

  const fetchSlice = async (filter: LogFilter, slice: Slice<LogFinding>, signal: AbortSignal): Promise<RawBlock[]> => {
    const wanted: WantedOptions = { fits: fitsAny([filter]), bloom, limits }
    let { found } = slice
    for (let isAgain = false; ; isAgain = true) {
      try {
        return (await fetchWanted(rpc, found, wanted, signal)).filter(it => it !== undefined)
      } catch (error) {
        if (!(error instanceof ChainsieveError) || error.next !== 'retry' || error.code === BLOCK_MISSING) throw error
        log.warn('Received logs that do not fit their blocks, asks again', { ...slice.range, error: error.message })
        found = await reader.read(filter, slice.range, newDensity(), signal)
        // If no node returns these logs, the blocks themselves are read.
        if (isAgain && error.code === LOGS_LEFT_OUT) found = found.map(({ number }) => ({ number, claims: [] }))
      }
    }
  }

  async function* find(
    filter: LogFilter,
    range: AskedRange,
    signal: AbortSignal,
    bloomOf: (number: number) => string | undefined = () => undefined,
  ): AsyncGenerator<ScopedPart> {
    const isRuledOut = (number: number) => {
      const stated = bloom ? bloomOf(number) : undefined
      return stated !== undefined && !askBloom(stated, [filter]).may
    }
    const fetch = (slice: Slice<LogFinding>, inner: AbortSignal) => fetchSlice(filter, slice, inner)
    for await (const { window, found } of readWindows(reader, filter, range, concurrency, signal, isRuledOut))
      yield* partsOf(window, found, { rpc, chunk, concurrency, fetch, signal })
  }

  const findIn = async (filters: readonly LogFilter[], header: RpcBlock, signal: AbortSignal) => {
    const { may, byChance } = bloom ? askBloom(header.logsBloom, filters) : { may: true, byChance: 1 }
    if (!may || filters.length === 0) return undefined
    const [number, hash] = [Number(header.number), header.hash]
    const fits = fitsAny(filters)
    const { claims } = await reader.readAt(mergeFilters(filters), { number, hash }, signal)
    // Logs that only the merged filter matches are dropped.
    const found: LogFinding = { number, claims: claims.map(it => ({ ...it, logs: it.logs.filter(fits) })) }
    if (found.claims[0]?.logs.length === 0) {
      if (byChance > BY_CHANCE) return undefined
      // The bloom requires some logs: the block itself decides.
      found.isDoubted = true
    }
    const wanted: WantedOptions = { fits, bloom, limits, hash, urgent: true }
    try {
      return (await fetchWanted(rpc, [found], wanted, signal))[0]
    } catch (error) {
      if (!(error instanceof ChainsieveError) || error.code !== LOGS_LEFT_OUT) throw error
      return (await fetchWanted(rpc, [{ number, claims: [] }], wanted, signal))[0]
    }
  }

  return { find, findIn }
}

interface WindowReader<F, T> {
  reach(): Reach
  read(
    filter: F,
    range: AskedRange,
    density: Density,
    signal: AbortSignal,
    isRuledOut?: (number: number) => boolean,
  ): Promise<T[]>
}

/** Reads a range window by window; requests larger than any answered one are sent alone. */
export async function* readWindows<F, T>(
  reader: WindowReader<F, T>,
  filter: F,
  range: AskedRange,
  concurrency: number,
  signal: AbortSignal,
  isRuledOut: (number: number) => boolean = () => false,
): AsyncGenerator<{ window: AskedRange; found: T[] }> {
  const density = newDensity()
  const ahead = () => {
    const reach = reader.reach()
    const span = reach.span(density)
    if (!reach.isProved(span)) return 1
    return Math.min(concurrency, Math.max(1, Math.floor((AHEAD_ANSWERS * reach.results) / (span * density.perBlock))))
  }
  const read = async ({ window, asked }: AskedWindow, inner: AbortSignal) => {
    if (asked) return { window, found: await reader.read(filter, asked, density, inner, isRuledOut) }
    await yieldToEventLoop()
    return { window, found: [] }
  }
  yield* mapInOrder(
    windowsOf(range, () => reader.reach().span(density), isRuledOut),
    ahead,
    read,
    signal,
  )
}

interface AskedWindow {
  window: AskedRange
  asked: AskedRange | undefined
}

function* windowsOf(
  { from, to }: AskedRange,
  span: () => number,
  isRuledOut: (number: number) => boolean,
): Generator<AskedWindow> {
  for (let at = from; at <= to; ) {
    let first = at
    while (first <= to && first - at < MOST_PASSED && isRuledOut(first)) first++
    const isAsked = first <= to && first - at < MOST_PASSED
    const end = isAsked ? Math.min(to, first + span() - 1) : first - 1
    yield { window: { from: at, to: end }, asked: isAsked ? { from: first, to: end } : undefined }
    at = end + 1
  }
}

/** Logs buffered before they are taken, in full answers: their density sizes the next request. */
const AHEAD_ANSWERS = 2.5
/** Below this false-positive rate a bloom counts as proof of logs: few double calls are wasted. */
const BY_CHANCE = 0.01
const MOST_PASSED = 500

/** Blocks read together in a window, including all blocks without matches. */
export interface Slice<T> {
  range: AskedRange
  found: readonly T[]
}

interface SlicesOptions<T> {
  rpc: Pick<Rpc, 'endpoints'>
  chunk: number
  concurrency: number
  fetch(slice: Slice<T>, signal: AbortSignal): Promise<RawBlock[]>
  signal: AbortSignal
}

export async function* partsOf<T extends { number: number }>(
  window: AskedRange,
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
  { from, to }: AskedRange,
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

const slicesAhead = ({ endpoints }: Pick<Rpc, 'endpoints'>, chunk: number, concurrency: number): number => {
  const bytes = Math.max(...endpoints.map(it => it.bytesPerCall)) * 2 * chunk
  return Math.min(concurrency, bytes === 0 ? 2 : Math.ceil(SLICES_AHEAD_BYTES / bytes))
}

const SLICES_AHEAD_BYTES = 16 << 20
export const PART_BLOCKS = 200
