import type { SettingKind } from './kinds.ts'
import * as kinds from './kinds.ts'

/**
 * THE table of settings. Flag, environment variable and key in the config file follow from the
 * name: `queryDeadline` is `--query-deadline`, `CHAINSIEVE_QUERY_DEADLINE` and `query-deadline`.
 * Parsing, `--help` and docs/settings.md are generated from this table.
 */
export const SETTINGS = {
  data: setting(kinds.textKind('a folder', 'DIR'), './chainsieve-data', 'Folder that holds all stored data.'),
  config: setting(
    kinds.textKind('a file', 'FILE'),
    undefined,
    'Config file (TOML). The default is chainsieve.toml in the data folder, if it exists.',
  ),
  host: setting(kinds.textKind('a host name or address', 'HOST'), '127.0.0.1', 'Address that the server listens on.'),
  port: setting(kinds.port, '8640', 'Port that the server listens on.'),
  esListen: listSetting(
    kinds.rootListener,
    'A further address, and the network whose Elasticsearch node it has at its root, for tools that drop the path of a URL.',
  ), // --es-listen
  defaultNetwork: setting(
    kinds.networkKind,
    undefined,
    'Network of paths without one, such as /es/block/search. The default is the only network, if there is one alone.',
  ), // --default-network
  json: setting(kinds.toggle, 'false', 'Print logs and results as JSON lines.'),
  logRequests: setting(kinds.toggle, 'false', 'Log every request with its status, its duration and its caller.'), // --log-requests
  metrics: setting(
    kinds.choiceKind(['local', 'open', 'token']),
    'local',
    'Who may read /metrics without a token: callers on this machine, everyone, or no one.',
  ),
  tlsCert: setting(
    kinds.textKind('a file', 'FILE'),
    undefined,
    'Certificate of the server with its chain, in PEM. The server speaks HTTPS with it.',
  ), // --tls-cert
  tlsKey: setting(kinds.textKind('a file', 'FILE'), undefined, 'Private key of that certificate, in PEM.'), // --tls-key
  trustProxy: listSetting(kinds.cidr, 'Addresses of reverse proxies that report where requests come from.'), // --trust-proxy
  proxyHeader: setting(
    kinds.choiceKind(['x-forwarded-for', 'forwarded']),
    'x-forwarded-for',
    'Header by which these proxies report it.',
  ), // --proxy-header
  noConsole: setting(kinds.toggle, 'false', 'Disables the console at /console/.'), // --no-console
  corsOrigin: listSetting(kinds.origin, 'Origin of web pages that may ask the server from a browser.'), // --cors-origin
  keepAudit: setting(kinds.duration, '365d', 'How long entries of the audit trail are kept.'), // --keep-audit
  role: setting(
    kinds.choiceKind(['all', 'search']),
    'all',
    'What the server does: all, or only answer searches of networks whose documents another server keeps in a cluster. See docs/opensearch.md.',
  ),
  queryDeadline: setting(kinds.duration, '10s', 'Deadline of a query. A query that takes longer fails.'), // --query-deadline
  readers: setting(kinds.readers, 'auto', 'Threads that answer queries.'),
  indexers: setting(kinds.indexers, 'auto', 'Threads that decode blocks and build the index.'),
  limit: listSetting(kinds.limitKind, 'Sets one of the limits in docs/settings.md.'),
  allowTarget: listSetting(kinds.cidr, 'Private address range that alert webhooks may reach.'), // --allow-target
  publicUrl: setting(
    kinds.pageUrl,
    undefined,
    'URL at which people reach this server. Alerts have links to its console.',
  ), // --public-url
  smtp: setting(
    kinds.smtpUrl,
    undefined,
    'Mail server for alert emails. The URL has the user and the password, if the server requires them.',
  ),
  mailFrom: setting(kinds.sender, undefined, 'Sender of alert emails. The default is chainsieve@ this host.'), // --mail-from
  mailDigest: setting(
    kinds.duration,
    '120s',
    'Emails of one rule within this time are combined into one. 0s sends each at once.',
  ), // --mail-digest
  deliveryTimeout: setting(kinds.duration, '20s', 'Time within which a receiver of alerts must answer.'), // --delivery-timeout
  deliveryRetries: listSetting(
    kinds.duration,
    'Waits between the tries of a delivery. The default is 5s 5m 30m 2h 5h 10h 14h 20h 24h.',
  ), // --delivery-retries
  keepDeliveries: setting(
    kinds.duration,
    '30d',
    'How long the ledger keeps delivered alerts. It keeps dead ones for at least 90d.',
  ), // --keep-deliveries
  keepAlerts: setting(
    kinds.duration,
    undefined,
    'How long alerts that were confirmed, withdrawn or retracted are kept. The default is for ever.',
  ), // --keep-alerts
  server: setting(
    kinds.httpUrl,
    undefined,
    'URL of a running server that a command works with. The default is the data folder.',
  ),
  token: setting(kinds.token, undefined, 'Token of the account at --server.'),
} satisfies SettingTable

