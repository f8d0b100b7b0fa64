import { rawBytesOf } from '../../lib/bytes.ts'
import { ChainsieveError, retry } from '../../lib/errors.ts'
import { DEFAULT_LIMITS } from '../../limits/index.ts'
import { type CheckOptions, checkBlock, checkHeader, checkShape, inconsistent } from '../check/check-block.ts'
import { checkTraces } from '../check/check-traces.ts'
import { fromCallTracer, fromTraceBlock } from '../check/normal-traces.ts'
import { BLOCK as BLOCK_SHAPE } from '../check/schema.ts'
import { textOfBody } from '../rpc/answer-body.ts'
import {
  type Answer,
  blockMissing,
  type Call,
  GET_BLOCK,
  isMissingMethod,
  parseBody,
  resultOf,
  toAnswers,
} from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type TraceMethod, traceCall, traceResultOf } from '../rpc/trace-methods.ts'
import { type RawBlock, type RpcBlock, type RpcReceipt, toQuantity } from '../wire.ts'
import { completeStateSync, hasStateSync, lacksStateSync } from './state-sync.ts'

export interface ReadOptions extends CheckOptions {
  /** Whether the calls take priority over queued ones. Default false. */
  urgent?: boolean
  traces?: boolean
  headers?: boolean
  /** Whether headers include unchecked transactions. Default false. */
  transactions?: boolean
}

/** Fetches blocks with receipts, and traces if wanted; retries on other nodes. */
export const fetchBlocks = (
  rpc: Rpc,
  numbers: readonly number[],
  options: ReadOptions & { tries?: number },
  signal: AbortSignal,
): Promise<RawBlock[]> => {
  const gather = createGatherer(numbers)
  return rpc.attempt(
    async endpoint => gather.add(await readBlocks(endpoint, gather.missing(), signal, options)),
    signal,
    { tries: options.tries, traces: options.traces, urgent: options.urgent },
  )
}

export const createGatherer = (numbers: readonly number[]) => {
  const got = new Map<number, RawBlock>()
  return {
    missing: () => numbers.filter(it => !got.has(it)),
    add(read: readonly (RawBlock | ChainsieveError)[]): RawBlock[] {
      let fault: ChainsieveError | undefined
      for (const answer of read) {
        if (answer instanceof ChainsieveError) fault ??= answer
        else got.set(Number(answer.block.number), answer)
      }
      if (fault !== undefined) throw fault
      return numbers.map(it => got.get(it)!)
    },
  }
}

/** Returns the fault of a block; throws that of a node. */
export const blockFault = (error: unknown): ChainsieveError => {
  if (error instanceof ChainsieveError && !error.code.startsWith('node_')) return error
  throw error
}

export const readBlocks = async (
  endpoint: Endpoint,
  numbers: readonly number[],
  signal: AbortSignal,
  options: ReadOptions = {},
): Promise<(RawBlock | ChainsieveError)[]> => {
  if (options.headers) return readHeaders(endpoint, numbers, signal, options)
  const question = questionOf(endpoint, numbers, options)
  const answers = await endpoint.send(callsOf(question), signal, options.urgent)
  return readAnswers(endpoint, question, answers, signal, options)
}

const readHeaders = async (
  endpoint: Endpoint,
  numbers: readonly number[],
  signal: AbortSignal,
  options: ReadOptions,
): Promise<(RawBlock | ChainsieveError)[]> => {
  const { transactions = false, urgent } = options
  const calls = numbers.map(number => ({ method: GET_BLOCK, params: [toQuantity(number), transactions] }))
  const answers = await endpoint.send(calls, signal, urgent)
  const { chainId } = endpoint
  return answers.map((answer, i) => {
    try {
      const header = blockOf(answer, numbers[i]!)
      const block = transactions ? header : { ...header, transactions: [] }
      if (transactions) checkTransactions(block, options)
      return { ...(chainId !== undefined && { chainId }), block, receipts: [], partial: true }
    } catch (error) {
      return blockFault(error)
    }
  })
}

const checkTransactions = (block: RpcBlock, { limits = DEFAULT_LIMITS }: ReadOptions) => {
  const where = `block ${Number(block.number)}`
  checkShape(BLOCK_SHAPE, '', block, where, limits)
  const other = block.transactions.find(it => it.blockHash !== block.hash)
  if (other !== undefined) throw inconsistent(`${where} ${block.hash}: transaction ${other.hash} is of another block`)
}

export interface Question {
  numbers: readonly number[]
  whole: boolean
  traceMethod: TraceMethod | undefined
  chainId: number | undefined
}

export const questionOf = (endpoint: Endpoint, numbers: readonly number[], options: ReadOptions): Question => ({
  numbers,
  whole: !endpoint.lacks.has(BLOCK_RECEIPTS),
  traceMethod: (options.traces === true ? endpoint.traces.method : undefined) ?? undefined,
  chainId: endpoint.chainId,
})

/** All calls of a block go in one request: a load balancer sends it to one node. */
export const callsOf = ({ numbers, whole, traceMethod }: Question): Call[] =>
  numbers.flatMap(it => [
    blockCall(it),
    ...(whole ? [receiptsCall(it)] : []),
    ...(traceMethod ? [traceCall(traceMethod, it)] : []),
  ])

