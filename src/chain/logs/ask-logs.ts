import { type ChainsieveError, retry } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { inconsistent } from '../check/check-block.ts'
import { blockMissing, type Call, isMissingBlock, type RpcError } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { toQuantity } from '../rpc/headers.ts'
import { LACKS_METHOD, type Rpc } from '../rpc/rpc.ts'
import { createRangeAsker, type Refusal } from './ask-range.ts'
import { type BlockLogs, checkLogs, mergeLogs } from './check-logs.ts'
import { filterParams, fitsAny } from './log-filter.ts'
import { type Asked, isMissingLogs, limitOf } from './log-limit.ts'
import type { LogFilter } from './scoped-source.ts'

/** Puts single questions to single nodes. What it gives has been checked. */
export const createAsker = (rpc: Rpc, limits: Limits) => {
  const { awaitHead, ask: askRange } = createRangeAsker(rpc, 'logs')

  /** Logs of a range for each part of a filter, each by a call. */
  const ask = async (
    endpoint: Endpoint,
    parts: readonly LogFilter[],
    asked: Asked,
    signal: AbortSignal,
  ): Promise<BlockLogs[][] | Refusal> => {
    checkHas(endpoint)
    const answers: BlockLogs[][] = []
    const range = { fromBlock: toQuantity(asked.from), toBlock: toQuantity(asked.to) }
    for (const part of parts) {
      const call: Call = { method: GET_LOGS, params: [{ ...range, ...filterParams(part) }] }
      const answer = await askRange(endpoint, call, asked, signal, (error, where) => faultOf(endpoint, error, where))
      if ('limit' in answer) return answer
      answers.push(checkLogs(answer.result, asked, fitsAny([part]), answer.where, limits))
    }
    return answers
  }

  /** Logs of one block, by its hash, that fit any part; undefined where the node will not tell. */
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

const GET_LOGS = 'eth_getLogs'
