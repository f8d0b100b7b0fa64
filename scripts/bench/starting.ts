import { setTimeout as sleep } from 'node:timers/promises'
import { createToken, freePort, type Memory, startProgram, startServer } from './program.ts'
import type { Request } from './queries.ts'
import { overHttp } from './searching.ts'
import type { Served } from './serving.ts'
import { type Times, timesOf } from './times.ts'

/** How soon a server answers after its start, and what it takes while nobody asks. */
export interface Starting {
  /** From the start of the process to the first answer of a search, in milliseconds. */
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
    const start = performance.now()
    await startProgram(process.execPath, ['-e', '0']).ended
    node.push(performance.now() - start)
    serve.push(await startOnce(served, token, requests[i % requests.length]!))
  }
  return { serve: timesOf(serve), node: timesOf(node), idle: await idleMemory(served, idleMs) }
}

const startOnce = async ({ program, data, network }: Served, token: string, request: Request): Promise<number> => {
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
      await way.run(request)
      break
    } catch (error) {
      if ((error as { code?: string }).code !== 'ECONNREFUSED') throw error
      if (failed) throw failed
      await sleep(2)
    }
  }
  const time = performance.now() - start
  await way.close()
  await server.stop()
  return time
}

const idleMemory = async ({ program, data }: Served, idleMs: number): Promise<Memory | undefined> => {
  const server = await startServer(program, ['--data', data, '--port', '0'])
  await sleep(idleMs)
  const usage = server.usage()
  await server.stop()
  return usage && { peak: usage.peak, peakOwn: usage.own }
}
