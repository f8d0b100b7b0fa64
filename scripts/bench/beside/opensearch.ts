import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Client, type Dispatcher, Pool } from 'undici'
import { messageOf, refuse } from '../../../src/lib/errors.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { openSearchIndex } from '../../scenario-mapping.ts'
import { requestBytes } from '../connection.ts'
import { createHitCounter, hitsIn } from '../hits.ts'
import type { Request } from '../queries.ts'
import { openStream, type Server, type Streamed } from '../serving.ts'

/** What the benchmark asks of OpenSearch besides searches. */
export type OpenSearch = Awaited<ReturnType<typeof openOpenSearch>>

export interface LoadWay {
  bytes: number
  parallel: number
}

export const INDEX_OF = (entity: string): string => `chainsieve-bench-${entity}`

export const openOpenSearch = async (url: string) => {
  // A merge into one segment takes minutes, and is answered when it is done.
  const client = new Client(url, { headersTimeout: 0, bodyTimeout: 0 })
  const json = async <T>(method: Dispatcher.HttpMethod, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await client.request({ method, path, headers, body: body ? JSON.stringify(body) : null })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${url}${path} answered ${answer.statusCode}: ${text.slice(0, 500)}`)
    return JSON.parse(text) as T
  }
  const version = await versionOf(url, path => json('GET', path))
  const all = ENTITIES.map(INDEX_OF).join(',')
  const remove = () => json<object>('DELETE', `/${all}?ignore_unavailable=true`)

  const create = async (entity: DocumentFile['entity']) => {
    const { settings, mappings } = openSearchIndex(entity)
    // As its documentation advises for loading: nobody searches meanwhile.
    await json('PUT', `/${INDEX_OF(entity)}`, { settings: { ...settings, refresh_interval: '-1' }, mappings })
  }

  return {
    ...{ url, version },
    /** Replaces what there is by these documents; the seconds until all of them can be found. */
    async load(files: readonly DocumentFile[], { bytes, parallel }: LoadWay) {
      await remove()
      for (const { entity } of files) await create(entity)
      const start = performance.now()
      for (const file of files) await send(url, file, bytes, parallel)
      await json('POST', `/${all}/_refresh`)
      const seconds = (performance.now() - start) / 1000
      for (const { entity, documents } of files) {
        const { count } = await json<{ count: number }>('GET', `/${INDEX_OF(entity)}/_count`)
        if (count !== documents) throw new Error(`${version} holds ${count} documents of ${documents}: ${entity}`)
      }
      return seconds
    },
    /** Writes everything to disk as one segment an index; the bytes of all. */
    async settle() {
      await json('POST', `/${all}/_forcemerge?max_num_segments=1`)
      await json('POST', `/${all}/_flush`)
      await json('POST', `/${all}/_refresh`)
      interface Stats {
        _all: { primaries: { store: { size_in_bytes: number } } }
      }
      return (await json<Stats>('GET', `/${all}/_stats/store`))._all.primaries.store.size_in_bytes
    },
    /** All documents of an index, by a scroll. */
    scroll: (index: string, size: number) => scroll(client, index, size),
    bytes({ entities, body = '' }: Request) {
      const indices = entities.split(',').map(INDEX_OF).join(',')
      return requestBytes(url, { method: 'POST', path: `/${indices}/_search`, body })
    },
    cpuSeconds: () => cpuSecondsOf(path => json('GET', path)),
    async remove() {
      await remove()
    },
    close: () => client.close(),
  }
}

/** Of the processes of all nodes. They look only once a second: shorter spans tell nothing. */
export const cpuSecondsOf = async (get: (path: string) => Promise<unknown>): Promise<number> => {
  interface Stats {
    nodes: Record<string, { process: { cpu: { total_in_millis: number } } }>
  }
  const { nodes } = (await get('/_nodes/stats/process')) as Stats
  return Object.values(nodes).reduce((sum, { process: { cpu } }) => sum + cpu.total_in_millis, 0) / 1000
}

const versionOf = async (url: string, get: (path: string) => Promise<unknown>): Promise<string> => {
  try {
    const { version } = (await get('/')) as { version: { distribution?: string; number: string } }
    return `${version.distribution === 'opensearch' ? 'OpenSearch' : 'Elasticsearch'} ${version.number}`
  } catch (error) {
    throw refuse(
      'no_opensearch',
      `${url} is no running OpenSearch (${messageOf(error)}): start one, or correct --against`,
    )
  }
}

/** Several connections take the next part of the file whenever they are free. */
const send = async (url: string, { entity, path }: DocumentFile, bytes: number, parallel: number): Promise<void> => {
  const pool = new Pool(url, { connections: parallel, headersTimeout: 0, bodyTimeout: 0 })
  const bodies = bodiesIn(path, bytes)
  const worker = async () => {
    for (;;) {
      const { value: body, done } = await bodies.next()
      if (done) return
      const answer = await pool.request({
        method: 'POST',
        path: `/${INDEX_OF(entity)}/_bulk?filter_path=errors,items.*.error`,
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
      const text = await answer.body.text()
      if (answer.statusCode !== 200 || (JSON.parse(text) as { errors: boolean }).errors)
        throw new Error(`_bulk of ${entity} answered ${answer.statusCode}: ${text.slice(0, 500)}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: parallel }, worker))
  } finally {
    await pool.close()
  }
}

