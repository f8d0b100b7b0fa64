import { hostname } from 'node:os'
import { type Accounts, openAccounts } from '../accounts/index.ts'
import { createClusterStores } from '../cluster/stores.ts'
import { createCurrencies, createDefaultParameters } from '../config/chains.ts'
import type { Config } from '../config/index.ts'
import { linkSettings } from '../delivery/links.ts'
import { type DeliveryThread, startDelivery } from '../delivery/service.ts'
import { storedNetworks } from '../engine/files.ts'
import { createApp } from '../http/app.ts'
import { createBodies } from '../http/body.ts'
import { createCors, createProxies, NO_PROXIES, noConnections } from '../http/connections.ts'
import { watchRequests } from '../http/metrics.ts'
import { type HttpServer, listen } from '../http/server.ts'
import type { Certificate } from '../http/tls.ts'
import type { Indexing } from '../ingest/network.ts'
import { createStatus, type LogLoss, publishStatus } from '../ingest/status/live.ts'
import { stop } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { nativeOption } from '../lib/runtime.ts'
import type { Run } from '../lib/shutdown.ts'
import { grantedMemory } from '../lib/system-limits.ts'
import { openRules, type Rules } from '../rules/store.ts'
import { startChecks } from '../search/checks.ts'
import { createPool, type Pool } from '../search/pool.ts'
import { measureSearch } from '../search/search-metrics.ts'
import { createAlerting } from './alerting.ts'
import { watchClock } from './clock.ts'
import { openClusters, watchClusters } from './clusters.ts'
import { createManagement } from './manage.ts'
import { createServerMetrics } from './metrics.ts'
import { keepTrail } from './retention.ts'
import { createContracts, createStores } from './stores.ts'

interface SearchParts {
  accounts: Accounts
  pool: Pool
}

export interface ServerParts extends SearchParts {
  rules: Rules
  delivery: DeliveryThread
}

/** Opens the data folder for serving, and starts the delivery thread. */
export const openParts = (config: Config, run: Run): ServerParts => {
  const { log, shutdown } = run
  const parts = openSearchParts(config, run)
  const rules = openRules(config.data, { ...nativeOption(config.data), limits: config.limits })
  shutdown.add('rules', rules.close)
  const delivery = startDeliveries(config, log)
  shutdown.add('deliveries', delivery.stop)
  return { ...parts, rules, delivery }
}

/** Opens the data folder for answering searches. */
export const openSearchParts = (config: Config, { log, shutdown }: Run): SearchParts => {
  const accounts = openAccounts(config.data, nativeOption(config.data))
  shutdown.add('accounts', accounts.close)
  shutdown.add('audit trail', keepTrail(accounts, config, log))
  return { accounts, pool: openPool(config, shutdown, log) }
}

export interface Served extends ServerParts {
  /** Networks being indexed; the list may change. */
  indexings: readonly Indexing[]
  /** Losses in write-ahead logs at the start, by network. */
  losses?: ReadonlyMap<string, LogLoss>
  /** The watcher of a network without a source. */
  watching?(network: string): Indexing | undefined
}

export const startServer = async (config: Config, parts: Served, run: Run): Promise<HttpServer> => {
  const { rules, indexings, pool, delivery } = parts
  const { log, shutdown } = run
  const networks = () => networksOf(config)
  return startListening(config, parts, run, ({ status }) => {
    const { stop, ...management } = createManagement({ config, ...parts, networks, status, log })
    shutdown.add('rates', stop)
    const alerting = createAlerting({ config, networks, indexings, pool, delivery, rules })
    return { alerting: { rules, service: alerting }, management, console: !config.noConsole }
  })
}

/** Starts an HTTP server that only answers searches. */
export const startSearchServer = (config: Config, parts: SearchParts, run: Run): Promise<HttpServer> =>
  startListening(config, { ...parts, indexings: [] }, run, () => ({}))

type Further = Pick<Parameters<typeof createApp>[0], 'alerting' | 'management' | 'console'>

