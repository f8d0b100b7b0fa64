import { ChainsieveError, retry } from '../../lib/errors.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import type { Limits } from '../../limits/index.ts'
import { inconsistent } from '../check/check-block.ts'
import { blockMissing, type Call, isMissingBlock, type RpcError } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { LACKS_METHOD, type Rpc } from '../rpc/rpc.ts'
import type { LogFilter } from '../source.ts'
import { toQuantity } from '../wire.ts'
import { type BlockLogs, checkLogs, compareFindings, type LogFinding, logsIn, mergeLogs } from './check-logs.ts'
import { filterParams, fitsAny, splitFilter } from './log-filter.ts'
import { type AskedRange, isMissingLogs, limitOf } from './log-limit.ts'
import {
  askWithin,
  createRangeAsker,
  createReaches,
  type Density,
  newDensity,
  type Reach,
  type Refusal,
  rangeOf,
} from './range-size.ts'

interface LogReaderOptions {
  rpc: Rpc
  verify: boolean
  clock: Clock
  random: () => number
  limits: Limits
}

interface Some {
  endpoint: Endpoint
  /** Inclusive. */
  to: number
  found: LogFinding[]
}

export const createLogReader = ({ rpc, verify, clock, random, limits }: LogReaderOptions) => {
  const asker = createAsker(rpc, limits)
  const reachOf = createReaches()
  let last = rpc.endpoints[0]!

  const someFrom = async (
    endpoint: Endpoint,
    filter: LogFilter,
    range: AskedRange,
    density: Density,
    signal: AbortSignal,
  ): Promise<Some> => {
    await asker.awaitHead(endpoint, range.to, signal)
    const { asked, found } = await askWithin(reachOf(endpoint), filter, range, density, async (parts, asked) => {
      const answer = await asker.ask(endpoint, parts, asked, signal)
      return 'limit' in answer ? answer : { found: answer, count: Math.max(...answer.map(logsIn)) }
    })
    const { to, blocks } = found ? trusted(found, asked) : { to: asked.to, blocks: undefined }
    return {
      ...{ endpoint, to },
      found: blocks?.map((it): LogFinding => foundBy(endpoint, it)) ?? [{ number: range.from, claims: [] }],
    }
  }

  const readOther = async (
    first: Endpoint,
    filter: LogFilter,
    range: AskedRange,
    density: Density,
    signal: AbortSignal,
  ): Promise<Some> => {
    for (let failures = 1; ; failures++) {
      try {
        return await rpc.attempt(async endpoint => {
          if (endpoint === first)
            throw retry(LACKS_METHOD, `gave the logs of ${rangeOf(range)} that are to be verified`)
          return someFrom(endpoint, filter, range, density, signal)
        }, signal)
      } catch (error) {
        if (!(error instanceof ChainsieveError) || error.code !== LACKS_METHOD) throw error
        await clock.sleep(backoff(failures, { random, capMs: 5_000 }), signal)
      }
    }
  }

  const verified = async (
    some: Some,
    filter: LogFilter,
    range: AskedRange,
    density: Density,
    signal: AbortSignal,
  ): Promise<LogFinding[]> => {
    const found: LogFinding[] = []
    for (let { from } = range; from <= some.to; ) {
      const other = await readOther(some.endpoint, filter, { from, to: some.to }, density, signal)
      const ours = some.found.filter(it => it.number >= from && it.number <= other.to)
      found.push(...compareFindings(ours, some.endpoint, other.found, other.endpoint))
      from = other.to + 1
    }
    return found.sort((a, b) => a.number - b.number)
  }

  return {
    reach: (): Reach => reachOf(last),
    /** Ascending blocks with logs that fit. No question begins with a block that is ruled out. */
    async read(
      filter: LogFilter,
      range: AskedRange,
      density: Density,
      signal: AbortSignal,
      isRuledOut: (number: number) => boolean = () => false,
    ): Promise<LogFinding[]> {
      const found: LogFinding[] = []
      for (let { from } = range; from <= range.to; ) {
        if (isRuledOut(from)) {
          from++
          continue
        }
        const rest = { from, to: range.to }
        const some = await rpc.attempt(it => someFrom(it, filter, rest, density, signal), signal)
        last = some.endpoint
        found.push(...(verify ? await verified(some, filter, rest, newDensity(), signal) : some.found))
        from = some.to + 1
      }
      return found
    },
    readAt: (filter: LogFilter, block: { number: number; hash: string }, signal: AbortSignal): Promise<LogFinding> =>
      rpc.attempt(
        async endpoint => {
          const parts = splitFilter(filter, reachOf(endpoint).values)
          const logs = parts.length > MOST_PARTS ? undefined : await asker.askAt(endpoint, parts, block, signal)
          return logs === undefined ? { number: block.number, claims: [] } : foundBy(endpoint, logs)
        },
        signal,
        { tries: HEAD_TRIES * rpc.endpoints.length },
      ),
  }
}

