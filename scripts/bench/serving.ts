import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { createToken, freePort, type Memory, startProgram, startServer, watchUsage } from './program.ts'
import type { Request } from './queries.ts'
import { overHttp, type Way } from './searching.ts'
import { type Times, timesOf } from './times.ts'

/** What concerns the server as a whole: how soon it answers, and how it streams. */

export interface Served {
  program: string
  data: string
  network: string
}

export interface Server {
  url: string
  token: string
  way: Way
  /** One request that costs nothing but HTTP. */
  health(): Promise<void>
  stop(): Promise<void>
}

export const openServer = async ({ program, data, network }: Served): Promise<Server> => {
  const token = await createToken(program, data)
  const server = await startServer(program, ['--data', data, '--port', '0'])
  const way = overHttp(server.url, network, token)
  const client = new Client(server.url)
  return {
    url: server.url,
    token,
    way,
    async health() {
      const { body } = await client.request({ method: 'GET', path: '/health' })
      await body.dump()
    },
    async stop() {
      await Promise.all([way.close(), client.close()])
      await server.stop()
    },
  }
}

export const measureHealth = async (server: Server, runs: number): Promise<Times> => {
  for (let i = 0; i < runs; i++) await server.health()
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    await server.health()
    times.push(performance.now() - start)
  }
  return timesOf(times)
}

/** From the start of the process to the first answer of a search, in milliseconds. */
export const measureStart = async (
  { program, data, network }: Served,
  requests: readonly Request[],
  starts: number,
): Promise<Times> => {
  const token = await createToken(program, data)
  const times: number[] = []
  for (let i = 0; i < starts; i++) {
    const port = await freePort()
    const start = performance.now()
    const server = startProgram(program, ['serve', '--data', data, '--port', String(port)])
    let failed: Error | undefined
    server.ended.catch(error => {
      failed = error
    })
    const way = overHttp(`http://127.0.0.1:${port}`, network, token)
    for (;;) {
      try {
        await way.run(requests[i % requests.length]!)
        break
      } catch (error) {
        if ((error as { code?: string }).code !== 'ECONNREFUSED') throw error
        if (failed) throw failed
        await sleep(2)
      }
    }
    times.push(performance.now() - start)
    await way.close()
    await server.stop()
  }
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
  const { program, data, network } = served
  const token = await createToken(program, data)
  const server = await startServer(program, ['--data', data, '--port', '0', '--query-deadline', '10m'])
  const watch = watchUsage(server)
  const client = new Client(server.url, { bodyTimeout: 0 })
  try {
    const start = performance.now()
    const answer = await client.request({
      method: 'POST',
      path: `/${network}/es/${entities}/search/`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, size: -1 }),
    })
    if (answer.statusCode !== 200) throw new Error(`size -1 answered ${answer.statusCode}: ${await answer.body.text()}`)
    const count = createHitCounter()
    let bytes = 0
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      count.add(chunk)
    }
    const seconds = (performance.now() - start) / 1000
    const { hits, total } = count
    if (hits !== total) throw new Error(`size -1 gave ${hits} hits of ${total}`)
    return { hits, bytes, seconds, memory: watch.stop() }
  } finally {
    watch.stop()
    await client.close()
    await server.stop()
  }
}

/** Counts the hits in the text of an answer as it comes, without parsing it. */
export const createHitCounter = () => {
  let head = ''
  let rest: Buffer = Buffer.alloc(0)
  let hits = 0
  return {
    get hits() {
      return hits
    },
    /** As the answer's head tells it. */
    get total(): number {
      return Number(/"total":(-?\d+),"max_score"/.exec(head)?.[1])
    },
    add(chunk: Buffer) {
      if (head.length < HEAD) head += chunk.toString('latin1', 0, HEAD)
      const text = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      for (let at = text.indexOf(HIT); at >= 0; at = text.indexOf(HIT, at + HIT.length)) hits++
      // A mark may be cut in two; the part that stays is too short to be counted twice.
      rest = text.subarray(Math.max(0, text.length - HIT.length + 1))
    },
  }
}

// No value of a document can hold it: quotes are escaped there.
const HIT = Buffer.from('{"_index":"')
const HEAD = 1000
