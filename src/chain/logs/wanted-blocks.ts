import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import {
  BLOCK_RECEIPTS,
  blockCall,
  blockFault,
  blockOf,
  readBlocks,
  receiptCall,
  receiptsCall,
} from '../blocks/read-blocks.ts'
import { type CheckOptions, checkBlock, inconsistent } from '../check/check-block.ts'
import { isMissingMethod, resultOf } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RawBlock, RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../wire.ts'
import { areSameLogs, type Claim, isSameLog, type LogFinding } from './check-logs.ts'
import { type Fits, mayHold } from './log-filter.ts'

export interface WantedOptions {
  fits: Fits
  bloom: boolean
  hash?: string
  urgent?: boolean
  tries?: number
  limits: Limits
}

/** Result for a block: its wanted part, nothing, or a log of its receipts that a claim lacks. */
type Outcome = { block: RawBlock | undefined } | { lacks: string; of: Claim }

export const LOGS_LEFT_OUT = 'logs_left_out'

/** Fetches wanted parts of blocks; undefined if a block has none. A single claim must hold. */
export const fetchWanted = async (
  rpc: Rpc,
  found: readonly LogFinding[],
  options: WantedOptions,
  signal: AbortSignal,
): Promise<(RawBlock | undefined)[]> => {
  const got = new Map<number, Outcome>()
  await rpc.attempt(
    async endpoint => {
      const missing = found.filter(({ number }) => !got.has(number))
      const read = await readWanted(endpoint, missing, options, signal)
      let fault: ChainsieveError | undefined
      for (const [i, outcome] of read.entries()) {
        if (outcome instanceof ChainsieveError) fault ??= outcome
        else got.set(missing[i]!.number, outcome)
      }
      if (fault !== undefined) throw fault
    },
    signal,
    { tries: (options.tries ?? WANTED_TRIES) * rpc.endpoints.length },
  )
  const outcomes = found.map(({ number }) => got.get(number)!)
  for (const outcome of outcomes) {
    if (!('lacks' in outcome)) continue
    const fault = retry(LOGS_LEFT_OUT, `${outcome.lacks}. If it goes on, use another endpoint`)
    blame(outcome.of.by, fault)
    throw fault
  }
  return outcomes.map(it => ('block' in it ? it.block : undefined))
}

const blame = (endpoint: Endpoint, fault: ChainsieveError) => endpoint.health.failed(endpoint.health.mark(), fault)

const readWanted = async (
  endpoint: Endpoint,
  found: readonly LogFinding[],
  options: WantedOptions,
  signal: AbortSignal,
): Promise<(Outcome | ChainsieveError)[]> => {
  // Identifies the chain again if the node disconnects during the request.
  const { chainId } = endpoint
  const plans = found.map(it => planOf(endpoint, it))
  const answers = await endpoint.send(
    plans.flatMap(it => it.calls),
    signal,
    options.urgent,
  )
  let at = 0
  return Promise.all(
    plans.map(async plan => {
      const own = answers.slice(at, at + plan.calls.length)
      at += plan.calls.length
      try {
        if (plan.claim === undefined) return await readWhole(endpoint, chainId, plan.found, options, signal)
        const { number } = plan.found
        const block = blockOf(own[0]!, number)
        const missing = own.slice(1).find(it => it.error !== undefined && isMissingMethod(it.error))
        if (missing !== undefined && plan.isWhole) {
          endpoint.lacks.add(BLOCK_RECEIPTS)
          return (await readWanted(endpoint, [plan.found], options, signal))[0]!
        }
        const results = own.slice(1).map((it, i) => resultOf(it, `receipt ${i} wanted of block ${number}`, number))
        const receipts = (plan.isWhole ? results[0] : results) as RpcReceipt[]
        return toPartial({ block, receipts, isWhole: plan.isWhole, claim: plan.claim, chainId }, options)
      } catch (error) {
        return blockFault(error)
      }
    }),
  )
}

const planOf = (endpoint: Endpoint, found: LogFinding) => {
  const claim = found.claims.length === 1 && !found.isDoubted ? found.claims[0]! : undefined
  if (claim === undefined) return { found, claim, isWhole: true, calls: [] }
  const hashes = [...new Set(claim.logs.map(it => it.transactionHash))]
  const isWhole = hashes.length > 1 && !endpoint.lacks.has(BLOCK_RECEIPTS)
  const receipts = isWhole ? [receiptsCall(found.number)] : hashes.map(receiptCall)
  return { found, claim, isWhole, calls: [blockCall(found.number), ...receipts] }
}

interface ReadClaim {
  block: RpcBlock
  receipts: RpcReceipt[]
  isWhole: boolean
  claim: Claim
  chainId: number | undefined
}

