import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createIpcServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Head } from '../../src/chain/rpc/answers.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { type Clock, systemClock } from '../../src/lib/retry.ts'
import { logsOf } from './logs.ts'
import { hex } from './pack.ts'

export interface NodeCall {
  method: string
  params: unknown[]
}

/** What the node does with one HTTP request instead of answering it. */
export type Trouble =
  | { status: number; headers?: Record<string, string>; body?: string | Buffer }
  | 'hang'
  | 'reset'
  | { garbage: string }

/** A JSON-RPC error to answer a call with. */
export class NodeError extends Error {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** A node on loopback that serves made-up blocks, and lies as it is told. All members may be changed while it runs. */
export interface FakeNode {
  url: string
  /** Takes all calls, too. */
  wsUrl: string
  ipcUrl: string
  chainId: number
  /** Blocks by number; what is missing is answered with null. */
  blocks: Map<number, RawBlock>
  /** Blocks that it has tags for, such as `finalized`. */
  tags: Map<string, number>
  head: number
  extend(blocks: readonly RawBlock[]): void
  /** Methods that it does not have, with the error that it gives for them. */
  missing: Map<string, NodeError>
  methods: Map<string, (params: unknown[]) => unknown>
  /** Longest batch; longer ones are refused in the way of go-ethereum. */
  batchLimit: number
  /** Looks at every answer before it is sent, and may change or replace it. Blocks are copies. */
  lie: (call: NodeCall, result: unknown) => unknown
  trouble: (calls: NodeCall[]) => Trouble | undefined | Promise<Trouble | undefined>
  calls: NodeCall[]
  /** HTTP requests so far, with the number of calls in each. */
  batches: number[]
  headers: IncomingMessage['headers']
  subscribers: number
  /** Sends a new head to all subscribers; by default that of the newest block. */
  announce(head?: Head | RawBlock): void
  dropSubscribers(): void
  /** Stops listening and cuts all connections; `start` brings it back under the same address. */
  stop(): Promise<void>
  start(): Promise<void>
}

export const startNode = async (
  t: { after(fn: () => Promise<void>): void },
  chain: readonly RawBlock[] = [],
): Promise<FakeNode> => {
  const sockets = new Set<Socket>()
  const subscribed = new Map<Socket, (text: string) => Buffer | string>()
  const node: FakeNode = {
    url: '',
    wsUrl: '',
    ipcUrl: '',
    chainId: chain[0]?.chainId ?? 31337,
    blocks: new Map(),
    tags: new Map(),
    head: -1,
    missing: new Map(),
    methods: new Map(),
    batchLimit: Number.POSITIVE_INFINITY,
    lie: (_, result) => result,
    trouble: () => undefined,
    calls: [],
    batches: [],
    headers: {},
    get subscribers() {
      return subscribed.size
    },
    extend(blocks) {
      const first = Number(blocks[0]!.block.number)
      for (const number of node.blocks.keys()) if (number >= first) node.blocks.delete(number)
      for (const raw of blocks) node.blocks.set(Number(raw.block.number), raw)
      node.head = Number(blocks.at(-1)!.block.number)
    },
    announce(head = node.blocks.get(node.head)!) {
      const result = 'block' in head ? header(head) : { ...head, number: hex(head.number), timestamp: '0x1' }
      const text = JSON.stringify({
        jsonrpc: '2.0',
        method: 'eth_subscription',
        params: { subscription: '0x1', result },
      })
      for (const [socket, wrap] of subscribed) socket.write(wrap(text))
    },
    dropSubscribers() {
      for (const socket of subscribed.keys()) socket.destroy()
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      if (server.listening) await once(server, 'close')
      if (ipc.listening) await new Promise(resolve => ipc.close(resolve))
    },
    async start() {
      server.listen(Number(new URL(node.url || 'http://localhost:0').port), '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      node.url = `http://127.0.0.1:${port}`
      node.wsUrl = `ws://127.0.0.1:${port}`
      ipc.listen(ipcPath)
      await once(ipc, 'listening')
      node.ipcUrl = `ipc://${ipcPath}`
    },
  }
  if (chain.length > 0) node.extend(chain)

  const answer = (call: NodeCall & { id: unknown }) => {
    node.calls.push({ method: call.method, params: call.params })
    try {
      const refusal = node.missing.get(call.method)
      if (refusal !== undefined) throw refusal
      const result = node.lie(call, resultOf(node, call))
      if (result instanceof NodeError) throw result
      return { jsonrpc: '2.0', id: call.id, result }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return { jsonrpc: '2.0', id: call.id, error: { code: error.code, message: error.message, data: error.data } }
    }
  }

  const answersTo = (body: unknown) => {
    const calls = [body].flat() as (NodeCall & { id: unknown })[]
    const answers =
      calls.length > node.batchLimit
        ? [{ jsonrpc: '2.0', id: calls[0]!.id, error: { code: -32600, message: 'batch too large' } }]
        : calls.map(answer)
    return JSON.stringify(Array.isArray(body) ? answers : answers[0])
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    const calls = Array.isArray(body) ? body : [body]
    node.headers = request.headers
    node.batches.push(calls.length)
    const trouble = await node.trouble(calls)
    if (trouble === 'hang') return
    if (trouble === 'reset') return request.socket.destroy()
    if (trouble !== undefined && 'garbage' in trouble) return response.end(trouble.garbage)
    if (trouble !== undefined) return response.writeHead(trouble.status, trouble.headers).end(trouble.body)
    response.setHeader('content-type', 'application/json')
    response.end(answersTo(body))
  }

  const handleMessage = async (text: string, socket: Socket, wrap: (text: string) => Buffer | string) => {
    const body = JSON.parse(text)
    if (body.method === 'eth_subscribe') {
      const { id } = body
      const refusal = node.missing.get('eth_subscribe')
      if (refusal === undefined) subscribed.set(socket, wrap)
      const told = refusal ? { error: { code: refusal.code, message: refusal.message } } : { result: '0x1' }
      return void socket.write(wrap(JSON.stringify({ jsonrpc: '2.0', id, ...told })))
    }
    const calls = [body].flat()
    node.batches.push(calls.length)
    const trouble = await node.trouble(calls)
    if (trouble === 'hang') return
    if (trouble === 'reset') return void socket.destroy()
    if (trouble === undefined) return void socket.write(wrap(answersTo(body)))
    socket.write(wrap('garbage' in trouble ? trouble.garbage : String(trouble.body)))
  }

  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      subscribed.delete(socket)
    })
    socket.on('error', () => {})
  }

  const ipcPath = join(tmpdir(), `chainsieve-${randomUUID()}.ipc`)
  const ipc = createIpcServer(socket => {
    track(socket)
    let text = ''
    socket.on('data', data => {
      text += data
      try {
        JSON.parse(text)
      } catch {
        return
      }
      void handleMessage(text, socket, answer => `${answer}\n`)
      text = ''
    })
  })

  const server = createServer((request, response) => {
    handle(request, response).catch(error => {
      response.writeHead(500).end(String(error))
    })
  })
  server.on('connection', track)
  server.on('upgrade', (request, socket: Socket) => {
    node.headers = request.headers
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    socket.on('end', () => socket.end())
    socket.on('data', data => {
      const text = unframe(data)
      if (text !== undefined) void handleMessage(text, socket, frame)
    })
  })
  await node.start()
  t.after(() => node.stop())
  return node
}

