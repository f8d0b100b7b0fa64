import assert from 'node:assert/strict'
import type { Hex, RawBlock, RpcTransaction } from '../../src/chain/wire.ts'
import { keccakHex } from '../../src/lib/keccak.ts'
import { type FakeNode, startNode } from '../support/node.ts'
import { bloomOf, hex, makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { serve, type Test, tempFolder, until } from './program.ts'

export const NETWORK = 'ethereum/made-up/mainnet'

/** What a receiver is told of an alert of windows or steps. */
export interface Told {
  id: string
  type: string
  entity: { _id: string; _type: string }
  when: {
    key: Record<string, string>
    window: Record<string, number>
    conditions: { aggregate: string; name?: string; value: string | null }[]
    matches: number
    entities: string[]
    steps: ({ block: number; _id: string } | { missing: true })[]
    ended?: { block: number }
  }
}

interface MadeLog {
  address: Hex
  topics: Hex[]
  data: Hex
}

/** A block to be made, with one transaction. */
export interface Mined {
  logs?: MadeLog[]
  transaction?: Partial<RpcTransaction>
  fails?: boolean
  /** Seconds after the block before. */
  after?: number
}

export const word = (text: string | bigint): Hex =>
  `0x${(typeof text === 'bigint' ? text.toString(16) : text.replace('0x', '')).toLowerCase().padStart(64, '0')}`
export const words = (...all: (string | bigint)[]): Hex => `0x${all.map(it => word(it).slice(2)).join('')}`
export const log = (address: string, signature: string, topics: Hex[], data: Hex = '0x'): MadeLog => ({
  ...{ address: address as Hex, topics: [`0x${keccakHex(signature).replace('0x', '')}`, ...topics], data },
})
export const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

interface Scene {
  /** Attributes of the rule beside `config`. */
  rule?: object
  prepare?(server: Awaited<ReturnType<typeof serve>>, node: FakeNode): Promise<void>
}

/** A server with one rule that tells a receiver, and a chain from block 100 on, of which the rule sees what comes after block 102. */
export const startRule = async (t: Test, config: object, { rule, prepare }: Scene = {}) => {
  const data = tempFolder(t)
  const chain = makeChain({ blocks: 3, from: 100, txs: 1, logs: 0 })
  const node = await startNode(t, chain)
  const receiver = await startReceiver(t)
  const args = ['--network', NETWORK, '--rpc', node.url, '--from', '100', '--poll-interval', '20ms']
  const start = () => serve(t, data, [...args, '--allow-target', '127.0.0.1/32'])
  let server = await start()
  const stored = (block: number) =>
    until(
      () => server.total(NETWORK, 'block', { range: { 'number.num': { gte: block } } }),
      total => total > 0,
    )
  await prepare?.(server, node)
  await stored(102)
  const { status, body } = await server.ask<{ id: number }>('/alerting/rules/', {
    ...{ name: 'rule', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'made-up', network: 'mainnet' },
    ...rule,
    config: { ...config, alerts: [{ type: 'Webhook (POST)', parameters: { url: `${receiver.url}/hook` } }] },
  })
  assert.equal(status, 201, JSON.stringify(body))
  let salt = 0
  const make = ({ logs = [], transaction, fails = false, after = 12 }: Mined): RawBlock => {
    const parent = chain.at(-1)!
    const [raw] = makeChain({ blocks: 1, parent, txs: 1, logs: 0, salt: String(salt++) }) as [RawBlock]
    const [receipt] = raw.receipts
    const { blockHash, blockNumber, transactionIndex, transactionHash } = receipt!
    const where = { blockHash, blockNumber, transactionIndex, transactionHash, removed: false }
    Object.assign(receipt!, { logs: logs.map((it, i) => ({ ...it, ...where, logIndex: hex(i) })) })
    if (fails) Object.assign(receipt!, { status: '0x0' })
    Object.assign(raw.block.transactions[0]!, transaction)
    const timestamp = hex(Number(parent.block.timestamp) + after)
    Object.assign(raw.block, { timestamp, logsBloom: bloomOf(raw.receipts) })
    chain.push(raw)
    return raw
  }
  const mine = async (blocks: readonly Mined[]) => {
    node.extend(blocks.map(make))
    await stored(Number(chain.at(-1)!.block.number))
  }
  const told = (): Told[] => receiver.calls.map(it => JSON.parse(it.body) as Told)
  return {
    ...{ mine, chain, receiver },
    reorganise(depth: number, blocks: readonly Mined[]) {
      chain.length -= depth
      return mine(blocks)
    },
    async restart() {
      server.signal('SIGKILL')
      await server.ended
      server = await start()
    },
    rule: async () => (await server.ask<{ warnings: string[] }>(`/alerting/rules/${body.id}/`)).body,
    alerts: async () =>
      (
        await server.ask<{ alerts: { id: string; state: string; block: number }[] }>(
          `/alerting/rules/${body.id}/alerts/?size=1000`,
        )
      ).body.alerts,
    told,
    /** Waits for so many messages, of at least one. */
    tells: async (count: number) => (await until(told, all => all.length >= count)) as [Told, ...Told[]],
  }
}
