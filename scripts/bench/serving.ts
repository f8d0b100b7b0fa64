import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { createToken, freePort, type Memory, startProgram, startServer, watchUsage } from '../lib/program.ts'
import { type Times, timesOf } from '../lib/table.ts'
import { connect, requestBytes } from './connection.ts'
import { createHitCounter } from './hits.ts'
import type { Request } from './queries.ts'
import { overHttp, type Way } from './searching.ts'

export interface Served {
  program: string
  data: string
  network: string
  flags?: readonly string[]
}

export type Server = Awaited<ReturnType<typeof openServer>>

export const openServer = async ({ program, data, network, flags = [] }: Served) => {
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

export async function* openStream(
  { url, network, token }: Pick<Server, 'url' | 'network' | 'token'>,
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

/** How soon a server answers after its start, and what it takes while nobody asks. */
export interface Starting {
  serve: Times
  /** `node -e 0` from start to end, each before one of the others: a process that does nothing. */
  node: Times
  /** Some seconds after a start, where nobody has asked anything since. */
  idle: Memory | undefined
}

export const measureStart = async (
  served: Served,
  requests: readonly Request[],
  { starts, idleMs }: { starts: number; idleMs: number },
): Promise<Starting> => {
  const token = await createToken(served.program, served.data)
  const serve: number[] = []
  const node: number[] = []
  for (let i = 0; i < starts; i++) {
    node.push(await startNothing())
    serve.push(await startOnce(served, requests[i % requests.length]!, token))
  }
  return { serve: timesOf(serve), node: timesOf(node), idle: await idleMemory(served, idleMs) }
}

export const startNothing = async (): Promise<number> => {
  const start = performance.now()
  await startProgram(process.execPath, ['-e', '0']).ended
  return performance.now() - start
}

/** What the program prints where it makes a token for the demo chain. */
const TOKEN = /^Token: (\S+)$/m
/** From the start of the process to the answer of a search; without a token, by the one that the program prints. */
export const startOnce = async (
  { program, data, network }: Served,
  request: Request,
  token?: string,
): Promise<number> => {
  const port = await freePort()
  const start = performance.now()
  let known = token
  const onText = (text: string) => {
    known ??= TOKEN.exec(text)?.[1]
  }
  const args = ['serve', '--data', data, '--port', String(port)]
  const server = startProgram(program, args, undefined, [], onText)
  let failed: Error | undefined
  server.ended.catch(error => {
    failed = error
  })
  try {
    for (;;) {
      if (failed) throw failed
      if (known !== undefined && (await isAnswered(overHttp(`http://127.0.0.1:${port}`, network, known), request)))
        return performance.now() - start
      await sleep(2)
    }
  } finally {
    await server.stop()
  }
}

const isAnswered = async (way: Way, request: Request): Promise<boolean> => {
  try {
    await way.run(request)
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== 'ECONNREFUSED') throw error
    return false
  } finally {
    await way.close()
  }
}

const idleMemory = async ({ program, data }: Served, idleMs: number): Promise<Memory | undefined> => {
  const server = await startServer(program, ['--data', data, '--port', '0'])
  await sleep(idleMs)
  const usage = server.usage()
  await server.stop()
  return usage && { peak: usage.peak, peakOwn: usage.own }
}