const foundBy = (by: Endpoint, block: BlockLogs): LogFinding => ({ number: block.number, claims: [{ ...block, by }] })

/** Some providers cut answers at a round number of logs: the last block is then asked for again. */
const trusted = (parts: readonly BlockLogs[][], asked: AskedRange) => {
  const ends = parts.filter(it => it.length > 0 && logsIn(it) % ROUND_COUNT === 0).map(it => it.at(-1)!.number)
  const blocks = mergeLogs(parts, `eth_getLogs of ${rangeOf(asked)}`)
  if (ends.length === 0) return { to: asked.to, blocks }
  const end = Math.min(...ends)
  if (end === asked.from) return { to: end, blocks: undefined }
  return { to: end - 1, blocks: blocks.filter(it => it.number < end) }
}

const ROUND_COUNT = 1_000
const MOST_PARTS = 2
const HEAD_TRIES = 4

export const createAsker = (rpc: Rpc, limits: Limits) => {
  const { awaitHead, ask: askRange } = createRangeAsker(rpc, 'logs')

  const ask = async (
    endpoint: Endpoint,
    parts: readonly LogFilter[],
    asked: AskedRange,
    signal: AbortSignal,
  ): Promise<BlockLogs[][] | Refusal> => {
    checkHas(endpoint)
    const answers: BlockLogs[][] = []
    const range = { fromBlock: toQuantity(asked.from), toBlock: toQuantity(asked.to) }
    for (const part of parts) {
      const call: Call = { method: GET_LOGS, params: [{ ...range, ...filterParams(part) }] }
      const answer = await askRange(endpoint, call, asked, signal, (error, where) => logsFault(endpoint, error, where))
      if ('limit' in answer) return answer
      answers.push(checkLogs(answer.result, asked, fitsAny([part]), answer.where, limits))
    }
    return answers
  }

  const askAt = async (
    endpoint: Endpoint,
    parts: readonly LogFilter[],
    { number, hash }: { number: number; hash: string },
    signal: AbortSignal,
  ): Promise<BlockLogs | undefined> => {
    if (endpoint.lacks.has(GET_LOGS)) return undefined
    const where = `eth_getLogs of block ${number} ${hash}`
    const asked = { from: number, to: number }
    const heard = (error: RpcError) => limitOf(error, asked) !== undefined
    const blocks: BlockLogs[][] = []
    for (const part of parts) {
      const calls = [{ method: GET_LOGS, params: [{ blockHash: hash, ...filterParams(part) }] }]
      const answers = await endpoint.sendOnce(calls, signal, { heard, urgent: true })
      if (answers === 'too large') return undefined
      const answer = answers[0]!
      if (answer.error !== undefined) {
        if (heard(answer.error)) return undefined
        throw logsFault(endpoint, answer.error, where)
      }
      blocks.push(checkLogs(answer.result, asked, fitsAny([part]), where, limits))
    }
    for (const block of blocks.flat())
      if (block.hash !== hash) throw inconsistent(`${where}: its logs name ${block.hash} as their block`)
    return mergeLogs(blocks, where)[0] ?? { number, hash, logs: [] }
  }

  return { awaitHead, ask, askAt }
}

const logsFault = (endpoint: Endpoint, error: RpcError, where: string): ChainsieveError => {
  if (isMissingLogs(error)) {
    endpoint.lacks.add(GET_LOGS)
    return lacksLogs(`${error.message} (${error.code})`)
  }
  if (isMissingBlock(error)) return blockMissing(`${where}: ${error.message} (${error.code})`)
  return retry('node_error', `${where}: ${error.message} (${error.code})`)
}

const checkHas = (endpoint: Endpoint) => {
  if (endpoint.lacks.has(GET_LOGS)) throw lacksLogs('as it said before')
}

const lacksLogs = (why: string) =>
  retry(
    LACKS_METHOD,
    `does not have ${GET_LOGS} (${why}), which contracts and events are found by: add another endpoint`,
  )

const GET_LOGS = 'eth_getLogs'
