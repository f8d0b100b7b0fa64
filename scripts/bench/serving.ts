import { Client } from 'undici'
import { connect, requestBytes } from './connection.ts'
import { createHitCounter } from './hits.ts'
import { createToken, type Memory, type Running, startServer, watchUsage } from './program.ts'
import { overHttp, type Way } from './searching.ts'
import { type Times, timesOf } from './times.ts'

/** A server under measurement, and how it streams. */

export interface Served {
  program: string
  data: string
  network: string
  /** Further flags of the server. */
  flags?: readonly string[]
}

export interface Server extends Pick<Running, 'usage'> {
  url: string
  network: string
  token: string
  way: Way
  stop(): Promise<void>
}

export const openServer = async ({ program, data, network, flags = [] }: Served): Promise<Server> => {
  const token = await createToken(program, data)
  // Streams of all hits take longer than queries may by default.
  const server = await startServer(program, ['--data', data, '--port', '0', '--query-deadline', '10m', ...flags])
  const way = overHttp(server.url, network, token)
  return {
    ...{ url: server.url, network, token, way },
    usage: server.usage,
    async stop() {
      await way.close()
      await server.stop()
    },
  }
}

/** Requests that cost nothing but HTTP. */
export const measureHealth = async ({ url }: Server, runs: number): Promise<Times> => {
  const connection = connect(url)
  const request = requestBytes(url, { method: 'GET', path: '/health' })
  for (let i = 0; i < runs; i++) await connection.ask(request)
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    await connection.ask(request)
    times.push(performance.now() - start)
  }
  connection.close()
  return timesOf(times)
}

export interface Streamed {
  hits: number
  bytes: number
  seconds: number
  /** Of the server, from its start on. */
  memory: Memory | undefined
}

/** All hits of a query from a server that has just started, so that its memory is that of streaming. */
export const measureStream = async (served: Served, entities: string, body: object): Promise<Streamed> => {
  const server = await openServer(served)
  const watch = watchUsage(server)
  try {
    const streamed = await streamAll(server, entities, body)
    return { ...streamed, memory: watch.stop() }
  } finally {
    watch.stop()
    await server.stop()
  }
}

/** Takes all hits of a query, and counts them. */
export const streamAll = async (server: Server, entities: string, body: object): Promise<Omit<Streamed, 'memory'>> => {
  const start = performance.now()
  const counter = createHitCounter()
  let bytes = 0
  for await (const chunk of openStream(server, entities, body)) {
    bytes += chunk.length
    counter.add(chunk)
  }
  const seconds = (performance.now() - start) / 1000
  const { hits, total } = counter
  if (hits !== total) throw new Error(`size -1 gave ${hits} hits of ${total}`)
  return { hits, bytes, seconds }
}

/** The bytes of an answer with all hits of a query, as they come. */
export async function* openStream(
  { url, network, token }: Server,
  entities: string,
  body: object,
): AsyncGenerator<Buffer> {
  const client = new Client(url, { bodyTimeout: 0 })
  try {
    const answer = await client.request({
      method: 'POST',
      path: `/${network}/es/${entities}/search/`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, size: -1 }),
    })
    if (answer.statusCode !== 200) throw new Error(`size -1 answered ${answer.statusCode}: ${await answer.body.text()}`)
    yield* answer.body
  } finally {
    await client.close()
  }
}
