import { ChainsieveError, retry } from '../../lib/errors.ts'
import { type Answer, BLOCK_MISSING, resultOf } from '../answers.ts'
import { toHead } from '../blocks.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Rpc } from '../rpc.ts'

/** Whether nodes have what is asked of them: they leave out what is beyond their heads, without a word. */
export type Reached = ReturnType<typeof createReached>

/** `what` is asked for. */
export const createReached = (rpc: Pick<Rpc, 'headOf'>, what: string) => {
  /** Newest blocks of nodes, as far as they were asked for. */
  const heads = new Map<Endpoint, number>()
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
    /** So close to its head, not all machines behind an address may have a block. */
    isNear: (endpoint: Endpoint, to: number): boolean => to > (heads.get(endpoint) ?? -1) - NEAR,
  }
}

/** Throws `retry` where the answer for the last block of a range says that the node is not as far: what it left out means nothing then. */
export const checkReached = (answer: Answer, to: number) => {
  try {
    toHead(resultOf(answer, `block ${to}`, to), to)
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== BLOCK_MISSING) throw error
    throw retry('head_behind', error.message)
  }
}

const NEAR = 128
