import { ChainsieveError, retry } from '../../lib/errors.ts'
import { type Answer, BLOCK_MISSING, type Call, type RpcError, resultOf } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { toHead, toQuantity } from '../rpc/headers.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type Asked, type LogLimit, limitOf } from './log-limit.ts'

/** A node will not answer so much at once. */
export interface Refusal {
  limit: LogLimit
  why: string
}

/** Asks nodes about ranges of blocks: they leave out what is beyond their heads, without a word. `what` is asked for. */
export const createRangeAsker = (rpc: Pick<Rpc, 'headOf'>, what: string) => {
  /** Newest blocks of nodes, as far as they were asked for. */
  const heads = new Map<Endpoint, number>()
  /** Nodes that are asked for a range and the block at its end one by one. */
  const alone = new Set<Endpoint>()
  return {
    /** Throws `retry` where a node does not have a block yet. */
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
    /**
     * The answer to one call, or a limit of the node. Near the head, the last block is asked for with it: one of several nodes behind an address may not
     * have it yet.
     */
    async ask(
      endpoint: Endpoint,
      call: Call,
      asked: Asked,
      signal: AbortSignal,
      faultOf: (error: RpcError, where: string) => ChainsieveError | undefined,
    ): Promise<{ result: unknown; where: string } | Refusal> {
      const where = `${call.method} of ${rangeOf(asked)}`
      const heard = (error: RpcError) => limitOf(error, asked) !== undefined
      const isNear = asked.to > (heads.get(endpoint) ?? -1) - NEAR
      const header = { method: 'eth_getBlockByNumber', params: [toQuantity(asked.to), false] }
      const isPair = isNear && endpoint.batch > 1 && !alone.has(endpoint)
      let answers = await endpoint.sendOnce(isPair ? [call, header] : [call], signal, { heard })
      if (answers === 'too large' && isPair) {
        // Or the node takes no batches.
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

/** Throws `retry` where the answer for the last block of a range says that the node is not as far: what it left out means nothing then. */
const checkReached = (answer: Answer, to: number) => {
  try {
    toHead(resultOf(answer, `block ${to}`, to), to)
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== BLOCK_MISSING) throw error
    throw retry('head_behind', error.message)
  }
}

export const rangeOf = ({ from, to }: Asked): string => (from === to ? `block ${from}` : `blocks ${from} to ${to}`)

/** So close to its head, not all machines behind an address may have a block. */
const NEAR = 128
