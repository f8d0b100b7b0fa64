import type { RawBlock, RpcLog } from '../../src/chain/wire.ts'
import type { FakeNode } from './node.ts'

/** What `eth_getLogs` may ask for. */
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
