import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerStatus } from '../../src/ingest/status/status.ts'
import { type Running, startProgram } from '../lib/program.ts'

/** The server that soaks: always under the same address, killed and started again. */
export type Soaked = ReturnType<typeof createSoaked>

const START_PATIENCE_MS = 60_000

export const createSoaked = (program: string, token: string, port: number, args: readonly string[]) => {
  const url = `http://127.0.0.1:${port}`
  const kills: number[] = []
  let running: Running | undefined
  let [life, since] = [0, undefined as number | undefined]
  let failed: Error | undefined

  const ask = (path: string, body?: object) =>
    fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
  const begin = async () => {
    const own = startProgram(program, ['serve', '--json', '--port', String(port), ...args])
    running = own
    failed = undefined
    own.ended.catch(error => {
      if (running === own) failed = error as Error
    })
    const end = Date.now() + START_PATIENCE_MS
    for (;;) {
      if (failed !== undefined) throw failed
      const answer = await ask('/health').catch(() => undefined)
      await answer?.text()
      if (answer?.status === 200) break
      if (Date.now() > end) throw new Error('the server does not answer a minute after its start')
      await sleep(20)
    }
    life++
    since = Date.now()
  }
  return {
    ...{ url, token, ask, start: begin },
    kills: kills as readonly number[],
    pid: () => {
      if (failed !== undefined && since !== undefined) throw failed
      return running?.pid ?? -1
    },
    life: () => life,
    servesSince: () => since,
    /** Whether it has served all the time since then. */
    servedSince: (at: number) => since !== undefined && since <= at,
    async kill() {
      since = undefined
      const own = running!
      running = undefined
      kills.push(Date.now())
      process.kill(own.pid, 'SIGKILL')
      await own.ended.catch(() => {})
    },
    async stop() {
      since = undefined
      await running?.stop()
      running = undefined
    },
    async status(): Promise<ServerStatus | undefined> {
      const answer = await ask('/status').catch(() => undefined)
      return answer?.ok ? ((await answer.json()) as ServerStatus) : undefined
    },
  }
}