/** Settings of one network: flags and variables apply to `--network`, files have `[[networks]]`. */
export const NETWORK_SETTINGS = {
  network: setting(
    kinds.networkKind,
    undefined,
    'Name of the network. The short name of a chain in docs/chains.md sets the chain id, finality and skip-bloom, too.',
  ),
  chainId: setting(
    kinds.countKind(1),
    undefined,
    'Chain id that the nodes must have. The default is that of the stored blocks, or of the first node to answer.',
  ), // --chain-id
  rpc: listSetting(
    kinds.nodeUrl,
    'JSON-RPC endpoint of a node: an http, https, ws or wss URL, or the path of its IPC socket. Several share the work. In the file, it may be a table with url, rate, daily, month and costs.',
  ),
  explorer: setting(
    kinds.pageUrl,
    undefined,
    'URL of an explorer of the chain, such as https://explorer.example, for links in alerts to its tx, address and block pages.',
  ),
  ws: setting(
    kinds.wsUrl,
    undefined,
    'WebSocket endpoint of the node, which announces new blocks. The default is the first --rpc that is a WebSocket or an IPC socket; without any, the head is polled.',
  ),
  from: setting(kinds.blockPoint, undefined, 'First block to index. The default is the first block of the chain.'),
  to: setting(kinds.blockPoint, undefined, 'Last block to index. The default is the head, which is then followed.'),
  order: setting(kinds.choiceKind(['newest', 'oldest']), 'newest', 'Where a back-fill begins.'),
  // The maximum depth of a reorg.
  finality: setting(
    kinds.finality,
    '64',
    'Depth of the deepest reorganisation that is followed, in blocks. With finalized, every reorganisation above the block that nodes report as finalized is followed.',
  ),
  staleAfter: setting(
    kinds.duration,
    undefined,
    'Time without a new block after which the server is not ready. The default is three block times of the chain, at least 10s. 0s disables the check.',
  ), // --stale-after
  pollInterval: setting(
    kinds.duration,
    undefined,
    'Time between polls of the head if there is no WebSocket. The default follows the pace of the chain.',
  ), // --poll-interval
  skipBloom: setting(
    kinds.toggle,
    'false',
    'Accepts blocks whose logs blooms do not match their logs: some rollups leave them empty.',
  ), // --skip-bloom
  verifyLogs: setting(
    kinds.toggle,
    'false',
    'Asks two endpoints for the logs of scopes and compares the answers. Where they differ, the block is read as a whole. It requires two of --rpc.',
  ), // --verify-logs
  traces: setting(
    kinds.choiceKind(['off', 'calls', 'all']),
    'off',
    'Which steps of transactions are indexed, from nodes with trace_block or debug_traceBlockByNumber: none, those that call functions, or all. All steps in packs are indexed.',
  ),
  currency: setting(
    kinds.symbol,
    undefined,
    'Currency of the network. With ETH, amounts in answers have eth beside coin, unless a request has eth=false. The default is that of the chain in docs/chains.md, and ETH for other networks of the blockchain ethereum.',
  ),
  flatArgs: setting(
    kinds.toggle,
    'false',
    'Answers show arguments with literal keys such as "value.hex", unless a request has args=nested.',
  ), // --flat-args
  requestTimeout: setting(kinds.duration, '20s', 'Time within which a node must answer.'), // --request-timeout
  rpcBatch: setting(
    kinds.inFlight(20, 4, 1_000),
    'auto',
    'Maximum number of calls in one JSON-RPC request. auto is 20, or 4 if the process has less than 512 MB of memory.',
  ), // --rpc-batch
  rpcConcurrency: setting(
    kinds.inFlight(16, 2, 256),
    'auto',
    'Maximum number of concurrent JSON-RPC requests to a node. Those for the head may be one more. auto is 16, or 2 if the process has less than 512 MB of memory.',
  ), // --rpc-concurrency
  rpcRate: setting(
    kinds.rate,
    undefined,
    'Maximum calls, or credits, per second for each endpoint. The default is no limit.',
  ), // --rpc-rate
  rpcDaily: setting(
    kinds.amount,
    undefined,
    'Credits that each endpoint may be charged in a day (UTC). A tenth is reserved for the head. The default is no limit.',
  ), // --rpc-daily
  rpcMonth: setting(
    kinds.amount,
    undefined,
    'Credits that each endpoint may be charged in a calendar month (UTC). A tenth is reserved for the head. The default is no limit.',
  ), // --rpc-month
  rpcCosts: listSetting(
    kinds.costs,
    'What calls cost: the prices of a provider (auto: by the host), calls (each is a credit), or credits of one method.',
  ), // --rpc-costs
  keepBlocks: setting(
    kinds.countKind(64),
    undefined,
    'Number of newest blocks to keep. Older ones are removed. The default is to keep all.',
  ), // --keep-blocks
  keepFor: setting(
    kinds.duration,
    undefined,
    'Age up to which blocks are kept. Older ones are removed. The default is to keep all.',
  ), // --keep-for
  contract: listSetting(
    kinds.addressKind,
    'Contract whose logs alone are indexed, between --from and --to. Other blocks stay out.',
  ),
  event: listSetting(
    kinds.event,
    'Event whose logs alone are indexed, as Transfer(address,address,uint256) or as its first topic.',
  ),
  transactions: setting(
    kinds.transactions,
    'false',
    'Whether transactions from and to --contract are indexed, too. With read-blocks, each block is read where no node finds them.',
  ),
  scopes: listSetting(
    kinds.table,
    'Contracts and events whose logs are indexed, as tables in the config file: see docs/scopes.md.',
  ),
  storeBatch: setting(
    kinds.inFlight(200, 20, 10_000),
    'auto',
    'Blocks that a back-fill stores in one transaction. auto is 200, or 20 if the process has less than 512 MB of memory.',
  ), // --store-batch
  store: setting(
    kinds.choiceKind(['sqlite', 'opensearch']),
    'sqlite',
    'Where the documents of the network are stored and searched: in its file, or in an OpenSearch cluster. With sqlite and opensearch-url, they come back from the cluster. See docs/opensearch.md.',
  ),
  opensearchUrl: listSetting(kinds.clusterUrl, 'Node of the cluster. Requests are spread over all that are named.'), // --opensearch-url
  opensearchUser: setting(kinds.textKind('a user name', 'NAME'), undefined, 'User that logs in to the cluster.'), // --opensearch-user
  opensearchPassword: setting(
    kinds.password,
    undefined,
    'Password of that user. In a flag, other users of the machine can see it: use the variable or the file.',
  ), // --opensearch-password
  opensearchCa: setting(
    kinds.textKind('a file', 'FILE'),
    undefined,
    'Certificate authority of the cluster, in PEM. The default is those that Node.js trusts.',
  ), // --opensearch-ca
  opensearchPrefix: setting(kinds.indexPrefix, 'chainsieve', 'Start of the names of all indices.'), // --opensearch-prefix
  opensearchShards: setting(kinds.countKind(1, 1_024), '1', 'Primary shards of each new index.'), // --opensearch-shards
  opensearchReplicas: setting(
    kinds.countKind(0, 100),
    '1',
    'Copies of each shard. A change applies to all indices at the next start.',
  ), // --opensearch-replicas
  opensearchBlocks: setting(
    kinds.countKind(1),
    '1000000',
    'Blocks whose documents share an index. It cannot be changed once there are indices.',
  ), // --opensearch-blocks
  journalMax: setting(
    kinds.space,
    '8GB',
    "Bytes by which the network's file may grow while the cluster takes no documents. Then indexing waits.",
  ), // --journal-max
} satisfies SettingTable

