import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import { mapInOrder } from '../../lib/scheduling/queues.ts'
import type { Limits } from '../../limits/index.ts'
import type { AskedRange } from '../logs/log-limit.ts'
import { PART_BLOCKS, partsOf, readWindows, type Slice } from '../logs/log-source.ts'
import { askWithin, createReaches, type Density, newDensity } from '../logs/range-size.ts'
import { BLOCK_MISSING, type Call, isMissingBlock, probeMethod } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { LACKS_METHOD, type Rpc } from '../rpc/rpc.ts'
import type { FindTransactions, ScopedPart, SearchMethod, TransactionSource } from '../source.ts'
import { type RawBlock, type RpcTransaction, toQuantity } from '../wire.ts'
import { type ByBlock, createTransactionAsker, type FoundBlock, isMissingSearch, OTS } from './ask-transactions.ts'
import { fetchReceipts, fetchTransactions, type TransactionFetchOptions } from './fetch-transactions.ts'

interface TransactionSourceOptions extends SearchOptions {
  batch: number
  bloom: boolean
  traces: boolean
  limits: Limits
  log: Log
}

export const createTransactionSource = (options: TransactionSourceOptions): TransactionSource => {
  const { rpc, batch, concurrency, bloom, traces, limits, log } = options
  const search = createTransactionSearch(options)
  const chunk = Math.max(1, Math.floor(batch / (traces ? 3 : 2)))
  const fetching = (addresses: readonly string[]): TransactionFetchOptions => ({
    ...{ bloom, limits, traces },
    isWanted: fromOrTo(addresses),
  })

  const fetchSlice = async (
    addresses: readonly string[],
    slice: Slice<FoundBlock>,
    { by, known }: FindTransactions,
    signal: AbortSignal,
  ): Promise<RawBlock[]> => {
    let { found } = slice
    for (;;) {
      try {
        // Without claims of nodes, only the blocks can be retried.
        const wanted = { ...fetching(addresses), ...(by === null && { tries: Number.POSITIVE_INFINITY }) }
        // Stored transactions may lack their traces.
        const there = traces ? new Set() : known(found.flatMap(({ hashes }) => hashes))
        const isNew = ({ hashes }: FoundBlock) => hashes.length === 0 || hashes.some(hash => !there.has(hash))
        const blocks = await fetchTransactions(rpc, found.filter(isNew), wanted, signal)
        return blocks.filter(({ block }) => block.transactions.length > 0)
      } catch (error) {
        const mayPass = error instanceof ChainsieveError && error.next === 'retry' && error.code !== BLOCK_MISSING
        if (!mayPass || by === null) throw error
        log.warn('Received transactions that do not fit their blocks, asks again', {
          ...slice.range,
          error: error.message,
        })
        found = await search.searchAll(by, addresses, slice.range, signal)
      }
    }
  }

  async function* find(
    addresses: readonly string[],
    range: AskedRange,
    how: FindTransactions,
    signal: AbortSignal,
  ): AsyncGenerator<ScopedPart> {
    const windows = how.by === null ? everyBlock(range) : search.search(how.by, addresses, range, signal)
    const fetch = (slice: Slice<FoundBlock>, inner: AbortSignal) => fetchSlice(addresses, slice, how, inner)
    for await (const { window, found } of windows)
      yield* partsOf(window, found, { rpc, chunk, concurrency, fetch, signal })
  }

  return {
    searching: search.searching,
    find,
    async findIn(addresses, raw, signal) {
      const wanted = fetching(addresses)
      if (!raw.block.transactions.some(wanted.isWanted)) return undefined
      return fetchReceipts(rpc, raw, { ...wanted, urgent: true }, signal)
    },
  }
}

function* everyBlock({ from, to }: AskedRange): Generator<SearchWindow> {
  for (let at = from; at <= to; at += READ_BLOCKS) {
    const window = { from: at, to: Math.min(to, at + READ_BLOCKS - 1) }
    const numbers = Array.from({ length: window.to - at + 1 }, (_, i) => at + i)
    yield { window, found: numbers.map(number => ({ number, hashes: [] })) }
  }
}

/** Blocks per window if each is read: nodes idle briefly between windows. */
const READ_BLOCKS = 10 * PART_BLOCKS

const fromOrTo = (addresses: readonly string[]) => {
  const wanted = new Set(addresses)
  return ({ from, to }: RpcTransaction): boolean =>
    wanted.has(from.toLowerCase()) || (to !== null && to !== undefined && wanted.has(to.toLowerCase()))
}

interface SearchOptions {
  rpc: Rpc
  concurrency: number
  clock: Clock
  random: () => number
}

interface SearchWindow {
  window: AskedRange
  found: FoundBlock[]
}

