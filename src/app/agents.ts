import { once } from 'node:events'
import type { Caller } from '../accounts/index.ts'
import { createCurrencies, createDefaultParameters } from '../config/chains.ts'
import type { Config } from '../config/index.ts'
import { DEMO_CHAIN, importDemo, placeDemo } from '../dev/demo.ts'
import { storedNetworks } from '../engine/files.ts'
import { createApp } from '../http/app.ts'
import { createBodies } from '../http/body.ts'
import { apiWithin } from '../http/mcp.ts'
import { offlineStatus } from '../ingest/status/live.ts'
import { messageOf, stop } from '../lib/errors.ts'
import { aborted, type Run } from '../lib/shutdown.ts'
import type { AgentApi, AgentSession } from '../mcp/ask.ts'
import { createAgentServer, loadProtocol, loadStdio } from '../mcp/server.ts'
import { NO_ACCOUNT } from '../search/service.ts'
import { networksOf, openPool } from './compose.ts'

export interface AgentOptions {
  /** URL and token of a server; without one, the data folder is read. */
  server: { server: string; token: string } | undefined
  asText: boolean
}

/** Serves an agent on standard input and output, until the input ends. */
export const serveAgent = async (config: Config, { server, asText }: AgentOptions, run: Run): Promise<void> => {
  const api = server ? apiAt(server.server, server.token) : await apiOfFolder(config, run)
  const session: AgentSession = {
    api,
    scopes: server ? await agentScopesAt(api, server.server) : READER.scopes,
    owner: 'local',
    currencyOf: createCurrencies(config.networks),
    // A server records changes of its rules by the token.
    record() {},
  }
  const [protocol, { serveStdio }] = await Promise.all([loadProtocol(), loadStdio()])
  const { log, shutdown } = run
  const ended = once(process.stdin, 'end')
  const serving = serveStdio(() => createAgentServer(protocol, { session, asText, log }))
  await Promise.race([ended, aborted(shutdown.signal)])
  await serving.close()
}

/** Longer than the deadline of any search. */
const ANSWER_TIMEOUT_MS = 300_000

const apiAt =
  (url: string, token: string): AgentApi =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    try {
      const response = await fetch(url.replace(/\/+$/, '') + path, {
        ...{ method, headers, redirect: 'error', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) },
        ...(body !== undefined && { body }),
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      throw stop('no_answer', `${url} does not answer: ${messageOf(cause)}`)
    }
  }

/** Undefined where a server does not say. Fails if it does not know the token. */
const agentScopesAt = async (api: AgentApi, url: string): Promise<ReadonlySet<string> | undefined> => {
  const { status, text } = await api('GET', '/account')
  if (status === 401)
    throw stop('token_refused', `${url} does not know the token: create one with chainsieve token create`)
  if (status !== 200) return undefined
  return new Set((JSON.parse(text) as { token: { scopes: string[] } }).token.scopes)
}

/** Who can read the data folder can search it. */
const READER: Caller = { id: NO_ACCOUNT, name: 'local', token: 0, scopes: new Set(['search']) }

const apiOfFolder = async (config: Config, run: Run): Promise<AgentApi> => {
  const { data, limits } = config
  // As for a server: without any network, there is the demo chain.
  const isDemo = config.networks.length === 0 && storedNetworks(data).every(network => network === DEMO_CHAIN)
  if (isDemo && !placeDemo(data)) await importDemo(config, run)
  const pool = openPool(config, run.shutdown, run.log)
  const { app } = createApp({
    ...{ search: pool, accounts: { verify: () => undefined }, limits, log: run.log, bodies: createBodies(limits) },
    status: () => offlineStatus({ networks: () => networksOf(config), indexings: [], held: pool.held }),
    defaultParameters: createDefaultParameters(config.networks),
  })
  return apiWithin(app.fetch, { caller: READER })
}