const toPartial = (read: ReadClaim, options: WantedOptions): Outcome => {
  const { block, receipts, isWhole, claim, chainId } = read
  const where = `block ${claim.number}`
  if (block.hash !== claim.hash)
    throw inconsistent(
      `${where}: it is ${block.hash}, but its logs name ${claim.hash} as their block (${claim.by.name})`,
    )
  checkHash(block, options)
  if (!Array.isArray(block.transactions)) throw inconsistent(`${where} has no list of transactions`)
  const raw: RawBlock = { block, receipts }
  if (chainId !== undefined) raw.chainId = chainId
  if (isWhole) checkBlock(raw, options)
  else checkClaimed(raw, claim, options)
  const partial = cutDown(raw, options.fits)
  const held = partial.receipts.flatMap(({ logs }) => logs)
  if (areSameLogs(claim.logs, held)) return { block: partial }
  const extra = claim.logs.find(log => !held.some(it => isSameLog(it, log)))
  if (extra !== undefined)
    throw inconsistent(`${where}: log ${Number(extra.logIndex)} that eth_getLogs gave is not in its receipts`)
  const lacked = held.find(log => !claim.logs.some(it => isSameLog(it, log)))!
  return { lacks: `eth_getLogs left out log ${Number(lacked.logIndex)} of ${where} ${block.hash}`, of: claim }
}

const checkClaimed = (raw: RawBlock, claim: Claim, options: WantedOptions) => {
  const all = raw.block.transactions
  const places = [...new Set(claim.logs.map(it => Number(it.transactionIndex)))]
  const transactions = places.map(place => all[place])
  if (transactions.some(it => it === undefined))
    throw inconsistent(`block ${claim.number} has ${all.length} transactions, but logs of others`)
  raw.block = { ...raw.block, transactions: transactions as RpcBlock['transactions'] }
  checkExcerpt(raw, all.length, options)
}

const readWhole = async (
  endpoint: Endpoint,
  chainId: number | undefined,
  { number, claims }: LogFinding,
  options: WantedOptions,
  signal: AbortSignal,
): Promise<Outcome | ChainsieveError> => {
  const [raw] = await readBlocks(endpoint, [number], signal, { ...options, traces: false })
  if (raw instanceof ChainsieveError) return raw
  checkHash(raw!.block, options)
  if (chainId !== undefined) raw!.chainId = chainId
  const partial = cutDown(raw!, options.fits)
  const held = partial.receipts.flatMap(({ logs }) => logs)
  for (const { by, logs, hash } of claims) {
    if (hash === raw!.block.hash && areSameLogs(logs, held)) continue
    blame(by, retry(LOGS_LEFT_OUT, `eth_getLogs gave ${logs.length} logs of block ${number}, which has ${held.length}`))
  }
  return { block: held.length === 0 ? undefined : partial }
}

const checkHash = ({ number, hash }: RpcBlock, { hash: due }: WantedOptions) => {
  if (due === undefined || hash === due) return
  throw inconsistent(`block ${Number(number)}: the node has ${hash} there, not ${due}`)
}

const cutDown = (raw: RawBlock, fits: Fits): RawBlock =>
  cutBlock(raw, (_, receipt) => {
    const logs = receipt.logs.filter(fits)
    return logs.length > 0 ? logs : undefined
  })

const WANTED_TRIES = 4

/** Reduces a block; `keep` returns the logs to keep, undefined drops the transaction. */
export const cutBlock = (
  raw: RawBlock,
  keep: (tx: RpcTransaction, receipt: RpcReceipt) => RpcLog[] | undefined,
): RawBlock => {
  const receipts: RpcReceipt[] = []
  const transactions: RpcTransaction[] = []
  for (const [i, receipt] of raw.receipts.entries()) {
    const tx = raw.block.transactions[i]!
    const logs = keep(tx, receipt)
    if (!logs) continue
    receipts.push({ ...receipt, logs })
    transactions.push(tx)
  }
  const hashes = new Set(transactions.map(({ hash }) => hash))
  const traces = raw.traces?.filter(it => it.type !== 'reward' && hashes.has(it.transactionHash))
  return { ...raw, block: { ...raw.block, transactions }, receipts, partial: true, ...(traces && { traces }) }
}

export const checkExcerpt = (
  raw: RawBlock,
  count: number,
  { bloom, limits }: Required<Pick<CheckOptions, 'bloom' | 'limits'>>,
) => {
  const { block, receipts } = raw
  // Complete: the bloom shows whether logs are missing.
  if (receipts.length === count) return checkBlock(raw, { bloom, limits })
  checkBlock({ ...raw, block: { ...block, transactionCount: count } }, { bloom, limits, excerpts: true })
  if (bloom && !receipts.flatMap(({ logs }) => logs).every(log => mayHold(block.logsBloom, log)))
    throw inconsistent(
      `block ${Number(block.number)}: its logs bloom does not cover its logs: they belong to another block, or set skip-bloom for this network`,
    )
}