const createTransactionSearch = ({ rpc, concurrency, clock, random }: SearchOptions) => {
  const asker = createTransactionAsker(rpc)
  const reachOf = createReaches()
  let last = rpc.endpoints[0]!

  const attempt = async <T>(work: (endpoint: Endpoint) => Promise<T>, method: SearchMethod, signal: AbortSignal) => {
    for (let failures = 1; ; failures++) {
      try {
        return await rpc.attempt(work, signal)
      } catch (error) {
        const isLacking = error instanceof ChainsieveError && error.code === LACKS_METHOD
        if (!isLacking || rpc.endpoints.every(it => it.lacks.has(method))) throw error
        await clock.sleep(backoff(failures, { random, capMs: 5_000 }), signal)
      }
    }
  }

  const readSome = async (
    endpoint: Endpoint,
    addresses: readonly string[],
    range: AskedRange,
    density: Density,
    signal: AbortSignal,
  ): Promise<{ to: number; found: FoundBlock[] }> => {
    last = endpoint
    const filter = { addresses, topics: [] }
    const { asked, found } = await askWithin(reachOf(endpoint), filter, range, density, async (parts, asked) => {
      const found: ByBlock = new Map()
      let count = 0
      for (const part of parts) {
        const answer = await asker.askTraces(endpoint, part.addresses, asked, signal)
        if ('limit' in answer) return answer
        count = Math.max(count, answer.traces)
        for (const [number, hashes] of answer.found) found.set(number, (found.get(number) ?? new Set()).union(hashes))
      }
      return { found, count }
    })
    return { to: asked.to, found: found ? blocksOf(found) : [{ number: asked.to, hashes: [] }] }
  }

  const readTraces = async (addresses: readonly string[], range: AskedRange, density: Density, signal: AbortSignal) => {
    const found: FoundBlock[] = []
    for (let { from } = range; from <= range.to; ) {
      const rest = { from, to: range.to }
      const some = await attempt(it => readSome(it, addresses, rest, density, signal), 'trace_filter', signal)
      for (const block of some.found) found.push(block)
      from = some.to + 1
    }
    return found
  }

  async function* searchPages(addresses: readonly string[], range: AskedRange, signal: AbortSignal) {
    const cursors = addresses.map(address => ({ address, to: range.from - 1, found: new Map() as ByBlock }))
    for (let { from } = range; from <= range.to; ) {
      const behind = cursors.filter(it => it.to < from)
      const ask = async (cursor: (typeof cursors)[number], inner: AbortSignal) => {
        const asked = { from: cursor.to + 1, to: range.to }
        return { cursor, page: await attempt(it => asker.askPage(it, cursor.address, asked, inner), OTS, inner) }
      }
      for await (const { cursor, page } of mapInOrder(behind, () => concurrency, ask, signal)) {
        cursor.to = page.to
        for (const [number, hashes] of page.found) cursor.found.set(number, hashes)
      }
      const to = cursors.reduce((least, it) => Math.min(least, it.to), range.to)
      const found: ByBlock = new Map()
      for (const cursor of cursors)
        for (const [number, hashes] of cursor.found) {
          if (number > to) continue
          found.set(number, (found.get(number) ?? new Set()).union(hashes))
          cursor.found.delete(number)
        }
      yield { window: { from, to }, found: blocksOf(found) }
      from = to + 1
    }
  }

  const search = (by: SearchMethod, addresses: readonly string[], range: AskedRange, signal: AbortSignal) =>
    by === OTS
      ? searchPages(addresses, range, signal)
      : readWindows({ reach: () => reachOf(last), read: readTraces }, addresses, range, concurrency, signal)

  const refusalOf = async (endpoint: Endpoint, method: SearchMethod, from: number, signal: AbortSignal) => {
    let isThere = true
    const why = await probeMethod(endpoint, signal, false, async send => {
      isThere = false
      const { error } = await send(probeOf(method, from))
      isThere = !error || !isMissingSearch(method, error)
      return error && (!isThere || isMissingBlock(error)) ? error : undefined
    })
    if (!isThere) endpoint.lacks.add(method)
    return why
  }

  return {
    search,
    async searchAll(by: SearchMethod, addresses: readonly string[], range: AskedRange, signal: AbortSignal) {
      if (by !== OTS) return readTraces(addresses, range, newDensity(), signal)
      const found: FoundBlock[] = []
      for await (const window of searchPages(addresses, range, signal)) found.push(...window.found)
      return found
    },
    async searching(from: number, signal: AbortSignal) {
      const refusals = new Map<string, string>()
      for (const method of SEARCH_METHODS)
        for (let failures = 1; failures <= PROBES; failures++) {
          try {
            await rpc.attempt(async endpoint => {
              const why = await refusalOf(endpoint, method, from, signal)
              refusals.delete(`${endpoint.name} ${method}`)
              if (why === undefined) return
              refusals.set(`${endpoint.name} ${method}`, `${endpoint.name}: ${method}: ${why}`)
              throw retry(LACKS_METHOD, why)
            }, signal)
            return { by: method }
          } catch (error) {
            if (!(error instanceof ChainsieveError) || error.code !== LACKS_METHOD) throw error
            // Other nodes may be temporarily away.
            if (rpc.endpoints.every(it => refusals.has(`${it.name} ${method}`))) break
            await clock.sleep(backoff(failures, { random, capMs: 5_000 }), signal)
          }
        }
      return { by: null, why: [...refusals.values()].join('; ') }
    },
  }
}

const probeOf = (method: SearchMethod, from: number): Call => {
  const block = toQuantity(Math.max(1, from))
  return method === OTS
    ? { method: 'ots_searchTransactionsBefore', params: [PROBED_ADDRESS, 1, 1] }
    : { method, params: [{ fromBlock: block, toBlock: block, fromAddress: [PROBED_ADDRESS], count: 1 }] }
}

const blocksOf = (found: ByBlock): FoundBlock[] =>
  [...found].sort(([a], [b]) => a - b).map(([number, hashes]) => ({ number, hashes: [...hashes] }))
const SEARCH_METHODS: readonly SearchMethod[] = ['trace_filter', OTS]
const PROBED_ADDRESS = `0x${'0'.repeat(39)}1`
const PROBES = 5
