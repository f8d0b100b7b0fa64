import { request } from 'node:http'
import { openAccounts, SCOPES } from '../../src/accounts/index.ts'
import { startProgram, startServer } from '../lib/program.ts'

export interface ServeOptions {
  /** Packs to be imported before the start, by network. Default: the blocks of the scenarios. */
  packs?: Record<string, string>
  args?: readonly string[]
  openFiles?: number
}

/** The program under attack, run as its users run it: built, in a process of its own, on a data folder of its own. */
export type Victim = Awaited<ReturnType<typeof startVictim>>

/** Where the honest client of an attack comes from: addresses have limits of their own. */
export const HONEST = '127.0.0.2'

const SCENARIOS = new URL('../../test/scenario/blocks.ndjson', import.meta.url).pathname
export const SCENARIO_NETWORK = 'ethereum/scenario/mainnet'

export const startVictim = async (program: string, data: string, options: ServeOptions = {}) => {
  const { packs = { [SCENARIO_NETWORK]: SCENARIOS }, args = [], openFiles } = options
  for (const [network, pack] of Object.entries(packs))
    await startProgram(program, ['import', '--network', network, pack, '--data', data]).ended
  const tokens = tokensOf(data)

  const by = openFiles === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`]
  const server = await startServer(program, ['--port', '0', '--data', data, ...args], by)
  const port = Number(new URL(server.url).port)
  let alive = true
  let died: string | undefined
  const ended = server.ended.then(
    () => {
      alive = false
    },
    error => {
      alive = false
      died = String(error)
    },
  )

  let worst = 0
  let peak = 0
  let running = true
  const watch = (async () => {
    while (running && alive) {
      const health = await ask(port, '/health')
      if (alive) worst = Math.max(worst, health.ms)
      peak = Math.max(peak, server.usage()?.own ?? 0)
      await pause(WATCH_MS)
    }
  })()

  return {
    url: server.url,
    port,
    /** Tokens of two accounts; the second one, which attacks, may do everything. */
    tokens: tokens as readonly [string, string],
    pid: server.pid,
    alive: () => alive,
    /** Longest answer of `/health` so far in milliseconds, asked by a client from another address. */
    worstHealthMs: () => worst,
    usage: () => server.usage(),
    /** Asks it to stop, and ends it where it does not in time. */
    async stop(patienceMs = STOP_PATIENCE_MS) {
      running = false
      const start = performance.now()
      if (alive) {
        const kill = setTimeout(() => process.kill(server.pid, 'SIGKILL'), patienceMs)
        await server.stop()
        clearTimeout(kill)
      }
      const ms = performance.now() - start
      await Promise.all([ended, watch])
      return { ms, died, peak }
    },
  }
}

const tokensOf = (data: string): [string, string] => {
  const accounts = openAccounts(data)
  try {
    return [accounts.createToken('one'), accounts.createToken('two', { scopes: SCOPES })]
  } finally {
    accounts.close()
  }
}

/** One request on a connection of its own from the honest client's address; status 0 where there was no answer. */
export const ask = (
  port: number,
  path: string,
  options: { token?: string; body?: string; timeoutMs?: number; from?: string } = {},
): Promise<{ status: number; text: string; ms: number }> =>
  new Promise(resolve => {
    const { token, body, timeoutMs = 10_000, from = HONEST } = options
    const start = performance.now()
    const settle = (status: number, text: string) => resolve({ status, text, ms: performance.now() - start })
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        localAddress: from,
        agent: false,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        signal: AbortSignal.timeout(timeoutMs),
      },
      response => {
        let text = ''
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk
        })
        response.on('end', () => settle(response.statusCode ?? 0, text)).on('error', error => settle(0, String(error)))
      },
    )
    call.on('error', error => settle(0, String(error)))
    call.end(body)
  })

export const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const WATCH_MS = 100
const STOP_PATIENCE_MS = 15_000
