import type { Kind } from './kinds.ts'
import * as kinds from './kinds.ts'

/**
 * THE table of settings. Flag, environment variable and place in the config file follow from the name: `queryDeadline` is
 * `--query-deadline`, `CHAINSIEVE_QUERY_DEADLINE` and `query-deadline`. Parsing, `--help` and the README are read from here.
 */
export const SETTINGS = {
  data: setting(kinds.text('a folder', 'DIR'), './chainsieve-data', 'Folder that holds everything that is stored.'),
  config: setting(
    kinds.text('a file', 'FILE'),
    undefined,
    'Config file (TOML). Without it, chainsieve.toml in the data folder is read where there is one.',
  ),
  host: setting(kinds.text('a host name or address', 'HOST'), '127.0.0.1', 'Address that the server listens on.'),
  port: setting(kinds.port, '8640', 'Port that the server listens on.'),
  json: setting(kinds.toggle, 'false', 'Logs and results as JSON lines, for machines.'),
  logRequests: setting(kinds.toggle, 'false', 'Logs every request with its status, its time, and who asked.'),
  metrics: setting(
    kinds.oneOf(['local', 'open', 'token']),
    'local',
    'Who may read /metrics without a token: whoever asks from this machine itself, everybody, or nobody.',
  ),
  queryDeadline: setting(kinds.duration, '10s', 'A query that takes longer is given up with an error.'),
  readers: setting(kinds.readers, 'auto', 'Threads that answer queries.'),
  indexers: setting(kinds.indexers, 'auto', 'Threads that decode blocks and build what is stored of them.'),
  limit: list(kinds.limit, 'Sets one of the limits that the README lists.'),
  allowTarget: list(kinds.cidr, 'Private address range that alert webhooks may reach.'),
  smtp: setting(
    kinds.smtpUrl,
    undefined,
    'Mail server that alert emails are handed to, with user and password in the URL where it asks for them.',
  ),
  mailFrom: setting(kinds.sender, undefined, 'Sender of alert emails; by default chainsieve@ this host.'),
  mailDigest: setting(
    kinds.duration,
    '120s',
    'Emails of one rule within this time are one email; 0s: each goes at once.',
  ),
  deliveryTimeout: setting(kinds.duration, '20s', 'A receiver of alerts that takes longer to answer has failed.'),
  deliveryRetries: list(
    kinds.duration,
    'Times to wait after each failed delivery before the next try; by default 5s 5m 30m 2h 5h 10h 14h 20h 24h.',
  ),
  keepDeliveries: setting(
    kinds.duration,
    '30d',
    'Delivered alerts stay in the ledger for so long; dead ones for 90d at least.',
  ),
} satisfies Table

/** Settings of one network: flags and variables mean the network that `--network` names; in the file they stand in `[[networks]]`. */
export const NETWORK_SETTINGS = {
  network: setting(kinds.network, undefined, 'The network that is meant.'),
  rpc: list(kinds.httpUrl, "A node's JSON-RPC endpoint; the next one is taken when one fails."),
  ws: setting(
    kinds.wsUrl,
    undefined,
    "The node's WebSocket endpoint, which tells of new blocks; without it the head is polled.",
  ),
  from: setting(kinds.blockPoint, undefined, 'First block to index; by default the first of the chain.'),
  to: setting(kinds.blockPoint, undefined, 'Last block to index; by default the head, which is followed from then on.'),
  order: setting(kinds.oneOf(['newest', 'oldest']), 'newest', 'Where a back-fill begins.'),
  finality: setting(kinds.count(1, 100_000), '64', 'Deepest reorganisation that is followed, in blocks.'),
  staleAfter: setting(
    kinds.duration,
    undefined,
    'Without a new block for so long, the server is not ready; by default three block times of the chain, 10s at least; 0s: no block is waited for.',
  ),
  pollInterval: setting(
    kinds.duration,
    undefined,
    "Time between two looks at the head where there is no WebSocket; by default it follows the chain's pace.",
  ),
  skipBloom: setting(
    kinds.toggle,
    'false',
    'Takes blocks whose logs blooms are not those of their logs: some rollups leave theirs empty.',
  ),
  traces: setting(
    kinds.oneOf(['off', 'calls', 'all']),
    'off',
    'Which steps of transactions are indexed, from nodes with trace_block or debug_traceBlockByNumber: none, those that call functions, or all. Packs bring theirs along, all.',
  ),
  requestTimeout: setting(kinds.duration, '20s', 'A node that takes longer to answer has failed.'),
  rpcBatch: setting(kinds.count(1, 1_000), '20', 'Most calls in one JSON-RPC request.'),
  rpcConcurrency: setting(kinds.count(1, 256), '16', 'Most JSON-RPC requests under way at once.'),
  storeBatch: setting(kinds.count(1, 10_000), '200', 'Blocks of a back-fill that are stored in one transaction.'),
} satisfies Table

export interface Setting<T = unknown> {
  kind: Kind<T>
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

/** One line per setting for the README. */
export const settingRows = () =>
  Object.entries<Setting>({ ...SETTINGS, ...NETWORK_SETTINGS }).map(([name, { kind, fallback, meaning, list }]) => ({
    ...placesOf(name),
    file: name === 'config' ? '' : `${name in NETWORK_SETTINGS ? 'networks[].' : ''}${placesOf(name).file}`,
    takes: kind.takes,
    list,
    fallback: fallback ?? '',
    meaning,
  }))

export type Table = Record<string, Setting>

type Value<S> =
  S extends Setting<infer T>
    ? S extends { list: true }
      ? T[]
      : S extends { fallback: string }
        ? T
        : T | undefined
    : never

export type Values<T extends Table> = { [N in keyof T]: Value<T[N]> }

export function setting<T, const F extends string | undefined>(kind: Kind<T>, fallback: F, meaning: string) {
  return { kind, fallback, meaning, list: false as const }
}

function list<T>(kind: Kind<T>, meaning: string) {
  return { kind, fallback: undefined, meaning, list: true as const }
}
