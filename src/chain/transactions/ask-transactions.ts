import { retry } from '../../lib/errors.ts'
import { inconsistent, isHash } from '../check/check-block.ts'
import { type AskedRange, isMissingLogs } from '../logs/log-limit.ts'
import { createRangeAsker, type Refusal, rangeOf } from '../logs/range-size.ts'
import type { Call, RpcError } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { LACKS_METHOD, type Rpc } from '../rpc/rpc.ts'
import type { SearchMethod } from '../source.ts'
import { toQuantity } from '../wire.ts'

/** Transactions in a block as a node claims; without hashes, the block itself is read. */
export interface FoundBlock {
  number: number
  hashes: readonly string[]
}

export type ByBlock = Map<number, Set<string>>

export const createTransactionAsker = (rpc: Pick<Rpc, 'headOf'>) => {
  const { awaitHead, ask: askRange } = createRangeAsker(rpc, 'transactions')

  const ask = (endpoint: Endpoint, call: Call, asked: AskedRange, signal: AbortSignal) =>
    askRange(endpoint, call, asked, signal, error => {
      if (!isMissingSearch(call.method, error)) return undefined
      endpoint.lacks.add(call.method)
      return retry(LACKS_METHOD, `does not have ${call.method} (${error.message} (${error.code}))`)
    })

  const askSide = async (
    endpoint: Endpoint,
    side: 'from' | 'to',
    addresses: readonly string[],
    asked: AskedRange,
    signal: AbortSignal,
  ): Promise<{ found: [number, string][]; traces: number } | Refusal> => {
    const where = `trace_filter of ${rangeOf(asked)}`
    const wanted = new Set(addresses)
    const range = { fromBlock: toQuantity(asked.from), toBlock: toQuantity(asked.to) }
    const found: [number, string][] = []
    let traces = 0
    let first: string | undefined
    for (;;) {
      const params = [
        { ...range, [`${side}Address`]: addresses, ...(traces > 0 && { after: traces }), count: TRACES_PAGE },
      ]
      const answer = await ask(endpoint, { method: 'trace_filter', params }, asked, signal)
      if ('limit' in answer) return answer
      const page = listOf(answer.result, where)
      const head = page.length > 0 ? JSON.stringify(page[0]) : undefined
      if ((traces > 0 && head !== undefined && head === first) || traces > MOST_TRACES)
        return { limit: { of: 'results', most: undefined, fits: undefined }, why: `${where}: its pages do not end` }
      first ??= head
      traces += page.length
      for (const trace of page) {
        const place = tracePlace(trace, asked, where)
        if (place && isOuter(trace) && wanted.has(lower(memberOf(trace.action, side)))) found.push(place)
      }
      // Some nodes truncate answers silently, at a round number.
      if (page.length === 0 || (page.length < TRACES_PAGE && page.length % ROUND_TRACES !== 0)) return { found, traces }
    }
  }

  return {
    async askTraces(
      endpoint: Endpoint,
      addresses: readonly string[],
      asked: AskedRange,
      signal: AbortSignal,
    ): Promise<{ found: ByBlock; traces: number } | Refusal> {
      checkHasSearch(endpoint, 'trace_filter')
      await awaitHead(endpoint, asked.to, signal)
      const found: ByBlock = new Map()
      let traces = 0
      // Given both sides, some nodes match either, and others require both.
      for (const side of ['from', 'to'] as const) {
        const answer = await askSide(endpoint, side, addresses, asked, signal)
        if ('limit' in answer) return answer
        traces = Math.max(traces, answer.traces)
        for (const place of answer.found) addPlace(found, place)
      }
      return { found, traces }
    },

    async askPage(
      endpoint: Endpoint,
      address: string,
      asked: AskedRange,
      signal: AbortSignal,
    ): Promise<{ found: ByBlock; to: number }> {
      checkHasSearch(endpoint, OTS)
      await awaitHead(endpoint, asked.to, signal)
      const where = `${OTS} of ${address} from block ${asked.from}`
      const params = [address, Math.max(0, asked.from - 1), OTS_PAGE]
      const answer = await ask(endpoint, { method: OTS, params }, asked, signal)
      if ('limit' in answer) throw retry('node_error', answer.why)
      const page = answer.result as { txs?: unknown; firstPage?: unknown } | null
      const txs = listOf(page?.txs, where)
      if (typeof page?.firstPage !== 'boolean') throw inconsistent(`${where}: it does not say whether more follow`)
      const found: ByBlock = new Map()
      let last = asked.from - 1
      for (const { hash, blockNumber, from, to } of txs) {
        const number = Number(blockNumber)
        if (!isHash(hash) || !Number.isSafeInteger(number) || number < asked.from)
          throw inconsistent(`${where}: it has a transaction of block ${String(blockNumber)}, which was not asked for`)
        last = Math.max(last, number)
        // The method also returns transactions that call the address internally.
        if (number <= asked.to && (lower(from) === address || lower(to) === address)) addPlace(found, [number, hash])
      }
      if (!page.firstPage && last < asked.from)
        throw inconsistent(`${where}: a page has no transactions, but more follow`)
      return { found, to: page.firstPage ? asked.to : Math.min(last, asked.to) }
    },
  }
}

const addPlace = (found: ByBlock, [number, hash]: readonly [number, string]) => {
  const hashes = found.get(number) ?? new Set()
  found.set(number, hashes.add(hash))
}

const checkHasSearch = (endpoint: Endpoint, method: SearchMethod) => {
  if (endpoint.lacks.has(method)) throw retry(LACKS_METHOD, `does not have ${method}, as it said before`)
}

export const isMissingSearch = (method: string, error: RpcError): boolean =>
  isMissingLogs(error) ||
  /unimplemented|not (yet )?implemented/i.test(error.message) ||
  (error.message.includes(method) &&
    /not (available|supported|enabled|allowed|permitted)|unsupported|disabled|upgrade/i.test(error.message))

type Item = Record<string, unknown>

const listOf = (value: unknown, where: string): Item[] => {
  if (!Array.isArray(value) || value.some(it => typeof it !== 'object' || it === null))
    throw inconsistent(`${where}: the answer is not a list`)
  return value
}

const tracePlace = (
  { blockNumber, transactionHash }: Item,
  asked: AskedRange,
  where: string,
): [number, string] | undefined => {
  const number = Number(blockNumber)
  if (!(number >= asked.from && number <= asked.to))
    throw inconsistent(`${where}: it has a trace of block ${String(blockNumber)}, which was not asked for`)
  return isHash(transactionHash) ? [number, transactionHash] : undefined
}

const isOuter = ({ traceAddress, type }: Item): boolean =>
  Array.isArray(traceAddress) && traceAddress.length === 0 && (type === 'call' || type === 'create')

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Item)[name] : undefined

const lower = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')

export const OTS = 'ots_searchTransactionsAfter' satisfies SearchMethod
const OTS_PAGE = 25
const TRACES_PAGE = 1_000
const MOST_TRACES = 100 * TRACES_PAGE
const ROUND_TRACES = 50