export const readAnswers = async (
  endpoint: Endpoint,
  { numbers, whole, traceMethod, chainId }: Question,
  answers: readonly Answer[],
  signal: AbortSignal,
  options: ReadOptions,
): Promise<(RawBlock | ChainsieveError)[]> => {
  const step = answers.length / numbers.length
  return Promise.all(
    numbers.map(async (number, i) => {
      try {
        let block = blockOf(answers[i * step]!, number)
        let receipts: RpcReceipt[]
        const answer = whole ? answers[i * step + 1]! : undefined
        if (answer === undefined || (answer.error !== undefined && isMissingMethod(answer.error))) {
          endpoint.lacks.add(BLOCK_RECEIPTS)
          receipts = await readReceipts(endpoint, block, signal, options.urgent)
        } else receipts = resultOf(answer, `receipts of block ${number}`, number) as RpcReceipt[]
        if (hasStateSync(chainId) && isListed(block, receipts))
          ({ block, receipts } = await completeStateSync(endpoint, block, receipts, signal, options.urgent))
        const traced = () => traceResultOf(endpoint, answers[(i + 1) * step - 1]!, number)
        return toBlock({ block, receipts, chainId, traceMethod, traced }, options)
      } catch (error) {
        return blockFault(error)
      }
    }),
  )
}

/** Parses and checks the body that answers `callsOf`; throws unless all blocks are good. */
export const readBodyOf = (
  body: Uint8Array,
  { numbers, whole, traceMethod, chainId }: Question,
  options: CheckOptions,
): RawBlock[] => {
  const step = callsPerBlock({ whole, traceMethod })
  const answers = toAnswers(parseBody(textOfBody(rawBytesOf(body))), numbers.length * step)
  if (!Array.isArray(answers) || answers.length !== numbers.length * step || !whole)
    throw retry('node_bad_answer', 'the answer does not cover all calls')
  return numbers.map((number, i) => {
    const block = blockOf(answers[i * step]!, number)
    const receipts = resultOf(answers[i * step + 1]!, `receipts of block ${number}`, number) as RpcReceipt[]
    if (hasStateSync(chainId) && (!isListed(block, receipts) || lacksStateSync(block, receipts, chainId)))
      throw retry('block_inconsistent', `block ${number}: its state-sync transaction has to be looked at`)
    const traced = () => resultOf(answers[(i + 1) * step - 1]!, `traces of block ${number}`, number)
    return toBlock({ block, receipts, chainId, traceMethod, traced }, options)
  })
}

export const callsPerBlock = ({ whole, traceMethod }: Pick<Question, 'whole' | 'traceMethod'>): number =>
  1 + (whole ? 1 : 0) + (traceMethod ? 1 : 0)

export const blockOf = (answer: Answer, number: number): RpcBlock => {
  const block = resultOf(answer, `block ${number}`, number) as RpcBlock | null
  if (block === null) throw blockMissing(`block ${number}: the node does not have it (null)`, number)
  const given = checkHeader(block)
  if (given !== number) throw retry('block_inconsistent', `block ${number}: the node gave block ${given}`)
  return block
}

const isListed = ({ transactions }: RpcBlock, receipts: unknown): receipts is RpcReceipt[] =>
  [transactions, receipts].every(
    list => Array.isArray(list) && list.every(it => typeof it === 'object' && it !== null && !Array.isArray(it)),
  )

interface BlockParts extends Pick<Question, 'chainId' | 'traceMethod'> {
  block: RpcBlock
  receipts: RpcReceipt[] | null
  traced(): unknown
}

const toBlock = ({ block, receipts, chainId, traceMethod, traced }: BlockParts, options: CheckOptions): RawBlock => {
  // Some nodes answer null for the receipts of a block without transactions.
  if (receipts === null && block.transactions?.length === 0) receipts = []
  const number = Number(block.number)
  if (receipts === null) throw blockMissing(`receipts of block ${number}: the node does not have them (null)`, number)
  const raw: RawBlock = { block, receipts }
  if (chainId !== undefined) raw.chainId = chainId
  checkBlock(raw, options)
  delete block.partial
  if (!traceMethod) return raw
  const isFirst = number === 0
  // The genesis block runs nothing; nodes answer with an error or with no traces.
  const steps = isFirst ? [] : traced()
  if (steps === null) throw blockMissing(`traces of block ${number}: the node does not have them (null)`, number)
  raw.traces =
    traceMethod === 'trace_block' || isFirst
      ? fromTraceBlock(block, steps)
      : // As those nodes give them that have trace_block, so that it does not matter which node a block came from.
        fromCallTracer(raw, steps, { limits: options.limits })
  checkTraces(raw, options.limits)
  return raw
}

const readReceipts = async (
  endpoint: Endpoint,
  block: RpcBlock,
  signal: AbortSignal,
  urgent?: boolean,
): Promise<RpcReceipt[]> => {
  if (!Array.isArray(block.transactions)) return []
  const calls = block.transactions.map(it => receiptCall(it?.hash))
  const answers = await endpoint.send(calls, signal, urgent)
  const number = Number(block.number)
  return answers.map((it, i) => {
    const receipt = resultOf(it, `receipt ${i} of block ${number}`, number) as RpcReceipt | null
    if (receipt === null)
      throw blockMissing(`receipt ${i} of block ${number}: the node does not have it (null)`, number)
    return receipt
  })
}

export const BLOCK_RECEIPTS = 'eth_getBlockReceipts'
export const blockCall = (number: number): Call => ({ method: GET_BLOCK, params: [toQuantity(number), true] })
export const receiptsCall = (number: number): Call => ({ method: BLOCK_RECEIPTS, params: [toQuantity(number)] })
export const receiptCall = (hash: string): Call => ({ method: 'eth_getTransactionReceipt', params: [hash] })
