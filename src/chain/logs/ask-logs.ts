import { type ChainsieveError, retry } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { blockMissing, type Call, isMissingBlock, type RpcError } from '../answers.ts'
import { toQuantity } from '../blocks.ts'
import { inconsistent } from '../check.ts'
import type { Endpoint } from '../endpoint.ts'
import { LACKS_METHOD, type Rpc } from '../rpc.ts'
import { type BlockLogs, checkLogs, mergeLogs } from './check-logs.ts'
import { filterParams, fitsAny } from './log-filter.ts'
import { type Asked, isMissingLogs, type LogLimit, limitOf } from './log-limit.ts'
import { checkReached, createReached, type Reached } from './reached.ts'
import type { LogFilter } from './scoped-source.ts'

/** A node will not answer so much at once. */
export interface Refusal {
  limit: LogLimit
  why: string
}

/** Puts single questions to single nodes. What it gives has been checked. */
export interface Asker extends Pick<Reached, 'awaitHead'> {
  /** Logs of a range for each part of a filter. */
  ask(
    endpoint: Endpoint,
    parts: readonly LogFilter[],
    asked: Asked,
    signal: AbortSignal,
  ): Promise<BlockLogs[][] | Refusal>
  /** Logs of one block, by its hash, that fit any part; undefined where the node will not tell. */
  askAt(
    endpoint: Endpoint,
    parts: readonly LogFilter[],
    block: { number: number; hash: string },
    signal: AbortSignal,
  ): Promise<BlockLogs | undefined>
}

export const createAsker = (rpc: Rpc, limits: Limits): Asker => {
  const { awaitHead, isNear: isNearHead } = createReached(rpc, 'logs')
  /** Nodes of which the logs and the block at their end are asked for one by one. */
  const alone = new Set<Endpoint>()

  /** One call. Near the head, the last block is asked for with it: one of several nodes behind an address may not have it yet. */
  const askOne = async (
    endpoint: Endpoint,
    filter: LogFilter,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<BlockLogs[] | Refusal> => {
    const where = `eth_getLogs of ${rangeOf(asked)}`
    const range = { fromBlock: toQuantity(asked.from), toBlock: toQuantity(asked.to) }
    const call: Call = { method: GET_LOGS, params: [{ ...range, ...filterParams(filter) }] }
    const isNear = isNearHead(endpoint, asked.to)
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
      throw faultOf(endpoint, answer!.error, where)
    }
    if (isNear) {
      const [told] = last === undefined ? await endpoint.send([header], signal) : [last]
      checkReached(told!, asked.to)
    }
    return checkLogs(answer!.result, asked, fitsAny([filter]), where, limits)
  }

  /** All parts of a filter, each by a call. */
  const ask: Asker['ask'] = async (endpoint, parts, asked, signal) => {
    checkHas(endpoint)
    const answers: BlockLogs[][] = []
    for (const part of parts) {
      const answer = await askOne(endpoint, part, asked, signal)
      if ('limit' in answer) return answer
      answers.push(answer)
    }
    return answers
  }

  const askAt: Asker['askAt'] = async (endpoint, parts, { number, hash }, signal) => {
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
        throw faultOf(endpoint, answer.error, where)
      }
      blocks.push(checkLogs(answer.result, asked, fitsAny([part]), where, limits))
    }
    for (const block of blocks.flat())
      if (block.hash !== hash) throw inconsistent(`${where}: its logs name ${block.hash} as their block`)
    return mergeLogs(blocks, where)[0] ?? { number, hash, logs: [] }
  }

  return { awaitHead, ask, askAt }
}

const faultOf = (endpoint: Endpoint, error: RpcError, where: string): ChainsieveError => {
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

export const rangeOf = ({ from, to }: Asked): string => (from === to ? `block ${from}` : `blocks ${from} to ${to}`)

const GET_LOGS = 'eth_getLogs'