const startListening = async (
  config: Config,
  parts: SearchParts & Partial<ServerParts> & Pick<Served, 'indexings' | 'watching' | 'losses'>,
  { log, shutdown }: Run,
  further: (known: { status: ReturnType<typeof createStatus> }) => Further,
): Promise<HttpServer> => {
  const { accounts, pool, delivery, indexings, watching, losses } = parts
  // Includes networks that were removed while they were served.
  const networks = () => [...new Set([...networksOf(config), ...pool.networks()])]
  const clock = watchClock({
    data: config.data,
    async newestBlock() {
      // A damaged store has no newest block.
      const held = await Promise.all(networks().map(network => pool.held(network).catch(() => undefined)))
      return held.reduce((newest, one) => Math.max(newest, one?.newest?.time ?? 0), 0)
    },
    log,
  })
  shutdown.add('clock', clock.stop)
  const status = createStatus({
    networks,
    indexings,
    ...(watching && { watching }),
    ...(losses && { losses }),
    held: pool.held,
    ...(delivery && { deliveries: delivery.status }),
    readers: pool.threads,
    warnings: clock.warnings,
    cluster: await watchClusters(config, { log, shutdown }),
    log,
  })
  const { metrics, text } = createServerMetrics({ data: config.data, status, pool, indexings, watching, delivery, log })
  const more = further({ status })
  const { limits } = config
  const search = measureSearch(pool, metrics)
  const served = { text, access: config.metrics }
  const { app, direct } = createApp({
    ...{ search, accounts, bodies: createBodies(limits), limits, log },
    status,
    metrics: served,
    defaultNetwork: config.defaultNetwork,
    defaultParameters: createDefaultParameters(config.networks),
    currencyOf: createCurrencies(config.networks),
    ...more,
  })
  const onRequest = watchRequests(metrics, config.logRequests ? log : undefined)
  const listening = {
    ...{ limits, direct, log, onRequest, connections: noConnections() },
    certificate: await openTls(config, log),
    cors: createCors(config.corsOrigin),
    proxies: config.trustProxy.length === 0 ? NO_PROXIES : createProxies(config.trustProxy, config.proxyHeader),
  }
  const server = await listen(app, { ...listening, host: config.host, port: config.port })
  shutdown.add('server', () => server.close())
  const reloads = [server.reload]
  for (const { host, port, network } of config.esListen) {
    const node = await listen(app, { ...listening, host, port, root: `/${network}/es`, setting: '--es-listen' })
    shutdown.add(`node of ${network}`, () => node.close())
    reloads.push(node.reload)
    log.info('Serves a network at the root', { url: node.url, network })
  }
  // After the port is bound: if it is taken, closing stores must not count as a fault.
  shutdown.add('status', publishStatus(config.data, status, log))
  const reload = () => {
    for (const one of reloads) one?.()
  }
  if (server.reload) {
    process.on('SIGHUP', reload)
    shutdown.add('reloading', () => process.off('SIGHUP', reload))
  }
  const memory = grantedMemory()
  if (memory < MIN_MEMORY)
    log.warn('The memory is too low: give the process 256 MB or more', { megabytes: Math.floor(memory / 1024 ** 2) })
  log.info('Serves', {
    url: server.url,
    ...(more.console && { console: `${server.url}/console/` }),
    networks: networks().join(',') || 'none yet',
  })
  return server
}

/** Minimum bytes of memory for a server of one network. */
const MIN_MEMORY = 256 * 1024 ** 2

/** The certificate of the server; undefined for plain HTTP. */
const openTls = async ({ tlsCert, tlsKey }: Config, log: Run['log']): Promise<Certificate | undefined> => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw stop('tls_incomplete', 'TLS needs a certificate and its key: give both --tls-cert and --tls-key')
  const { openCertificate } = await import('../http/tls.ts')
  return openCertificate({ cert: tlsCert, key: tlsKey }, { log })
}

/** All searchable networks: configured and stored. */
export const networksOf = (config: Config): string[] => [
  ...new Set([...config.networks.map(({ network }) => network), ...storedNetworks(config.data)]),
]

/** `log` receives problems outside of requests. */
export const openPool = (config: Config, shutdown: Run['shutdown'], log = silent, inlineMs?: number): Pool => {
  const stores = createStores(config.data)
  const pool = createPool({
    ...{ stores, checks: startChecks(stores, log) },
    elsewhere: createClusterStores(openClusters(config, shutdown)),
    contracts: createContracts(config.data),
    threads: config.readers,
    deadlineMs: config.queryDeadline,
    limits: config.limits,
    ...(inlineMs !== undefined && { inlineMs }),
  })
  shutdown.add('search', pool.close)
  return pool
}

const startDeliveries = (config: Config, log: Run['log']): DeliveryThread => {
  const { data, allowTarget, smtp, mailFrom, mailDigest, deliveryRetries, deliveryTimeout, keepDeliveries } = config
  return startDelivery({
    data,
    stores: createStores(data),
    settings: {
      allowTarget,
      smtp,
      mailFrom: mailFrom ?? `chainsieve@${hostname()}`,
      mailDigest,
      retries: deliveryRetries,
      timeoutMs: deliveryTimeout,
      keepMs: keepDeliveries,
      links: linkSettings(config),
      limits: config.limits,
    },
    log,
  })
}
