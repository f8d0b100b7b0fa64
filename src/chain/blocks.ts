import { ChainsieveError, retry } from '../lib/errors.ts'
import { type Call, isMissingMethod, resultOf } from './answers.ts'
import { type CheckOptions, checkBlock, checkHeader } from './check.ts'
import { checkTraces } from './check-traces.ts'
import type { Endpoint } from './endpoint.ts'
import type { Rpc } from './rpc.ts'
import { fromCallTracer, fromTraceBlock } from './trace.ts'
import { traceCall, traceResultOf } from './tracing.ts'
import type { RawBlock, RpcBlock, RpcReceipt } from './wire.ts'

/** A block as its header tells it. */
export interface Head {
  number: number
  hash: string
  parentHash: string
}

export interface ReadOptions extends CheckOptions {
  /** Whether the calls overtake others that wait. Default false. */
  urgent?: boolean
  /** Whether blocks come with their traces, where the node gives any. Default false. */
  traces?: boolean
}

/** Checked blocks of the given numbers, in their order. Asks again for what is null, incomplete or of another block. */
export const fetchBlocks = (
  rpc: Rpc,
  numbers: readonly number[],
  options: ReadOptions & { tries?: number },
  signal: AbortSignal,
): Promise<RawBlock[]> => {
  const got = new Map<number, RawBlock>()
  return rpc.attempt(
    async endpoint => {
      let fault: ChainsieveError | undefined
      const missing = numbers.filter(it => !got.has(it))
      for (const answer of await readBlocks(endpoint, missing, signal, options)) {
        if (answer instanceof ChainsieveError) fault ??= answer
        else got.set(Number(answer.block.number), answer)
      }
      if (fault !== undefined) throw fault
      return numbers.map(it => got.get(it)!)
    },
    signal,
    { tries: options.tries, traces: options.traces },
  )
}

/** One reading of blocks from one node: each is a checked block, or what is wrong with it. */
export const readBlocks = async (
  endpoint: Endpoint,
  numbers: readonly number[],
  signal: AbortSignal,
  options: ReadOptions = {},
): Promise<(RawBlock | ChainsieveError)[]> => {
  const whole = !endpoint.lacks.has(BLOCK_RECEIPTS)
  const chainId = endpoint.chainId
  const traceMethod = options.traces === true ? endpoint.traces.method : undefined
  // All of a block goes in one request, so that behind a load balancer one node gives it.
  const calls = numbers.flatMap(it => [
    blockCall(it),
    ...(whole ? [receiptsCall(it)] : []),
    ...(traceMethod ? [traceCall(traceMethod, it)] : []),
  ])
  const answers = await endpoint.send(calls, signal, options.urgent)
  const step = calls.length / numbers.length
  return Promise.all(
    numbers.map(async (number, i) => {
      try {
        const block = resultOf(answers[i * step]!, `block ${number}`) as RpcBlock | null
        if (block === null) throw retry('block_missing', `block ${number}: the node does not have it (null)`)
        const given = checkHeader(block)
        if (given !== number) throw retry('block_inconsistent', `block ${number}: the node gave block ${given}`)
        let receipts: RpcReceipt[]
        const answer = whole ? answers[i * step + 1]! : undefined
        if (answer === undefined || (answer.error !== undefined && isMissingMethod(answer.error))) {
          endpoint.lacks.add(BLOCK_RECEIPTS)
          receipts = await readReceipts(endpoint, block, signal, options.urgent)
        } else receipts = resultOf(answer, `receipts of block ${number}`) as RpcReceipt[]
        // Some nodes have null for the receipts of a block without transactions.
        if (receipts === null && block.transactions?.length === 0) receipts = []
        const raw: RawBlock = { block, receipts }
        if (chainId !== undefined) raw.chainId = chainId
        checkBlock(raw, options)
        if (traceMethod) {
          // Nothing runs in the genesis block, and nodes answer with an error or with nothing.
          const traced = number === 0 ? [] : traceResultOf(endpoint, answers[(i + 1) * step - 1]!, number)
          raw.traces =
            traceMethod === 'trace_block' || number === 0
              ? fromTraceBlock(block, traced)
              : // As those nodes give them that have trace_block, so that it does not matter which node a block came from.
                fromCallTracer(raw, traced, { precompiles: false, limits: options.limits })
          checkTraces(raw, options.limits)
        }
        return raw
      } catch (error) {
        if (error instanceof ChainsieveError && !error.code.startsWith('node_')) return error
        throw error
      }
    }),
  )
}

/** One by one, for nodes that do not have the method for a block's. */
const readReceipts = async (
  endpoint: Endpoint,
  block: RpcBlock,
  signal: AbortSignal,
  urgent?: boolean,
): Promise<RpcReceipt[]> => {
  if (!Array.isArray(block.transactions)) return []
  const calls = block.transactions.map(it => ({ method: 'eth_getTransactionReceipt', params: [it?.hash] }))
  const answers = await endpoint.send(calls, signal, urgent)
  return answers.map((it, i) => resultOf(it, `receipt ${i} of block ${Number(block.number)}`) as RpcReceipt)
}

/** Headers of consecutive blocks that the node has, checked to be of these numbers and to link up. */
export const readHeads = async (endpoint: Endpoint, from: number, to: number, signal: AbortSignal): Promise<Head[]> => {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const calls = numbers.map(it => ({ method: BLOCK, params: [toQuantity(it), false] }))
  const answers = await endpoint.send(calls, signal, true)
  const heads = answers.map((it, i) => toHead(resultOf(it, `block ${numbers[i]}`), numbers[i]))
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

/** The newest block of a node. */
export const readHead = async (endpoint: Endpoint, signal: AbortSignal): Promise<Head> => {
  const [answer] = await endpoint.send([{ method: BLOCK, params: ['latest', false] }], signal, true)
  return toHead(resultOf(answer!, 'the latest block'))
}

/** Checks a header from outside; `due` is the number it must have. */
export const toHead = (header: unknown, due?: number): Head => {
  if (typeof header !== 'object' || header === null) {
    throw retry(
      'block_missing',
      `${due === undefined ? 'the latest block' : `block ${due}`}: the node does not have it (null)`,
    )
  }
  const block = header as RpcBlock
  const number = checkHeader(block)
  if (due !== undefined && number !== due)
    throw retry('block_inconsistent', `block ${due}: the node gave block ${number}`)
  return { number, hash: block.hash, parentHash: block.parentHash }
}

export const toQuantity = (value: number): string => `0x${value.toString(16)}`

const BLOCK = 'eth_getBlockByNumber'
const BLOCK_RECEIPTS = 'eth_getBlockReceipts'
const blockCall = (number: number): Call => ({ method: BLOCK, params: [toQuantity(number), true] })
const receiptsCall = (number: number): Call => ({ method: BLOCK_RECEIPTS, params: [toQuantity(number)] })
