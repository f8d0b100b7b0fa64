import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Call {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** What a receiver does with a request. `status` answers it; milliseconds in `after` go by before. */
export type Behaviour =
  | { status: number; headers?: Record<string, string>; body?: string; after?: number }
  | 'hang'
  | 'reset'

export interface Receiver {
  url: string
  calls: Call[]
  behave: (call: Call) => Behaviour
}

export const startReceiver = async (
  t: { after(fn: () => unknown): void },
  behave: Receiver['behave'] = () => ({ status: 200 }),
): Promise<Receiver> => {
  const sockets = new Set<Socket>()
  const receiver: Receiver = { url: '', calls: [], behave }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const { method = '', url = '', headers } = request
    const call = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
    receiver.calls.push(call)
    const does = receiver.behave(call)
    if (does === 'hang') return
    if (does === 'reset') return void request.socket.destroy()
    const answer = () => response.writeHead(does.status, does.headers).end(does.body)
    if (does.after) setTimeout(answer, does.after)
    else answer()
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return receiver
}
