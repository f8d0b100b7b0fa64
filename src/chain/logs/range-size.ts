import { ChainsieveError, retry } from '../../lib/errors.ts'
import { type Answer, BLOCK_MISSING, type Call, type RpcError, resultOf, toHead } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { LogFilter } from '../source.ts'
import { toQuantity } from '../wire.ts'
import { splitFilter } from './log-filter.ts'
import { type AskedRange, type LogLimit, limitOf } from './log-limit.ts'

/** Expected logs per block of a filter, estimated high. */
export interface Density {
  perBlock: number
  /** Share of an answer left free; larger after an answer that did not fit. */
  margin: number
}

export const newDensity = (): Density => ({ perBlock: 0, margin: 0 })

interface Refused {
  to: number
  next: number
  logs: number
}

export type Reach = ReturnType<typeof createReach>

export const createReach = () => {
  const refusals = new WeakMap<Density, Refused>()
  /** Maximum blocks per call as nodes state it; permanent. */
  let blocks = Number.POSITIVE_INFINITY
  /** Temporary maximum while the node is overloaded. */
  let ceiling = Number.POSITIVE_INFINITY
  /** Good answers at the ceiling; `patience` of them raise it, doubled after an early raise. */
  let calm = 0
  let patience = FIRST_PATIENCE
  let wasLifted = false
  let results = USUAL_RESULTS
  let values = USUAL_VALUES
  let proved = 0
  let given = 0

  /** A refused range read in parts: the sum of its logs is above the limit of results. */
  const resolve = (density: Density, asked: AskedRange, logs: number) => {
    const refused = refusals.get(density)
    if (refused?.next !== asked.from) return
    refused.logs += logs
    refused.next = asked.to + 1
    if (refused.next <= refused.to) return
    if (refused.logs <= results) results = Math.max(given, below(refused.logs))
    refusals.delete(density)
  }

  const cut = (asked: AskedRange) => {
    const count = countOf(asked)
    if (count === 1) return
    if (wasLifted) patience = Math.min(MOST_PATIENCE, patience * 2)
    wasLifted = false
    calm = 0
    ceiling = Math.min(ceiling, Math.floor(count / 2))
  }

  return {
    get results(): number {
      return results
    },
    get values(): number {
      return values
    },
    span({ perBlock, margin }: Density): number {
      const growth = Math.max(FIRST_SPAN, proved * GROWTH)
      return Math.max(1, Math.floor(Math.min(blocks, ceiling, growth, (results * (1 - margin)) / perBlock)))
    },
    /** Whether the node has proved such a size: then several ranges are requested in parallel. */
    isProved: (count: number): boolean => count <= proved * 1.5,
    passed(asked: AskedRange, logs: number, density: Density) {
      const count = countOf(asked)
      proved = Math.max(proved, count)
      given = Math.max(given, logs)
      resolve(density, asked, logs)
      noteDensity(density, logs, count)
      density.margin = Math.max(0, density.margin - 0.002)
      if (count < ceiling * 0.9) return
      if (++calm < patience) return
      calm = 0
      wasLifted = true
      ceiling *= 2
    },
    learn(limit: LogLimit, asked: AskedRange, density: Density): number | undefined {
      const count = countOf(asked)
      switch (limit.of) {
        case 'values':
          values = Math.max(1, Math.min(limit.most ?? values, Math.ceil(values / 2)))
          return undefined
        case 'blocks':
          if (limit.most !== undefined && limit.most < count) blocks = limit.most
          else if (limit.most !== undefined) blocks = count === limit.most ? count - 1 : Math.floor(count / 2)
          else blocks = guess(count, proved)
          blocks = Math.max(1, blocks)
          return undefined
        case 'results':
          if (limit.most !== undefined) results = limit.most
          else if (limit.fits === undefined) refusals.set(density, { to: asked.to, next: asked.from, logs: 0 })
          density.margin = Math.min(0.2, density.margin + 0.03)
          density.perBlock = Math.max(density.perBlock, results / (limit.fits ?? count * 0.6))
          return limit.fits ?? Math.max(1, Math.min(count - 1, this.span(density)))
        case 'work':
          cut(asked)
          return undefined
      }
    },
    suspect: cut,
  }
}

export const createReaches = (): ((endpoint: Endpoint) => Reach) => {
  const reaches = new Map<Endpoint, Reach>()
  return endpoint => {
    const reach = reaches.get(endpoint) ?? createReach()
    reaches.set(endpoint, reach)
    return reach
  }
}

