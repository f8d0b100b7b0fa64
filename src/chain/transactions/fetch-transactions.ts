import { ChainsieveError } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import {
  BLOCK_RECEIPTS,
  blockCall,
  blockFault,
  blockOf,
  createGatherer,
  readBlocks,
  receiptCall,
  receiptsCall,
} from '../blocks/read-blocks.ts'
import { hasStateSync } from '../blocks/state-sync.ts'
import { checkBlock, checkShape, inconsistent } from '../check/check-block.ts'
import { BLOCK } from '../check/schema.ts'
import { checkExcerpt, cutBlock } from '../logs/wanted-blocks.ts'
import { type Answer, isMissingMethod, resultOf } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RawBlock, RpcBlock, RpcReceipt, RpcTransaction } from '../wire.ts'
import type { FoundBlock } from './ask-transactions.ts'

export interface TransactionFetchOptions {
  isWanted: (tx: RpcTransaction) => boolean
  bloom: boolean
  traces: boolean
  limits: Limits
  urgent?: boolean
  tries?: number
}

/** Blocks with the wanted transactions and their receipts; empty where none is. */
export const fetchTransactions = async (
  rpc: Rpc,
  found: readonly FoundBlock[],
  options: TransactionFetchOptions,
  signal: AbortSignal,
): Promise<RawBlock[]> => {
  const hashes = new Map(found.map(it => [it.number, it.hashes]))
  const gather = createGatherer(found.map(({ number }) => number))
  return attemptFetch(rpc, options, signal, async endpoint => {
    const missing = gather.missing()
    if (options.traces) return gather.add((await readBlocks(endpoint, missing, signal, options)).map(cutTo(options)))
    const isOneByOne = endpoint.lacks.has(BLOCK_RECEIPTS) || hasStateSync(endpoint.chainId)
    const plans = missing.map(number => ({ number, ...planReceipts(number, hashes.get(number)!, isOneByOne) }))
    const { chainId } = endpoint
    const answers = await endpoint.send(
      plans.flatMap(({ number, calls }) => [blockCall(number), ...calls]),
      signal,
      options.urgent,
    )
    let at = 0
    const blocks = plans.map(async ({ number, asked, calls }) => {
      const own = answers.slice(at, at + 1 + calls.length)
      at += own.length
      const { block, ...told } = { block: blockOf(own[0]!, number), answers: own.slice(1), asked }
      return completed(endpoint, block, told, { ...options, chainId }, signal)
    })
    return gather.add(await Promise.all(blocks.map(asFault)))
  })
}

export const fetchReceipts = async (
  rpc: Rpc,
  { block }: RawBlock,
  options: TransactionFetchOptions,
  signal: AbortSignal,
): Promise<RawBlock> =>
  attemptFetch(rpc, options, signal, async endpoint => {
    const number = Number(block.number)
    const { chainId } = endpoint
    if (!options.traces) return completed(endpoint, block, { answers: [], asked: [] }, { ...options, chainId }, signal)
    const [raw] = await readBlocks(endpoint, [number], signal, options)
    if (raw instanceof ChainsieveError) throw raw
    if (raw!.block.hash !== block.hash)
      throw inconsistent(`block ${number}: the node has ${raw!.block.hash} there, not ${block.hash}`)
    return cutTo(options)(raw!) as RawBlock
  })

const attemptFetch = <T>(
  rpc: Rpc,
  { traces, urgent, tries = FETCH_TRIES }: TransactionFetchOptions,
  signal: AbortSignal,
  work: (endpoint: Endpoint) => Promise<T>,
): Promise<T> => rpc.attempt(work, signal, { tries: tries * rpc.endpoints.length, traces, urgent })

const planReceipts = (number: number, hashes: readonly string[], isOneByOne: boolean) =>
  hashes.length > 1 && !isOneByOne
    ? { asked: 'all' as const, calls: [receiptsCall(number)] }
    : { asked: hashes, calls: hashes.map(receiptCall) }

interface AskedReceipts {
  asked: 'all' | readonly string[]
  answers: readonly Answer[]
}

interface CompleteOptions extends TransactionFetchOptions {
  chainId: number | undefined
}

const completed = async (
  endpoint: Endpoint,
  block: RpcBlock,
  told: AskedReceipts,
  options: CompleteOptions,
  signal: AbortSignal,
): Promise<RawBlock> => {
  const { isWanted, limits, bloom, chainId } = options
  const number = Number(block.number)
  const where = `block ${number}`
  checkShape(BLOCK, '', block, where, limits)
  const wanted = block.transactions.filter(isWanted)
  const left = checkAsked(block, told.asked, where)
  const withChain = chainId === undefined ? {} : { chainId }
  if (wanted.length === 0) return { ...withChain, block: { ...block, transactions: [] }, receipts: [], partial: true }
  if (told.asked === 'all') {
    const [answer] = told.answers
    if (answer!.error !== undefined && isMissingMethod(answer!.error)) {
      endpoint.lacks.add(BLOCK_RECEIPTS)
      return completed(endpoint, block, { asked: [], answers: [] }, options, signal)
    }
    const receipts = resultOf(answer!, `receipts of ${where}`) as RpcReceipt[]
    const raw: RawBlock = { ...withChain, block, receipts }
    checkBlock(raw, { bloom, limits })
    return cutTransactions(raw, isWanted)
  }
  const receipts = new Map<string, RpcReceipt>()
  for (const [i, hash] of left.entries())
    receipts.set(hash, resultOf(told.answers[i]!, `receipt of ${hash} in ${where}`) as RpcReceipt)
  const lacking = wanted.filter(({ hash }) => !receipts.has(hash)).map(({ hash }) => hash)
  if (lacking.length > 0) {
    const { asked, calls } = planReceipts(number, lacking, endpoint.lacks.has(BLOCK_RECEIPTS) || hasStateSync(chainId))
    const answers = await endpoint.send(calls, signal, options.urgent)
    if (asked === 'all') return completed(endpoint, block, { asked, answers }, options, signal)
    for (const [i, hash] of lacking.entries())
      receipts.set(hash, resultOf(answers[i]!, `receipt of ${hash} in ${where}`) as RpcReceipt)
  }
  const raw: RawBlock = {
    ...withChain,
    block: { ...block, transactions: wanted },
    receipts: wanted.map(({ hash }) => receipts.get(hash)!),
  }
  checkExcerpt(raw, block.transactions.length, options)
  return cutTransactions(raw, isWanted)
}

const checkAsked = ({ transactions }: RpcBlock, asked: AskedReceipts['asked'], where: string): readonly string[] => {
  if (asked === 'all') return []
  const there = new Set(transactions.map(({ hash }) => hash))
  for (const hash of asked)
    if (!there.has(hash)) throw inconsistent(`${where}: transaction ${hash}, which was found in it, is not there`)
  return asked
}

const cutTo =
  ({ isWanted }: TransactionFetchOptions) =>
  (raw: RawBlock | ChainsieveError): RawBlock | ChainsieveError =>
    raw instanceof ChainsieveError ? raw : cutTransactions(raw, isWanted)

const cutTransactions = (raw: RawBlock, isWanted: (tx: RpcTransaction) => boolean): RawBlock =>
  cutBlock(raw, tx => (isWanted(tx) ? [] : undefined))

const asFault = async (reading: Promise<RawBlock>): Promise<RawBlock | ChainsieveError> => {
  try {
    return await reading
  } catch (error) {
    return blockFault(error)
  }
}

const FETCH_TRIES = 4
