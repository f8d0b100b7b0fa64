import { retry } from '../lib/errors.ts'
import type { Answer, Call } from './answers.ts'
import { toHead } from './blocks.ts'
import type { Endpoint } from './endpoint.ts'
import { LACKS_METHOD, type Rpc } from './rpc.ts'
import type { BlockRef, FinalityBlocks } from './source.ts'

/**
 * The newest blocks that nodes tell to be safe and finalized. Where the first node lacks one of both tags, the others are asked for it;
 * null is what none of them has. Throws `retry` where that cannot be told now.
 */
export const readFinality = async (rpc: Rpc, signal: AbortSignal): Promise<FinalityBlocks> => {
  let best: FinalityBlocks = { safe: null, finalized: null }
  const asked = new Set<Endpoint>()
  const ask = async (endpoint: Endpoint): Promise<FinalityBlocks> => {
    const [safe, finalized] = (await endpoint.send(CALLS, signal)).map(toMark)
    best = { safe: best.safe ?? safe!, finalized: best.finalized ?? finalized! }
    asked.add(endpoint)
    const isWhole = best.safe !== null && best.finalized !== null
    if (isWhole || asked.size === rpc.endpoints.length) return best
    throw retry(LACKS_METHOD, 'it has no block that is tagged as safe and finalized')
  }
  return rpc.attempt(ask, signal, { tries: rpc.endpoints.length })
}

const CALLS: readonly Call[] = ['safe', 'finalized'].map(tag => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
}))

/** Nodes that do not have a tag answer null or with an error, in many words. */
const toMark = (answer: Answer): BlockRef | null => {
  if (answer.error !== undefined || answer.result === null) return null
  const { number, hash } = toHead(answer.result)
  return { number, hash }
}
