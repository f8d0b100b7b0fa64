import type { RawBlock, RpcTransaction } from '../../src/chain/wire.ts'
import { type FakeNode, NodeError } from './node.ts'

export interface AskedTraces {
  side: 'from' | 'to'
  addresses: string[]
  from: number
  to: number
  after: number
}

export interface TraceLimits {
  blocks?: number
  /** Most traces of an answer: it is cut without a word. */
  cut?: number
  /** Whether `after` is left unread. */
  noPages?: boolean
}

/** Lets a node answer `trace_filter`, with calls inside of each transaction; returns what it was asked for and has answered. */
export const serveTraceFilter = (node: FakeNode, limits: TraceLimits = {}): AskedTraces[] => {
  const asked: AskedTraces[] = []
  node.methods.set('trace_filter', params => {
    const [query] = params as [Record<string, unknown>]
    const { after = 0, count = Number.POSITIVE_INFINITY } = query as { after?: number; count?: number }
    const [from, to] = [Number(query.fromBlock), Number(query.toBlock)]
    if (to - from >= (limits.blocks ?? Number.POSITIVE_INFINITY))
      throw new NodeError(-32602, `Block range too large; currently limited to ${limits.blocks} blocks`)
    if (query.fromAddress && query.toAddress) throw new NodeError(-32602, 'nodes differ in what both mean')
    const side = query.fromAddress ? 'from' : 'to'
    const addresses = (query[`${side}Address`] ?? []) as string[]
    if (addresses[0] !== NOBODY) asked.push({ side, addresses, from, to, after })
    const all = [...node.blocks]
      .filter(([number]) => number >= from && number <= Math.min(to, node.head))
      .sort(([a], [b]) => a - b)
      .flatMap(([, raw]) => tracesOf(raw).filter(({ action }) => addresses.includes(action[side] ?? '')))
    const start = limits.noPages ? 0 : after
    return structuredClone(all.slice(start, start + Math.min(count, limits.cut ?? Number.POSITIVE_INFINITY)))
  })
  return asked
}

export const INSIDE = `0x${'1'.repeat(40)}`

/** Each transaction, and inside of it calls back to its sender and to another one. */
const tracesOf = ({ block }: RawBlock) =>
  block.transactions.flatMap(tx => {
    const place = { blockHash: block.hash, blockNumber: Number(block.number), transactionHash: tx.hash }
    const { from, to } = tx
    return [
      { ...place, type: to === null ? 'create' : 'call', action: { from, to }, traceAddress: [] },
      { ...place, type: 'call', action: { from: to, to: from }, traceAddress: [0] },
      { ...place, type: 'call', action: { from: to, to: INSIDE }, traceAddress: [1] },
    ]
  })

/** Lets a node answer as Erigon with `ots_searchTransactionsAfter`; `page` transactions at least where there are as many. */
export const serveOtterscan = (node: FakeNode, page = 25) => {
  const asked: { address: string; after: number }[] = []
  node.methods.set('ots_searchTransactionsBefore', () => ({ txs: [], receipts: [], firstPage: false, lastPage: true }))
  node.methods.set('ots_searchTransactionsAfter', params => {
    const [address, after, size] = params as [string, number, number]
    asked.push({ address, after })
    const blocks = [...node.blocks]
      .filter(([number]) => number > after && number <= node.head)
      .sort(([a], [b]) => a - b)
      .map(([, { block }]) => block.transactions.filter(it => it.from === address || it.to === address))
      .filter(txs => txs.length > 0)
    const txs: RpcTransaction[] = []
    let taken = 0
    for (; taken < blocks.length && txs.length < Math.min(size, page); taken++) txs.push(...blocks[taken]!)
    return structuredClone({
      txs: txs.reverse(),
      receipts: [],
      firstPage: taken === blocks.length,
      lastPage: after === 0,
    })
  })
  return asked
}

/** The address that the source tries methods with. */
const NOBODY = `0x${'0'.repeat(39)}1`

export const isFromOrTo =
  (addresses: readonly string[]) =>
  ({ from, to }: Pick<RpcTransaction, 'from' | 'to'>): boolean =>
    addresses.includes(from) || addresses.includes(to ?? '')

/** What a source must make of a block, by a plain second reading; undefined where nothing of it is wanted. */
export const sentIn = (raw: RawBlock, addresses: readonly string[]): RawBlock | undefined => {
  const transactions = raw.block.transactions.filter(isFromOrTo(addresses))
  if (transactions.length === 0) return undefined
  const hashes = transactions.map(({ hash }) => hash)
  const receipts = raw.receipts
    .filter(it => hashes.includes(it.transactionHash))
    .map(receipt => ({ ...receipt, logs: [] }))
  return { ...raw, block: { ...raw.block, transactions }, receipts, partial: true }
}

export const partiesIn = (chain: readonly RawBlock[]): string[] =>
  [...new Set(chain.flatMap(({ block }) => block.transactions.flatMap(({ from, to }) => [from, to!])))].sort()
