import { ChainsieveError, retry } from '../../lib/errors.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import type { Limits } from '../../limits/index.ts'
import { type Call, type RpcError, resultOf } from '../answers.ts'
import { toHead, toQuantity } from '../blocks.ts'
import { inconsistent } from '../check.ts'
import type { Endpoint } from '../endpoint.ts'
import { LACKS_METHOD, type Rpc } from '../rpc.ts'
import { areSameLogs, type BlockLogs, checkLogs } from './check-logs.ts'
import { filterParams, fitsAny, splitFilter } from './log-filter.ts'
import { type Asked, isMissingBlock, isMissingLogs, type LogLimit, limitOf } from './log-limit.ts'
import { createReach, type Density, newDensity, type Reach } from './reach.ts'
import type { LogFilter } from './scoped-source.ts'

/** What a node said of a block's logs. */
export interface Claim extends BlockLogs {
  by: Endpoint
}

/** A block that has to be read. */
export interface Found {
  number: number
  /** What nodes said of its logs; none where they could not say. Where there is not exactly one, the block itself has to tell. */
  claims: Claim[]
  /** The same though there is one. */
  isDoubted?: true
}

export interface LogReaderOptions {
  rpc: Rpc
  /** Whether ranges are asked of two nodes and compared. */
  verify: boolean
  clock: Clock
  random: () => number
  limits: Limits
}

/** What a node said of blocks from a first one on. */
interface Some {
  endpoint: Endpoint
  /** Inclusive. */
  to: number
  found: Found[]
}

/** A node will not answer so much at once. */
interface Refusal {
  limit: LogLimit
  why: string
}

/** Asks nodes by `eth_getLogs`, for as much at once as each of them bears. */
export interface LogReader {
  /** What the node that is asked next is known to bear. */
  reach(): Reach
  /** Blocks of a range with logs that fit, ascending, after as many tries as it takes. */
  read(filter: LogFilter, range: Asked, density: Density, signal: AbortSignal): Promise<Found[]>
  /** What is claimed of one block, by its hash, be it that there is nothing. */
  readAt(filter: LogFilter, block: { number: number; hash: string }, signal: AbortSignal): Promise<Found>
}

