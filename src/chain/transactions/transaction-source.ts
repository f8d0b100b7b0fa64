import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import type { AskedRange } from '../logs/log-limit.ts'
import { PART_BLOCKS, partsOf, type Slice } from '../logs/log-source.ts'
import { BLOCK_MISSING } from '../rpc/answers.ts'
import type { FindTransactions, ScopedPart, TransactionSource } from '../source.ts'
import type { RawBlock, RpcTransaction } from '../wire.ts'
import type { FoundBlock } from './ask-transactions.ts'
import { fetchReceipts, fetchTransactions, type TransactionFetchOptions } from './fetch-transactions.ts'
import { createTransactionSearch, type SearchOptions, type SearchWindow } from './search.ts'

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
        // Without claims of others there is nothing to ask again but the blocks.
        const wanted = { ...fetching(addresses), ...(by === null && { tries: Number.POSITIVE_INFINITY }) }
        // What is there may be there without its traces.
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

/** Blocks of a window in which each is read: between two, nodes have nothing to do for a moment. */
const READ_BLOCKS = 10 * PART_BLOCKS

const fromOrTo = (addresses: readonly string[]) => {
  const wanted = new Set(addresses)
  return ({ from, to }: RpcTransaction): boolean =>
    wanted.has(from.toLowerCase()) || (to !== null && to !== undefined && wanted.has(to.toLowerCase()))
}
