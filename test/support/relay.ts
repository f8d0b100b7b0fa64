import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Passes requests on to a node and counts the calls in them. It has no methods whose names begin with one of `without`. */
export const startRelay = async (
  t: { after(fn: () => void): void },
  target: string,
  without: readonly string[] = [],
) => {
  const counts: Record<string, number> = {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const calls = [JSON.parse(body)].flat() as { id: number; method: string }[]
    for (const { method } of calls) counts[method] = (counts[method] ?? 0) + 1
    const [first] = calls
    if (first && without.some(name => first.method.startsWith(name))) {
      const error = { code: -32601, message: `the method ${first.method} does not exist` }
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: first.id, error }))
    }
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.setHeader('content-type', 'application/json')
    response.end(await answer.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts }
}
