import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

export type Mood =
  | 'takes'
  | 'refuses'
  | 'refuses some'
  | 'hangs'
  | 'hangs after'
  | 'resets'
  | 'resets after'
  | 'answers half'
  | 'answers few'
  | 'stands still'
  | 'proxy fails'

export const MOODS: readonly Mood[] = [
  ...(['takes', 'refuses', 'refuses some', 'hangs', 'hangs after', 'resets', 'resets after', 'answers half'] as const),
  ...(['answers few', 'stands still', 'proxy fails'] as const),
]

export interface Kept {
  version: number
  source: string
}

export interface BadCluster {
  url: string
  documents: Map<string, Kept>
  sizes: number[]
  close(): Promise<void>
}

export interface BadClusterOptions {
  mood(): Mood
  /** Of an item that comes while it refuses some. */
  refusesItem?(): boolean
  /** Of documents that it refuses for good. */
  fault?(id: string): { status: number; error: object } | undefined
  mostBytes?: number
}

/** Answers bulk requests as OpenSearch does, and as it should not. */
export const startBadCluster = async (options: BadClusterOptions): Promise<BadCluster> => {
  const { mood, refusesItem = () => false, fault, mostBytes = Number.POSITIVE_INFINITY } = options
  const documents = new Map<string, Kept>()
  const sizes: number[] = []

  const keep = (key: string, version: number, source: string): object => {
    const known = documents.get(key)
    if (known && known.version > version)
      return { status: 409, error: { type: 'version_conflict_engine_exception', reason: `version ${known.version}` } }
    documents.set(key, { version, source })
    return { status: known ? 200 : 201 }
  }
  const takeAll = (text: string, isPicky: boolean): object[] => {
    const lines = text.split('\n')
    return Array.from({ length: (lines.length - 1) / 2 }, (_, i) => {
      const { index } = JSON.parse(lines[2 * i]!) as { index: { _index: string; _id: string; version: number } }
      if (isPicky && refusesItem())
        return { index: { status: 429, error: { type: 'rejected_execution_exception', reason: 'queue is full' } } }
      const bad = fault?.(index._id)
      return { index: bad ?? keep(`${index._index}/${index._id}`, index.version, lines[2 * i + 1]!) }
    })
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const now = mood()
    if (now === 'hangs') return
    if (now === 'resets') return request.socket.resetAndDestroy()
    const raw = await buffer(request)
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
    sizes.push(bytes.length)
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))
    if (bytes.length > mostBytes) return send(413, {})
    if (now === 'proxy fails')
      return response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>')
    if (now === 'refuses') return send(429, { error: { type: 'circuit_breaking_exception', reason: 'too large' } })
    const whole = bytes.toString()
    // The first document is lost.
    const text = now === 'answers few' ? whole.slice(whole.indexOf('\n', whole.indexOf('\n') + 1) + 1) : whole
    const items = takeAll(text, now === 'refuses some')
    if (now === 'hangs after') return
    if (now === 'resets after') return request.socket.resetAndDestroy()
    const told = JSON.stringify({ errors: items.some(item => 'error' in Object.values(item)[0]), items })
    if (now !== 'answers half' && now !== 'stands still') return send(200, JSON.parse(told) as object)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': told.length })
    response.write(told.slice(0, told.length / 2))
    if (now === 'answers half') setImmediate(() => request.socket.resetAndDestroy())
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...{ url: `http://127.0.0.1:${port}`, documents, sizes },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
