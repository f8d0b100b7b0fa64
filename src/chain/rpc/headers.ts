import { ChainsieveError, retry } from '../../lib/errors.ts'
import { checkHeader } from '../check/check-block.ts'
import { type RpcBlock, toQuantity } from '../wire.ts'
import { type Answer, blockMissing, type Call, OTHER_CHAIN, type RpcError, resultOf } from './answers.ts'
import type { Endpoint } from './endpoint.ts'

export interface Head {
  number: number
  hash: string
  parentHash: string
}

/** Linked headers of consecutive blocks. The same request checks the chain, which may change. */
export const readHeads = async (endpoint: Endpoint, from: number, to: number, signal: AbortSignal): Promise<Head[]> => {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const calls = numbers.map(it => ({ method: GET_BLOCK, params: [toQuantity(it), false] }))
  const [chain, ...answers] = await endpoint.send([CHAIN_ID, ...calls], signal, true)
  const id = toChainId(chain!)
  if (endpoint.chainId !== undefined && id !== endpoint.chainId) {
    throw retry(
      OTHER_CHAIN,
      `answers for chain ${id} now, and for chain ${endpoint.chainId} before: what is behind its URL?`,
    )
  }
  const heads = answers.map((it, i) => toHead(resultOf(it, `block ${numbers[i]}`, numbers[i]), numbers[i]))
  for (let i = 1; i < heads.length; i++) {
    if (heads[i]!.parentHash !== heads[i - 1]!.hash) {
      throw retry(
        'block_unlinked',
        `block ${heads[i]!.number} names ${heads[i]!.parentHash} as its parent, but block ${heads[i - 1]!.number} is ${heads[i - 1]!.hash}`,
      )
    }
  }
  return heads
}

export const readHead = async (endpoint: Endpoint, signal: AbortSignal): Promise<Head> => {
  const [answer] = await endpoint.send([{ method: GET_BLOCK, params: ['latest', false] }], signal, true)
  return toHead(resultOf(answer!, 'the latest block'))
}

export const toHead = (header: unknown, due?: number): Head => {
  if (typeof header !== 'object' || header === null) {
    throw blockMissing(
      `${due === undefined ? 'the latest block' : `block ${due}`}: the node does not have it (null)`,
      due,
    )
  }
  const block = header as RpcBlock
  const number = checkHeader(block)
  if (due !== undefined && number !== due)
    throw retry('block_inconsistent', `block ${due}: the node gave block ${number}`)
  return { number, hash: block.hash, parentHash: block.parentHash }
}

export const toChainId = (answer: Answer): number => {
  const told = resultOf(answer, CHAIN_ID.method)
  const id = typeof told === 'number' || (typeof told === 'string' && told !== '') ? Number(told) : Number.NaN
  if (!Number.isSafeInteger(id)) throw retry('node_bad_answer', 'does not send its chain id as a number')
  return id
}

/** Why a node does not have a method, by the error that a probe gives back; undefined where it does. */
export const probeMethod = async (
  endpoint: Endpoint,
  signal: AbortSignal,
  urgent: boolean,
  probe: (send: (call: Call) => Promise<Answer>) => Promise<RpcError | undefined>,
): Promise<string | undefined> => {
  const send = async (call: Call) => (await endpoint.send([call], signal, urgent))[0]!
  try {
    const error = await probe(send)
    return error && `${error.message} (${error.code})`
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== 'node_refused') throw error
    // Gateways refuse methods by HTTP 401 and 403 too: then others still go through.
    toChainId(await send(CHAIN_ID))
    return error.message
  }
}

export const CHAIN_ID: Call = { method: 'eth_chainId', params: [] }

export const GET_BLOCK = 'eth_getBlockByNumber'