const header = (raw: RawBlock) => ({ ...raw.block, transactions: undefined })

const resultOf = (node: FakeNode, { method, params }: NodeCall): unknown => {
  const at = (tag: unknown): RawBlock | undefined => {
    const number = tag === 'latest' ? node.head : (node.tags.get(String(tag)) ?? Number(tag))
    return number <= node.head ? node.blocks.get(number) : undefined
  }
  const own = node.methods.get(method)
  if (own !== undefined) return own(params)
  switch (method) {
    case 'eth_chainId':
      return hex(node.chainId)
    case 'eth_blockNumber':
      return hex(node.head)
    case 'eth_getBlockByNumber': {
      const block = structuredClone(at(params[0])?.block)
      if (block === undefined) return null
      return params[1] === true ? block : { ...block, transactions: block.transactions.map(it => it.hash) }
    }
    case 'eth_getBlockReceipts':
      return structuredClone(at(params[0])?.receipts) ?? null
    case 'eth_getTransactionReceipt': {
      for (const [number, raw] of node.blocks) {
        if (number > node.head) continue
        const receipt = raw.receipts.find(it => it.transactionHash === params[0])
        if (receipt !== undefined) return structuredClone(receipt)
      }
      return null
    }
    case 'eth_getLogs':
      return logsOf(node, params[0])
    default:
      throw new NodeError(-32601, `the method ${method} does not exist/is not available`)
  }
}

/** A message in an unmasked frame; a long one in several, with a ping between them. */
export const frame = (text: string): Buffer => {
  const body = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at === 0 || at < body.length; at += 70_000) {
    const part = body.subarray(at, at + 70_000)
    const first = (at === 0 ? 1 : 0) | (at + part.length === body.length ? 0x80 : 0)
    if (at > 0) parts.push(Buffer.from([0x89, 1, 120]))
    const long = Buffer.alloc(8)
    long.writeBigUInt64BE(BigInt(part.length))
    const size = part.length < 126 ? Buffer.from([part.length]) : Buffer.from([127, ...long])
    parts.push(Buffer.from([first]), part.length < 0x10000 && part.length > 125 ? medium(part.length) : size, part)
  }
  return Buffer.concat(parts)
}

const medium = (length: number) => Buffer.from([126, length >> 8, length & 255])

/** The text of one masked frame of a client, shorter than 64 kB. */
const unframe = (data: Buffer): string | undefined => {
  if ((data[0]! & 15) !== 1) return undefined
  const long = (data[1]! & 127) === 126
  const length = long ? data.readUInt16BE(2) : data[1]! & 127
  const mask = long ? 4 : 2
  const body = data.subarray(mask + 4, mask + 4 + length).map((byte, i) => byte ^ data[mask + (i % 4)]!)
  return Buffer.from(body).toString()
}

export const fastClock = (factor = 20): Clock => {
  const [start, begun] = [Date.now(), performance.now()]
  const elapsed = () => (performance.now() - begun) * factor
  return {
    now: () => Math.floor(start + elapsed()),
    elapsed,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  }
}

export const firstTimes = (times: number): (() => boolean) => {
  let left = times
  return () => left-- > 0
}
