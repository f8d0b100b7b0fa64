import assert from 'node:assert/strict'
import type { LogFilter } from '../../src/chain/source.ts'
import type { RawBlock, RpcLog, RpcTransaction } from '../../src/chain/wire.ts'
import type { Scoping, WantedScope } from '../../src/config/scopes.ts'
import type { Document } from '../../src/documents/document.ts'
import { using } from './contents.ts'
import { type LogQuery, logsOf } from './logs.ts'
import { type FakeNode, NodeError } from './node.ts'
import { bloomOf, makeChain } from './pack.ts'
import { createTestStore, type TestStore } from './store.ts'

/** Integers below a bound, the same for a seed each time. */
export const random = (seed: number) => (most: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * most)
}

/** Blocks of which some have no logs, and some no transactions. */
export const unevenChain = (count: number, below: (most: number) => number, from = 100): RawBlock[] => {
  const chain: RawBlock[] = []
  for (let i = 0; i < count; i++) {
    const parent = chain.at(-1)
    const logs = below(3) === 0 ? below(6) : 0
    chain.push(...makeChain({ blocks: 1, txs: below(4), logs, ...(parent ? { parent } : { from }) }))
  }
  return chain
}

interface Asked {
  addresses: string[]
  topics: string[]
  from: number
  to: number
}

/** Lets a node answer `eth_getLogs` of so many blocks at most; returns what it was asked for and has answered. */
export const serveLogs = (node: FakeNode, most = Number.POSITIVE_INFINITY): Asked[] => {
  const asked: Asked[] = []
  const all = (value: string | string[] | null | undefined): string[] => [value ?? []].flat()
  node.methods.set('eth_getLogs', params => {
    const [query] = params as [LogQuery]
    const { fromBlock, toBlock, blockHash, address, topics = [] } = query
    const number = [...node.blocks].find(([, { block }]) => block.hash === blockHash)?.[0]
    const [from, to] = [number ?? Number(fromBlock), number ?? Number(toBlock)]
    if (to - from >= most) throw new NodeError(-32602, `query exceeds max block range ${most}`)
    asked.push({ addresses: all(address), topics: all(topics[0]), from, to })
    return logsOf(node, query)
  })
  return asked
}

export const fits = ({ address, topics }: RpcLog, wanted: LogFilter): boolean =>
  (wanted.addresses.length === 0 || wanted.addresses.includes(address)) &&
  (wanted.topics.length === 0 || wanted.topics.includes(topics[0] ?? ''))

/** No block was looked at twice for the same address and topic; `none` stands for any. */
export const assertAskedOnce = (asked: readonly Asked[]) => {
  const seen = new Set<string>()
  for (const { addresses, topics, from, to } of asked)
    for (const address of addresses.length > 0 ? addresses : ['any'])
      for (const topic of topics.length > 0 ? topics : ['any'])
        for (let number = from; number <= to; number++) {
          const key = `${address} ${topic} ${number}`
          assert.ok(!seen.has(key), `asked twice for ${key}`)
          seen.add(key)
        }
}

export const scoping = (scopes: readonly Partial<WantedScope>[], whole = false): Scoping => ({
  scopes: scopes.map(scope => ({
    addresses: [],
    topics: [],
    factory: undefined,
    from: undefined,
    to: undefined,
    ...scope,
  })),
  whole,
})

/** What of the whole chain's documents must be stored, where these logs and transactions are wanted and some blocks are whole. */
export const expectedOf = (
  chain: readonly RawBlock[],
  isWanted: (log: RpcLog) => boolean,
  isWhole: (number: number) => boolean = () => false,
  isSent: (tx: RpcTransaction) => boolean = () => false,
) => {
  const store = createTestStore(chain)
  const logs = new Map<string, Set<string>>()
  const txs = new Set<string>()
  const blocks = new Map<string, boolean>()
  for (const { block, receipts } of chain) {
    const whole = isWhole(Number(block.number))
    if (whole) blocks.set(block.hash, true)
    for (const [i, receipt] of receipts.entries()) {
      const wanted = receipt.logs.filter(log => whole || isWanted(log))
      if (!whole && wanted.length === 0 && !isSent(block.transactions[i]!)) continue
      if (!whole) blocks.set(block.hash, false)
      txs.add(receipt.transactionHash)
      logs.set(receipt.transactionHash, new Set(wanted.map(({ logIndex }) => logIndex)))
    }
  }
  let found: ReturnType<typeof holdingsOf>
  using([store], () => {
    const all = holdingsOf(store)
    const isKeptLog = ({ _source }: Document) =>
      logs.get(_source.transactionHash as string)?.has((_source.logIndex as { raw: string }).raw) === true
    const isKeptTx = ({ _source }: Document) => txs.has((_source.transactionHash ?? _source.hash) as string)
    found = {
      block: all.block.flatMap(document => {
        const { _source } = document
        const whole = blocks.get(_source.hash as string)
        if (whole === undefined) return []
        if (whole) return [document]
        const transactions = (_source.transactions as string[]).filter(hash => txs.has(hash))
        return [{ ...document, _source: { ..._source, transactions, partial: true } }]
      }),
      tx: all.tx.filter(isKeptTx),
      log: all.log.filter(isKeptLog),
      event: all.event.filter(isKeptLog),
      call: all.call.filter(isKeptTx),
    }
  })
  return found!
}

export const holdingsOf = (store: TestStore) => ({
  block: store.all('block'),
  tx: store.all('tx'),
  log: store.all('log'),
  event: store.all('event'),
  call: store.all('call'),
})

export const holdingsIn = (path: string) => {
  const store = createTestStore([], { path })
  let found: ReturnType<typeof holdingsOf>
  using([store], () => {
    found = holdingsOf(store)
  })
  return found!
}

/** A block behind another with these logs, in one transaction. */
export const blockOf = (parent: RawBlock, logs: readonly Pick<RpcLog, 'address' | 'topics' | 'data'>[]): RawBlock => {
  const [raw] = makeChain({ blocks: 1, txs: 1, logs: logs.length, parent })
  const { receipts, block } = raw!
  for (const [i, log] of logs.entries()) Object.assign(receipts[0]!.logs[i]!, log)
  block.logsBloom = bloomOf(receipts)
  if (receipts[0]!.logsBloom) receipts[0]!.logsBloom = bloomOf(receipts)
  return raw!
}
