import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

/** Stands before a cluster, answers bulk requests at once and drops them: what is sent to it waits for nothing. All else goes to the cluster. */
export interface Sink {
  url: string
  /** That were dropped. */
  documents(): number
  close(): void
}

export const openSink = async (cluster: string): Promise<Sink> => {
  let dropped = 0
  const drop = async (asked: IncomingMessage, answer: ServerResponse) => {
    let lines = 0
    for await (const chunk of asked as AsyncIterable<Buffer>)
      for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, at + 1)) lines++
    // An action, and its document.
    const count = lines / 2
    dropped += count
    answer.end(`{"errors":false,"items":[${Array.from({ length: count }, () => TAKEN).join()}]}`)
  }
  const pass = async (asked: IncomingMessage, answer: ServerResponse) => {
    const { method, headers, url } = asked
    const passed = request(new URL(url!, cluster), { method, headers })
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      passed.on('response', resolve).on('error', reject),
    )
    await pipeline(asked, passed)
    const there = await answered
    answer.writeHead(there.statusCode!, there.headers)
    await pipeline(there, answer)
  }
  const server = createServer((asked, answer) => {
    const answering = asked.url!.startsWith('/_bulk') ? drop(asked, answer) : pass(asked, answer)
    answering.catch(() => answer.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents: () => dropped,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const NEW_LINE = '\n'.charCodeAt(0)
const TAKEN = '{"index":{"status":201}}'
