import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RawBlock } from '../../src/chain/wire.ts'
import { generateBlocks } from './generate.ts'

/** A node that costs next to nothing: its answers are ready-made in a file, and handed out as they are. */
export interface PackNode {
  url: string
  /** Number of the newest block that it admits to. */
  head: number
  /** Called with the number of each block whose receipts are asked for. */
  onAsked: (number: number) => void
  close(): void
}

export const startPackNode = async (blocks: Iterable<RawBlock>, head: number, folder = tmpdir()): Promise<PackNode> => {
  const path = join(folder, `chainsieve-bench-node-${process.pid}-${Math.random().toString(36).slice(2)}`)
  const file = openSync(path, 'wx+')
  unlinkSync(path)
  const entries = new Map<number, Record<'header' | 'block' | 'receipts', Place>>()
  let end = 0
  const keep = (value: unknown): Place => {
    const bytes = Buffer.from(JSON.stringify(value), 'latin1')
    writeSync(file, bytes, 0, bytes.length, end)
    end += bytes.length
    return { at: end - bytes.length, length: bytes.length }
  }
  let chainId = 1
  for (const { block, receipts, chainId: own } of blocks) {
    chainId = own ?? chainId
    const header = { ...block, transactions: block.transactions.map(({ hash }) => hash) }
    entries.set(Number(block.number), { header: keep(header), block: keep(block), receipts: keep(receipts) })
  }

  const node: PackNode = {
    url: '',
    head,
    onAsked: () => {},
    close() {
      server.close()
      server.closeAllConnections()
      closeSync(file)
    },
  }
  const read = (place: Place | undefined): Buffer => {
    if (!place) return NULL
    const bytes = Buffer.allocUnsafe(place.length)
    readSync(file, bytes, 0, place.length, place.at)
    return bytes
  }
  const entry = (tag: unknown) => {
    const number = tag === 'latest' ? node.head : Number(tag)
    return number <= node.head ? entries.get(number) : undefined
  }
  const resultOf = ({ method, params }: Call): Buffer => {
    switch (method) {
      case 'eth_chainId':
        return Buffer.from(JSON.stringify(`0x${chainId.toString(16)}`))
      case 'eth_blockNumber':
        return Buffer.from(JSON.stringify(`0x${node.head.toString(16)}`))
      case 'eth_getBlockByNumber':
        return read(entry(params[0])?.[params[1] === true ? 'block' : 'header'])
      case 'eth_getBlockReceipts':
        node.onAsked(Number(params[0]))
        return read(entry(params[0])?.receipts)
      case 'eth_getCode':
        return NO_CODE
      case 'eth_call':
        return DECIMALS
      default:
        return NULL
    }
  }
  const answer = (body: string): Buffer => {
    const message = JSON.parse(body) as Call | Call[]
    const one = (call: Call) => [Buffer.from(`{"jsonrpc":"2.0","id":${call.id},"result":`), resultOf(call), CLOSE]
    if (!Array.isArray(message)) return Buffer.concat(one(message))
    return Buffer.concat([
      OPEN_LIST,
      ...message.flatMap((call, i) => (i > 0 ? [COMMA, ...one(call)] : one(call))),
      CLOSE_LIST,
    ])
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(answer(Buffer.concat(chunks).toString()))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}

interface Place {
  at: number
  length: number
}

interface Call {
  id: number
  method: string
  params: unknown[]
}

const NULL = Buffer.from('null')
const NO_CODE = Buffer.from('"0x"')
const OPEN_LIST = Buffer.from('[')
const CLOSE_LIST = Buffer.from(']')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from('}')
const DECIMALS = Buffer.from(`"0x${'12'.padStart(64, '0')}"`)

/** What the process that plays the node is started with, as its only argument. */
export interface NodeOptions {
  seed: number
  runs: { from: number; count: number }[]
  head: number
}

export type FromNode = { type: 'ready'; url: string } | { type: 'asked'; number: number }
export type ToNode = { head: number }

if (import.meta.main) {
  const { seed, runs, head } = JSON.parse(process.argv[2]!) as NodeOptions
  const blocks = function* () {
    for (const run of runs) yield* generateBlocks({ seed, ...run })
  }
  const node = await startPackNode(blocks(), head)
  const tell = (message: FromNode) => process.send!(message)
  let lowest = Number.POSITIVE_INFINITY
  node.onAsked = number => {
    if (number < lowest) {
      lowest = number
      tell({ type: 'asked', number })
    }
  }
  process.on('message', (message: ToNode) => {
    node.head = message.head
  })
  process.on('disconnect', () => process.exit())
  tell({ type: 'ready', url: node.url })
}
