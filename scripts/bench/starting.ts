import { setTimeout as sleep } from 'node:timers/promises'
import { createToken, freePort, type Memory, startProgram, startServer } from './program.ts'
import type { Request } from './queries.ts'
import { overHttp, type Way } from './searching.ts'
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
    node.push(await startNothing())
    serve.push(await startOnce(served, requests[i % requests.length]!, token))
  }
  return { serve: timesOf(serve), node: timesOf(node), idle: await idleMemory(served, idleMs) }
}

/** A process that does nothing, from start to end. */
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
