import type { StallTimes } from './stalled-nodes.ts'

/** A request of a cluster. */
export interface ClusterRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  /** With a leading slash, without the query string. */
  path: string
  query?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Objects are sent as JSON; text is sent unchanged. */
  body?: object | string | undefined
  /** NDJSON of bulk requests, sent unchanged; each line ends with a line feed. */
  lines?: string | Uint8Array | undefined
  signal?: AbortSignal | undefined
  /** Timeout of silence of a node. Default 30 s. */
  timeoutMs?: number | undefined
  /** Further nodes to try if one does not answer, or with 502, 503 or 504. Default 3. */
  retries?: number | undefined
  /** Whether to compress `lines`. */
  gzip?: boolean | undefined
  /** Whether to return the answer as bytes. */
  raw?: boolean | undefined
}

/** Answer of a cluster, with any status. */
export interface ClusterAnswer {
  status: number
  /** Unparsed: numbers keep all digits. */
  text: string
  /** Set for a successful answer with `raw`; `text` is then empty. */
  bytes?: Buffer | undefined
}

/** The connection to a cluster. */
export interface Cluster {
  /** Returns an answer of any status. Throws a `retry` if no node answers. */
  ask(request: ClusterRequest): Promise<ClusterAnswer>
  close(): Promise<void>
}

/** Connects lazily and loads the client then. `times`: when a node counts as stalled. */
export const connect = (options: ClusterOptions, times?: StallTimes): Cluster => {
  let opened: Promise<Cluster> | undefined
  const open = () => {
    opened ??= import('./opensearch-client.ts').then(({ openClient }) => openClient(options, times))
    return opened
  }
  return {
    ask: async request => (await open()).ask(request),
    close: async () => (await opened)?.close(),
  }
}

/** The cluster of OpenSearch that holds a network's documents. */
export interface ClusterOptions {
  /** Node URLs. */
  urls: readonly string[]
  username?: string | undefined
  password?: string | undefined
  /** Certificate authority that signed the nodes' certificates, as PEM text. */
  ca?: string | undefined
  /** Prefix of index names. */
  prefix: string
  /** Shards per index. */
  shards: number
  replicas: number
  /** Blocks whose documents share an index. */
  blocksPerIndex: number
}
export const DEFAULT_CLUSTER = {
  prefix: 'chainsieve',
  shards: 1,
  replicas: 1,
  blocksPerIndex: 1_000_000,
} as const satisfies Partial<ClusterOptions>