export interface Setting<T = unknown> {
  kind: SettingKind<T>
  /** As the user would write it. */
  fallback: string | undefined
  meaning: string
  /** The flag may be repeated; the variable is split at commas; the file holds an array. */
  list: boolean
}

export type SettingName = keyof typeof SETTINGS | keyof typeof NETWORK_SETTINGS

/** The setting's place in the three sources. */
export const placesOf = (name: string) => {
  const kebab = name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  return { flag: `--${kebab}`, env: `CHAINSIEVE_${kebab.toUpperCase().replaceAll('-', '_')}`, file: kebab }
}

/** One line per setting for docs/settings.md. */
export const settingRows = () =>
  Object.entries<Setting>({ ...SETTINGS, ...NETWORK_SETTINGS }).map(([name, { kind, fallback, meaning, list }]) => ({
    ...placesOf(name),
    file: name === 'config' ? '' : `${name in NETWORK_SETTINGS ? 'networks[].' : ''}${placesOf(name).file}`,
    takes: kind.takes,
    list,
    fallback: fallback ?? '',
    meaning,
  }))

export type SettingTable = Record<string, Setting>

type Value<S> =
  S extends Setting<infer T>
    ? S extends { list: true }
      ? T[]
      : S extends { fallback: string }
        ? T
        : T | undefined
    : never

export type Values<T extends SettingTable> = { [N in keyof T]: Value<T[N]> }

export function setting<T, const F extends string | undefined>(kind: SettingKind<T>, fallback: F, meaning: string) {
  return { kind, fallback, meaning, list: false as const }
}

export function listSetting<T>(kind: SettingKind<T>, meaning: string) {
  return { kind, fallback: undefined, meaning, list: true as const }
}
