import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Passes requests on to a node and counts the calls in them. */
export const startRelay = async (t: { after(fn: () => void): void }, target: string) => {
  const counts: Record<string, number> = {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    for (const { method } of [JSON.parse(body)].flat()) counts[method] = (counts[method] ?? 0) + 1
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
