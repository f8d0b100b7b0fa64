import { retry } from '../../lib/errors.ts'
import { resultOf } from '../answers.ts'
import { fetchBlocks, toQuantity } from '../blocks.ts'
import type { CheckOptions } from '../check.ts'
import type { Rpc } from '../rpc.ts'
import type { RawBlock, RpcLog } from '../wire.ts'
import type { LogFilter, ScopedSource } from './scoped-source.ts'

const STEP = 1_000
/** Blocks that are asked for at a time. */
const BLOCKS = 10

/** Finds what is wanted by the plainest questions: one for the logs of 1,000 blocks, then each block that has some, whole. */
export const createPlainScopedSource = (rpc: Rpc, options: CheckOptions): ScopedSource => ({
  async *find(filter, { from, to }, signal) {
    for (let first = from; first <= to; first += STEP) {
      const last = Math.min(to, first + STEP - 1)
      const asked = { fromBlock: toQuantity(first), toBlock: toQuantity(last), ...questionOf(filter) }
      const logs = await rpc.attempt(async endpoint => {
        const [answer] = await endpoint.send([{ method: 'eth_getLogs', params: [asked] }], signal)
        return resultOf(answer!, `logs of blocks ${first} to ${last}`) as RpcLog[]
      }, signal)
      const numbers = [...new Set(logs.map(({ blockNumber }) => Number(blockNumber)))].sort((a, b) => a - b)
      const blocks: RawBlock[] = []
      for (let i = 0; i < numbers.length; i += BLOCKS)
        for (const raw of await fetchBlocks(rpc, numbers.slice(i, i + BLOCKS), options, signal)) {
          const part = partOf(raw, [filter])
          if (part) blocks.push(part)
        }
      yield { from: first, to: last, blocks }
    }
  },
  async findIn(filters, header, signal) {
    const [raw] = await fetchBlocks(rpc, [Number(header.number)], options, signal)
    if (raw!.block.hash !== header.hash)
      throw retry('block_replaced', `block ${Number(header.number)} was replaced while it was read`)
    return partOf(raw!, filters)
  },
})

const questionOf = ({ addresses, topics }: LogFilter) => ({
  ...(addresses.length > 0 && { address: addresses }),
  ...(topics.length > 0 && { topics: [topics] }),
})

/** What filters want of a block; undefined where that is nothing. */
export const partOf = (raw: RawBlock, filters: readonly LogFilter[]): RawBlock | undefined => {
  const tests = filters.map(({ addresses, topics }) => ({ addresses: new Set(addresses), topics: new Set(topics) }))
  const isWanted = (log: RpcLog) =>
    tests.some(
      ({ addresses, topics }) =>
        (addresses.size === 0 || addresses.has(log.address.toLowerCase())) &&
        (topics.size === 0 || topics.has(log.topics[0]?.toLowerCase() ?? '')),
    )
  const receipts = raw.receipts
    .map(receipt => ({ ...receipt, logs: receipt.logs.filter(isWanted) }))
    .filter(({ logs }) => logs.length > 0)
  if (receipts.length === 0) return undefined
  const kept = new Set(receipts.map(({ transactionHash }) => transactionHash))
  const transactions = raw.block.transactions.filter(({ hash }) => kept.has(hash))
  const { traces: _, ...rest } = raw
  return { ...rest, block: { ...raw.block, transactions }, receipts, partial: true }
}
