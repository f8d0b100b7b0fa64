import type { LogFilter } from '../../src/chain/source.ts'
import type { RawBlock, RpcBlock, RpcLog, RpcReceipt } from '../../src/chain/wire.ts'
import type { FakeNode } from './node.ts'
import { bloomOf, hex, makeChain } from './pack.ts'

export interface LogQuery {
  fromBlock?: string
  toBlock?: string
  blockHash?: string
  address?: string | string[]
  topics?: (string | string[] | null)[]
}

/** Logs of the blocks that a node has, as `eth_getLogs` without any limit gives them: those beyond its head are left out without a word. */
export const logsOf = (node: Pick<FakeNode, 'blocks' | 'head'>, asked: unknown): RpcLog[] => {
  const query = asked as LogQuery
  return structuredClone(
    blocksOf(node, query)
      .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
      .filter(log => answersTo(query, log)),
  )
}

/** Whether a log is one of those asked for, wherever it stands. */
export const answersTo = ({ address, topics = [] }: LogQuery, log: RpcLog): boolean =>
  isAmong(address, log.address) && topics.every((due, i) => due === null || isAmong(due, log.topics[i]))

const isAmong = (due: string | readonly string[] | undefined, value: string | undefined): boolean => {
  if (due === undefined || due.length === 0) return true
  const text = value?.toLowerCase()
  return (typeof due === 'string' ? [due] : due).some(it => it.toLowerCase() === text)
}

const blocksOf = (node: Pick<FakeNode, 'blocks' | 'head'>, query: LogQuery): RawBlock[] => {
  if (query.blockHash !== undefined) {
    for (const raw of node.blocks.values()) if (raw.block.hash === query.blockHash) return [raw]
    return []
  }
  const numberOf = (tag: string | undefined) => (tag === undefined || tag === 'latest' ? node.head : Number(tag))
  const [from, to] = [numberOf(query.fromBlock), Math.min(numberOf(query.toBlock), node.head)]
  if (to - from < node.blocks.size) {
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => node.blocks.get(from + i)).filter(
      it => it !== undefined,
    )
  }
  return [...node.blocks].filter(([number]) => number >= from && number <= to).map(([, raw]) => raw)
}

/** Numbers from 0 to 1 by a seed (mulberry32). */
export const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

/** What a scoped source must make of a block, by a plain second reading; undefined where nothing of it is wanted. */
export const wantedOf = (raw: RawBlock, filters: readonly LogFilter[]): RawBlock | undefined => {
  const isWanted = (log: RpcLog) =>
    filters.some(({ addresses, topics }) =>
      answersTo({ address: [...addresses], ...(topics.length > 0 && { topics: [[...topics]] }) }, log),
    )
  const receipts = raw.receipts
    .map(receipt => ({ ...receipt, logs: receipt.logs.filter(isWanted) }))
    .filter(({ logs }) => logs.length > 0)
  if (receipts.length === 0) return undefined
  const hashes = receipts.map(it => it.transactionHash)
  const transactions = raw.block.transactions.filter(it => hashes.includes(it.hash))
  return { ...raw, block: { ...raw.block, transactions }, receipts, partial: true }
}

/** A chain in which few blocks have logs, of contracts `token 0` to `token 4` as those of `makeChain`. */
export const makeSparseChain = (random: () => number, blocks: number, busy: number, salt = ''): RawBlock[] => {
  const chain: RawBlock[] = []
  while (chain.length < blocks) {
    const isBusy = random() < busy
    const one = { txs: 1 + Math.floor(random() * 4), logs: isBusy ? 1 + Math.floor(random() * 6) : 0 }
    const parent = chain.at(-1)
    chain.push(...makeChain({ ...one, blocks: 1, salt, ...(parent && { parent }) }))
  }
  return chain
}

/** So many events of one contract, all of one kind, in blocks that lie by chance among others. */
export const makeEvents = (options: { random: () => number; blocks: number; busy: number; logs: number }) => {
  const { random, blocks, busy, logs } = options
  const [address, topic] = [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(32)}`]
  const numbers = new Set<number>()
  while (numbers.size < busy) numbers.add(Math.floor(random() * blocks))
  const word = (kind: number, number: number) => `0x${(kind * 2 ** 40 + number).toString(16).padStart(64, '0')}`
  let logsBloom: string | undefined
  const make = (number: number, count: number): RawBlock => {
    const [hash, transactionHash] = [word(1, number), word(2, number)]
    const where = { blockHash: hash, blockNumber: hex(number), transactionIndex: '0x0' }
    const receipt: RpcReceipt = {
      ...where,
      transactionHash,
      logs: Array.from({ length: count }, (_, i) => ({
        ...{ ...where, transactionHash, address, topics: [topic], data: '0x', logIndex: hex(i) },
      })),
    }
    if (count > 0) logsBloom ??= bloomOf([receipt])
    const tx = { ...where, hash: transactionHash, from: address, to: address, value: '0x0', input: '0x' }
    const block: RpcBlock = {
      ...{ number: hex(number), hash, parentHash: word(1, number - 1), timestamp: hex(number) },
      logsBloom: count > 0 ? logsBloom! : NO_BLOOM,
      transactions: [{ ...tx, nonce: '0x0', gas: '0x0' }],
    }
    return { chainId: 1, block, receipts: [receipt] }
  }
  const sorted = [...numbers].sort((a, b) => a - b)
  return {
    chain: new Map(sorted.map(it => [it, make(it, logs)])),
    newest: (number: number) => make(number, 0),
    filter: { addresses: [address], topics: [topic] },
    blocksOfLogs: sorted.flatMap(it => Array<number>(logs).fill(it)),
  }
}
const NO_BLOOM = `0x${'0'.repeat(512)}`