/** Pages are counted as they are, without parsing them: the client is not what is measured. */
const scroll = async (client: Client, index: string, size: number): Promise<Omit<Streamed, 'memory'>> => {
  const ask = async (method: Dispatcher.HttpMethod, path: string, body: object): Promise<Buffer> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await client.request({ method, path, headers, body: JSON.stringify(body) })
    const page = Buffer.from(await answer.body.arrayBuffer())
    if (answer.statusCode === 200) return page
    throw new Error(`a scroll was answered ${answer.statusCode}: ${page.toString('utf8', 0, 500)}`)
  }
  const start = performance.now()
  const counter = createHitCounter()
  let bytes = 0
  let page = await ask('POST', `/${index}/_search?scroll=1m`, { size, sort: ['_doc'] })
  let id: string | undefined
  for (let before = -1; counter.hits > before; ) {
    before = counter.hits
    counter.add(page)
    bytes += page.length
    id = /"_scroll_id":"([^"]+)"/.exec(page.toString('latin1', 0, 4000))?.[1]
    if (counter.hits > before) page = await ask('POST', '/_search/scroll', { scroll: '1m', scroll_id: id })
  }
  const seconds = (performance.now() - start) / 1000
  await ask('DELETE', '/_search/scroll', { scroll_id: [id] })
  return { hits: counter.hits, bytes, seconds }
}

/** Documents as we answer them, ready to be sent to OpenSearch. */
export const ENTITIES = ['block', 'tx', 'log', 'event'] as const satisfies Kind[]
export interface DocumentFile {
  entity: (typeof ENTITIES)[number]
  /** Lines for `_bulk`: an action and a document each. */
  path: string
  documents: number
}

export const writeDocuments = async (server: Server, folder: string): Promise<DocumentFile[]> => {
  const files: DocumentFile[] = []
  for (const entity of ENTITIES) {
    const path = join(folder, `${entity}.bulk`)
    let documents = 0
    const lines = async function* () {
      for await (const hit of hitsIn(openStream(server, entity, {}))) {
        documents++
        yield* linesOf(hit)
      }
    }
    await pipeline(Readable.from(lines(), { objectMode: true, highWaterMark: 64 }), createWriteStream(path))
    files.push({ entity, path, documents })
  }
  return files
}

/** The bytes of `_source` stay: numbers of 64 bits would not pass through JSON.parse. */
export const linesOf = (hit: Buffer): [action: Buffer, source: Buffer] => {
  const at = hit.indexOf(SOURCE)
  const id = /"_id":"([^"]+)"/.exec(hit.toString('latin1', 0, at))?.[1]
  if (at < 0 || id === undefined) throw new Error(`a hit has no _source or no _id: ${hit.toString('utf8', 0, 500)}`)
  const source = hit.subarray(at + SOURCE.length, -1)
  return [Buffer.from(`${ACTION}${id}"}}\n`), Buffer.concat([source, LINE_END])]
}

const SOURCE = Buffer.from('"_source":')
const ACTION = '{"index":{"_id":"'
const LINE_END = Buffer.from('\n')
// No document has a line feed in it: they are escaped in JSON.
// No document has a line feed in it: they are escaped in JSON.
const NEXT = Buffer.from(`\n${ACTION}`)
/** Parts of a file, of whole documents, of at most about so many bytes where no document is larger. */
export async function* bodiesIn(path: string, bytes: number): AsyncGenerator<Buffer, undefined> {
  const file = await open(path)
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (;;) {
      const piece = Buffer.allocUnsafe(Math.max(bytes - rest.length, bytes >> 3))
      const { bytesRead } = await file.read(piece)
      const text = Buffer.concat([rest, piece.subarray(0, bytesRead)])
      if (bytesRead === 0) {
        if (text.length > 0) yield text
        return
      }
      const end = text.lastIndexOf(NEXT) + 1
      if (end > 0) yield text.subarray(0, end)
      rest = text.subarray(end)
    }
  } finally {
    await file.close()
  }
}