/** Requests as many blocks as a node accepts, fewer until it answers; undefined if one fails. */
export const askWithin = async <T>(
  reach: Reach,
  filter: LogFilter,
  range: AskedRange,
  density: Density,
  ask: (parts: readonly LogFilter[], asked: AskedRange) => Promise<{ found: T; count: number } | Refusal>,
): Promise<{ asked: AskedRange; found: T | undefined }> => {
  let most = reach.span(density)
  for (let tries = 0; ; tries++) {
    const asked = { from: range.from, to: endOfRequest(range, most) }
    const parts = splitFilter(filter, reach.values)
    try {
      const answer = await ask(parts, asked)
      if (!('limit' in answer)) {
        reach.passed(asked, answer.count, density)
        return { asked, found: answer.found }
      }
      const limit: LogLimit = answer.limit.of === 'values' && isSingle(parts) ? { of: 'work' } : answer.limit
      if (asked.from === asked.to && limit.of !== 'values') return { asked, found: undefined }
      if (tries === MOST_TRIES) throw retry('node_error', answer.why)
      most = reach.learn(limit, asked, density) ?? reach.span(density)
    } catch (error) {
      if (error instanceof ChainsieveError && MAY_BE_SIZE.has(error.code)) reach.suspect(asked)
      throw error
    }
  }
}

const endOfRequest = ({ from, to }: AskedRange, most: number): number => {
  const blocks = to - from + 1
  return from + Math.ceil(blocks / Math.ceil(blocks / most)) - 1
}

const isSingle = (parts: readonly LogFilter[]) =>
  parts.every(({ addresses, topics }) => addresses.length <= 1 && topics.length <= 1)

const MAY_BE_SIZE = new Set(['node_error', 'node_timeout', 'node_http_status'])
const MOST_TRIES = 64

/** Estimates logs per block with a margin of two standard deviations. */
const noteDensity = (density: Density, logs: number, blocks: number) => {
  const seen = (logs + 2 * Math.sqrt(logs) + 1) / blocks
  density.perBlock = seen >= density.perBlock ? seen : (density.perBlock + seen) / 2
}

const guess = (refused: number, proved: number): number => {
  const round = below(refused)
  return proved < refused ? Math.max(round, proved) : round
}

const below = (value: number): number => ROUND.findLast(it => it < value)!
const ROUND = [
  0, 1, 2, 5, 10, 20, 50, 100, 128, 200, 250, 256, 500, 800, 1_000, 1_024, 2_000, 2_048, 3_000, 3_500, 5_000, 10_000,
  20_000, 30_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
]

const countOf = ({ from, to }: AskedRange): number => to - from + 1

const FIRST_SPAN = 2_000
const GROWTH = 8
const USUAL_RESULTS = 10_000
const USUAL_VALUES = 1_000
const FIRST_PATIENCE = 2
const MOST_PATIENCE = 4_096

export interface Refusal {
  limit: LogLimit
  why: string
}

/** Requests block ranges: nodes silently omit what is above their head. */
export const createRangeAsker = (rpc: Pick<Rpc, 'headOf'>, what: string) => {
  const heads = new Map<Endpoint, number>()
  const alone = new Set<Endpoint>()
  return {
    async awaitHead(endpoint: Endpoint, to: number, signal: AbortSignal) {
      if ((heads.get(endpoint) ?? -1) >= to) return
      const { number } = await rpc.headOf(endpoint, signal)
      heads.set(endpoint, number)
      if (number < to)
        throw retry(
          'head_behind',
          `its head is block ${number}, but ${what} up to block ${to} are wanted: the node lags`,
        )
    },
    /** The answer to a call, or a limit. Near the head, the same request reads the last block. */
    async ask(
      endpoint: Endpoint,
      call: Call,
      asked: AskedRange,
      signal: AbortSignal,
      faultOf: (error: RpcError, where: string) => ChainsieveError | undefined,
    ): Promise<{ result: unknown; where: string } | Refusal> {
      const where = `${call.method} of ${rangeOf(asked)}`
      const heard = (error: RpcError) => limitOf(error, asked) !== undefined
      const isNear = asked.to > (heads.get(endpoint) ?? -1) - NEAR_HEAD
      const header = { method: 'eth_getBlockByNumber', params: [toQuantity(asked.to), false] }
      const isPair = isNear && endpoint.batch > 1 && !alone.has(endpoint)
      let answers = await endpoint.sendOnce(isPair ? [call, header] : [call], signal, { heard })
      if (answers === 'too large' && isPair) {
        // Or the node supports no batches.
        answers = await endpoint.sendOnce([call], signal, { heard })
        if (answers !== 'too large') alone.add(endpoint)
      }
      if (answers === 'too large') return { limit: { of: 'work' }, why: `${where}: the answer is too large` }
      const { error } = answers[0]!
      if (error !== undefined) {
        const limit = limitOf(error, asked)
        if (limit !== undefined) return { limit, why: `${where}: ${error.message}` }
        const fault = faultOf(error, where)
        if (fault !== undefined) throw fault
      }
      const result = resultOf(answers[0]!, where)
      if (isNear) checkReached(answers[1] ?? (await endpoint.send([header], signal))[0]!, asked.to)
      return { result, where }
    },
  }
}

/** Throws `retry` if the node lacks the last block: missing logs then prove nothing. */
const checkReached = (answer: Answer, to: number) => {
  try {
    toHead(resultOf(answer, `block ${to}`, to), to)
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== BLOCK_MISSING) throw error
    throw retry('head_behind', error.message)
  }
}

export const rangeOf = ({ from, to }: AskedRange): string => (from === to ? `block ${from}` : `blocks ${from} to ${to}`)

const NEAR_HEAD = 128
