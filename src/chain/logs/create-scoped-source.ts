import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { mapInOrder } from '../../lib/queue.ts'
import type { Clock } from '../../lib/retry.ts'
import type { Limits } from '../../limits/index.ts'
import type { Rpc } from '../rpc.ts'
import type { RawBlock, RpcBlock } from '../wire.ts'
import type { Found } from './claims.ts'
import { askBloom, fitsAny, mergeFilters } from './log-filter.ts'
import type { Asked } from './log-limit.ts'
import { createLogReader, type LogReader } from './log-reader.ts'
import { newDensity } from './reach.ts'
import type { LogFilter, ScopedPart, ScopedSource } from './scoped-source.ts'
import { fetchWanted, LOGS_LEFT_OUT, type WantedOptions } from './wanted.ts'

export interface ScopedSourceOptions {
  rpc: Rpc
  /** Most calls in one request. */
  batch: number
  /** Most requests in flight at one node. */
  concurrency: number
  /** Whether blooms of headers are those of the logs. */
  bloom: boolean
  /** Whether ranges are asked of two nodes and compared. */
  verify: boolean
  limits: Limits
  log: Log
  clock: Clock
  random: () => number
}

/**
 * What is wanted of a chain, found by `eth_getLogs`: over ranges of as many blocks as the nodes bear, and then block by block where there is something.
 */
export const createScopedSource = (options: ScopedSourceOptions): ScopedSource => {
  const { rpc, batch, concurrency, bloom, limits, log } = options
  const reader = createLogReader(options)
  const chunk = Math.max(1, Math.floor(batch / 2))

  /** Blocks with logs of a filter, until they and their logs fit together. */
  const fetchSlice = async (filter: LogFilter, slice: Slice, signal: AbortSignal): Promise<RawBlock[]> => {
    const wanted: WantedOptions = { fits: fitsAny([filter]), bloom, limits }
    let { found } = slice
    for (let isAgain = false; ; isAgain = true) {
      try {
        return (await fetchWanted(rpc, found, wanted, signal)).filter(it => it !== undefined)
      } catch (error) {
        if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        log.warn('Received logs that do not fit their blocks, asks again', { ...slice.range, error: error.message })
        found = await reader.read(filter, slice.range, newDensity(), signal)
        // Where nobody gives them, the blocks themselves do.
        if (isAgain && error.code === LOGS_LEFT_OUT) found = found.map(({ number }) => ({ number, claims: [] }))
      }
    }
  }

  async function* parts(
    filter: LogFilter,
    range: Asked,
    found: readonly Found[],
    signal: AbortSignal,
  ): AsyncGenerator<ScopedPart> {
    const ahead = () => {
      const bytes = Math.max(...rpc.endpoints.map(it => it.bytesPerCall)) * 2 * chunk
      return Math.min(concurrency, bytes === 0 ? 2 : Math.ceil(AHEAD_BYTES / bytes))
    }
    const fetch = async (slice: Slice, inner: AbortSignal) => ({
      to: slice.range.to,
      blocks: await fetchSlice(filter, slice, inner),
    })
    let [from, blocks]: [number, RawBlock[]] = [range.from, []]
    for await (const slice of mapInOrder(slicesOf(range, found, chunk), ahead, fetch, signal)) {
      for (const block of slice.blocks) blocks.push(block)
      if (blocks.length < PART_BLOCKS && slice.to < range.to) continue
      yield { from, to: slice.to, blocks }
      from = slice.to + 1
      blocks = []
    }
  }

  async function* find(filter: LogFilter, range: Asked, signal: AbortSignal): AsyncGenerator<ScopedPart> {
    for await (const { window, found } of readWindows(reader, filter, range, concurrency, signal))
      yield* parts(filter, window, found, signal)
  }

  const findIn = async (filters: readonly LogFilter[], header: RpcBlock, signal: AbortSignal) => {
    const { may, byChance } = bloom ? askBloom(header.logsBloom, filters) : { may: true, byChance: 1 }
    if (!may || filters.length === 0) return undefined
    const [number, hash] = [Number(header.number), header.hash]
    const fits = fitsAny(filters)
    const { claims } = await reader.readAt(mergeFilters(filters), { number, hash }, signal)
    // What only the merged filter fits is not wanted.
    const found: Found = { number, claims: claims.map(it => ({ ...it, logs: it.logs.filter(fits) })) }
    if (found.claims[0]?.logs.length === 0) {
      if (byChance > BY_CHANCE) return undefined
      // The bloom says that there must be some: the block itself shows.
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

/**
 * A range, window by window, with what was found in each. Several are asked for at once, but for one that is larger than any that
 * was answered: whether that is too much shows first.
 */
export async function* readWindows(
  reader: LogReader,
  filter: LogFilter,
  range: Asked,
  concurrency: number,
  signal: AbortSignal,
): AsyncGenerator<{ window: Asked; found: Found[] }> {
  const density = newDensity()
  const ahead = () => {
    const reach = reader.reach()
    const span = reach.span(density)
    if (!reach.isProved(span)) return 1
    return Math.min(concurrency, Math.max(1, Math.floor((AHEAD_ANSWERS * reach.results) / (span * density.perBlock))))
  }
  const read = async (window: Asked, inner: AbortSignal) => ({
    window,
    found: await reader.read(filter, window, density, inner),
  })
  yield* mapInOrder(
    windowsOf(range, () => reader.reach().span(density)),
    ahead,
    read,
    signal,
  )
}

function* windowsOf({ from, to }: Asked, span: () => number): Generator<Asked> {
  for (let at = from; at <= to; ) {
    const end = Math.min(to, at + span() - 1)
    yield { from: at, to: end }
    at = end + 1
  }
}

/** Blocks of a window that are read together, and all blocks around them in which nothing was found. */
interface Slice {
  range: Asked
  found: readonly Found[]
}

function* slicesOf({ from, to }: Asked, found: readonly Found[], size: number): Generator<Slice> {
  let at = from
  for (let i = 0; i < found.length || at <= to; i += size) {
    const some = found.slice(i, i + size)
    const end = i + size < found.length ? some.at(-1)!.number : to
    yield { range: { from: at, to: end }, found: some }
    at = end + 1
  }
}

/** Answers that may be held in memory before they are taken. */
const AHEAD_BYTES = 16 << 20
/** The same of logs, in answers that are full: what they have in them says how much to ask for next. */
const AHEAD_ANSWERS = 2.5
/** Blocks that make up a part, or a few more. */
const PART_BLOCKS = 200
/** A bloom that is less likely by chance counts as a sign that there are logs: then two calls in vain are rare. */
const BY_CHANCE = 0.01