export const createLogReader = ({ rpc, verify, clock, random, limits }: LogReaderOptions): LogReader => {
  const reaches = new Map<Endpoint, Reach>()
  /** Newest blocks of nodes, as far as they were asked for. */
  const heads = new Map<Endpoint, number>()
  /** Nodes of which the logs and the block at their end are asked for one by one. */
  const alone = new Set<Endpoint>()
  let last = rpc.endpoints[0]!

  const reachOf = (endpoint: Endpoint): Reach => {
    let reach = reaches.get(endpoint)
    if (reach === undefined) {
      reach = createReach()
      reaches.set(endpoint, reach)
    }
    return reach
  }

  /** A node leaves out what is beyond its head, without a word. */
  const awaitHead = async (endpoint: Endpoint, to: number, signal: AbortSignal) => {
    if ((heads.get(endpoint) ?? -1) >= to) return
    const { number } = await rpc.headOf(endpoint, signal)
    heads.set(endpoint, number)
    if (number < to)
      throw retry('head_behind', `its head is block ${number}, but logs up to block ${to} are wanted: the node lags`)
  }

  /** One call. Near the head, the last block is asked for with it: one of several nodes behind an address may not have it yet. */
  const ask = async (
    endpoint: Endpoint,
    filter: LogFilter,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<BlockLogs[] | Refusal> => {
    const where = `eth_getLogs of ${rangeOf(asked)}`
    const range = { fromBlock: toQuantity(asked.from), toBlock: toQuantity(asked.to) }
    const call: Call = { method: GET_LOGS, params: [{ ...range, ...filterParams(filter) }] }
    const isNear = asked.to > heads.get(endpoint)! - NEAR
    const header = { method: 'eth_getBlockByNumber', params: [range.toBlock, false] }
    const heard = (error: RpcError) => limitOf(error, asked) !== undefined
    const isPair = isNear && endpoint.batch > 1 && !alone.has(endpoint)
    let answers = await endpoint.sendOnce(isPair ? [call, header] : [call], signal, { heard })
    if (answers === 'too large' && isPair) {
      // Or the node takes no batches.
      answers = await endpoint.sendOnce([call], signal, { heard })
      if (answers !== 'too large') alone.add(endpoint)
    }
    if (answers === 'too large') return { limit: { of: 'work' }, why: `${where}: the answer is too large` }
    const [answer, last] = answers
    if (answer!.error !== undefined) {
      const limit = limitOf(answer!.error, asked)
      if (limit !== undefined) return { limit, why: `${where}: ${answer!.error.message}` }
      throw faultOf(answer!.error, where)
    }
    if (isNear) {
      const [told] = last === undefined ? await endpoint.send([header], signal) : [last]
      toHead(resultOf(told!, `block ${asked.to}`), asked.to)
    }
    return checkLogs(answer!.result, asked, fitsAny([filter]), where, limits)
  }

  /** The first blocks of a range, as many as the node bears. */
  const readSome = async (
    endpoint: Endpoint,
    filter: LogFilter,
    range: Asked,
    density: Density,
    signal: AbortSignal,
  ) => {
    if (endpoint.lacks.has(GET_LOGS)) throw retry(LACKS_METHOD, `does not have ${GET_LOGS}`)
    await awaitHead(endpoint, range.to, signal)
    const reach = reachOf(endpoint)
    let most = reach.span(density)
    for (let tries = 0; ; tries++) {
      const asked = { from: range.from, to: cut(range, most) }
      const parts = splitFilter(filter, reach.values)
      try {
        const answer = await askParts(endpoint, parts, asked, signal)
        if (!('limit' in answer)) {
          reach.passed(asked, Math.max(...answer.map(logsIn)), density)
          return trusted(answer, asked)
        }
        const isLeast = answer.limit.of === 'values' ? isSingle(parts) : asked.from === asked.to
        // The node will not even tell one block's: then that is read as a whole.
        if (isLeast) return { to: asked.to, blocks: undefined }
        if (tries === MOST_TRIES) throw retry('node_error', answer.why)
        most = reach.learn(answer.limit, asked, density) ?? reach.span(density)
      } catch (error) {
        if (error instanceof ChainsieveError && MAY_BE_SIZE.has(error.code)) reach.suspect(asked)
        if (error instanceof ChainsieveError && error.code === LACKS_METHOD) endpoint.lacks.add(GET_LOGS)
        throw error
      }
    }
  }

  /** The same blocks for each part of a filter. */
  const askParts = async (
    endpoint: Endpoint,
    parts: readonly LogFilter[],
    asked: Asked,
    signal: AbortSignal,
  ): Promise<BlockLogs[][] | Refusal> => {
    const answers: BlockLogs[][] = []
    for (const part of parts) {
      const answer = await ask(endpoint, part, asked, signal)
      if ('limit' in answer) return answer
      answers.push(answer)
    }
    return answers
  }

  const someFrom = async (
    endpoint: Endpoint,
    filter: LogFilter,
    range: Asked,
    density: Density,
    signal: AbortSignal,
  ) => {
    const { to, blocks } = await readSome(endpoint, filter, range, density, signal)
    const found = blocks?.map((it): Found => foundBy(endpoint, it)) ?? [{ number: range.from, claims: [] }]
    return { endpoint, to, found }
  }

  /** What another node than the first says of the first blocks of a range. */
  const readOther = async (
    first: Endpoint,
    filter: LogFilter,
    range: Asked,
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

  /** The first blocks of a range as one node tells them, compared with what others say. */
  const verified = async (
    some: Some,
    filter: LogFilter,
    range: Asked,
    density: Density,
    signal: AbortSignal,
  ): Promise<Found[]> => {
    const found: Found[] = []
    for (let { from } = range; from <= some.to; ) {
      const other = await readOther(some.endpoint, filter, { from, to: some.to }, density, signal)
      const ours = some.found.filter(it => it.number >= from && it.number <= other.to)
      found.push(...compare(ours, some.endpoint, other.found, other.endpoint))
      from = other.to + 1
    }
    return found.sort((a, b) => a.number - b.number)
  }

  return {
    reach: () => reachOf(last),
    async read(filter, range, density, signal) {
      const found: Found[] = []
      for (let { from } = range; from <= range.to; ) {
        const rest = { from, to: range.to }
        const some = await rpc.attempt(it => someFrom(it, filter, rest, density, signal), signal)
        last = some.endpoint
        found.push(...(verify ? await verified(some, filter, rest, newDensity(), signal) : some.found))
        from = some.to + 1
      }
      return found
    },
    readAt: (filter, { number, hash }, signal) =>
      rpc.attempt(
        async endpoint => {
          const parts = splitFilter(filter, reachOf(endpoint).values)
          if (endpoint.lacks.has(GET_LOGS) || parts.length > MOST_PARTS) return { number, claims: [] }
          const where = `eth_getLogs of block ${number} ${hash}`
          const blocks: BlockLogs[][] = []
          for (const part of parts) {
            const calls = [{ method: GET_LOGS, params: [{ blockHash: hash, ...filterParams(part) }] }]
            const asked = { from: number, to: number }
            const heard = (error: RpcError) => limitOf(error, asked) !== undefined
            const answers = await endpoint.sendOnce(calls, signal, { heard, urgent: true })
            if (answers === 'too large' || (answers[0]!.error !== undefined && heard(answers[0]!.error)))
              return { number, claims: [] }
            if (answers[0]!.error !== undefined) throw faultOf(answers[0]!.error, where)
            blocks.push(checkLogs(answers[0]!.result, asked, fitsAny([part]), where, limits))
          }
          for (const block of blocks.flat())
            if (block.hash !== hash) throw inconsistent(`${where}: its logs name ${block.hash} as their block`)
          return foundBy(endpoint, merge(blocks, where)[0] ?? { number, hash, logs: [] })
        },
        signal,
        { tries: HEAD_TRIES * rpc.endpoints.length },
      ),
  }
}

const foundBy = (by: Endpoint, block: BlockLogs): Found => ({ number: block.number, claims: [{ ...block, by }] })

/** Blocks of which two nodes say the same have one claim, others two, be it that there is nothing. */
function* compare(ours: readonly Found[], by: Endpoint, theirs: readonly Found[], other: Endpoint): Generator<Found> {
  const left = new Map(theirs.map(it => [it.number, it]))
  for (const { number, claims } of ours) {
    const [mine] = claims
    const yours = left.get(number)?.claims
    left.delete(number)
    // One of them could not say.
    if (mine === undefined || yours?.length === 0) yield { number, claims: [] }
    else if (yours === undefined) yield { number, claims: [mine, { ...mine, logs: [], by: other }] }
    else {
      const isSame = mine.hash === yours[0]!.hash && areSameLogs(mine.logs, yours[0]!.logs)
      yield { number, claims: isSame ? claims : [mine, yours[0]!] }
    }
  }
  for (const { number, claims } of left.values())
    yield { number, claims: claims.flatMap(it => [it, { ...it, logs: [], by }]) }
}

/** Brings together what was asked for in several calls. */
const merge = (parts: readonly BlockLogs[][], where: string): BlockLogs[] => {
  if (parts.length === 1) return parts[0]!
  const blocks = new Map<number, BlockLogs>()
  for (const part of parts.flat()) {
    const block = blocks.get(part.number)
    if (block === undefined) blocks.set(part.number, { ...part, logs: [...part.logs] })
    else {
      if (block.hash !== part.hash)
        throw inconsistent(`${where}: logs of block ${part.number} name ${block.hash} and ${part.hash} as their block`)
      block.logs.push(...part.logs)
    }
  }
  for (const { logs } of blocks.values()) logs.sort((a, b) => Number(a.logIndex) - Number(b.logIndex))
  return [...blocks.values()].sort((a, b) => a.number - b.number)
}

/**
 * Some providers cut long answers without a word, at a round number of logs. Then only what is before the last block is taken, and the rest is
 * asked for again.
 */
const trusted = (parts: readonly BlockLogs[][], asked: Asked) => {
  const ends = parts.filter(it => it.length > 0 && logsIn(it) % ROUND_COUNT === 0).map(it => it.at(-1)!.number)
  const blocks = merge(parts, `eth_getLogs of ${rangeOf(asked)}`)
  if (ends.length === 0) return { to: asked.to, blocks }
  const end = Math.min(...ends)
  // A single block has to be read as a whole.
  if (end === asked.from) return { to: end, blocks: undefined }
  return { to: end - 1, blocks: blocks.filter(it => it.number < end) }
}

const logsIn = (blocks: readonly BlockLogs[]): number => blocks.reduce((sum, { logs }) => sum + logs.length, 0)

/** The last block of a question: a range that takes several is cut into equal ones. */
const cut = ({ from, to }: Asked, most: number): number => {
  const blocks = to - from + 1
  return from + Math.ceil(blocks / Math.ceil(blocks / most)) - 1
}

const isSingle = (parts: readonly LogFilter[]) =>
  parts.every(({ addresses, topics }) => addresses.length <= 1 && topics.length <= 1)

const faultOf = (error: RpcError, where: string): ChainsieveError => {
  if (isMissingLogs(error)) return retry(LACKS_METHOD, `${where}: ${error.message} (${error.code})`)
  if (isMissingBlock(error)) return retry('block_missing', `${where}: ${error.message} (${error.code})`)
  return retry('node_error', `${where}: ${error.message} (${error.code})`)
}

export const rangeOf = ({ from, to }: Asked): string => (from === to ? `block ${from}` : `blocks ${from} to ${to}`)

/** Errors of nodes that may mean that too much was asked for at once, though they do not say so. */
const MAY_BE_SIZE = new Set(['node_error', 'node_timeout', 'node_http_status'])

const GET_LOGS = 'eth_getLogs'
/** So close to its head, not all machines behind an address may have a block. */
const NEAR = 128
const ROUND_COUNT = 1_000
/** Limits that a node may state in a row. */
const MOST_TRIES = 64
/** A block whose logs take more calls than this is read as a whole. */
const MOST_PARTS = 2
/** Tries for a block of the head: it may be gone. */
const HEAD_TRIES = 4
