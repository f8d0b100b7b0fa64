import type { StallTimes } from './stalled-nodes.ts'

/** A request of a cluster. */
export interface ClusterRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  /** With a slash in front, without the query string. */
  path: string
  query?: Readonly<Record<string, string | number | boolean>> | undefined
  /** An object, which is sent as JSON; text is sent as it is. */
  body?: object | string | undefined
  /** Lines of JSON that are sent as they are, each with its line end: bulk requests. */
  lines?: string | Uint8Array | undefined
  signal?: AbortSignal | undefined
  /** Longest silence of a node, 30 s where nothing else is said. */
  timeoutMs?: number | undefined
  /** How many further nodes are asked where one does not answer, or with 502, 503 or 504: 3 where nothing else is said. */
  retries?: number | undefined
  /** Sends `lines` compressed. */
  gzip?: boolean | undefined
  /** Whether the answer is wanted as bytes. */
  raw?: boolean | undefined
}

/** What a cluster answered. */
export interface ClusterAnswer {
  status: number
  /** As it was sent: numbers keep all their digits. */
  text: string
  /** Of an answer with success that was wanted as bytes: then `text` is empty. */
  bytes?: Buffer | undefined
}

/** The connection to a cluster. */
export interface Cluster {
  /**
   * Any status is an answer. Throws a `retry` where no node answers.
   */
  ask(request: ClusterRequest): Promise<ClusterAnswer>
  close(): Promise<void>
}

/**
 * Connects to a cluster when it is first asked. Its client is loaded then: a program without a cluster has no use for it. `times`: when a node
 * counts as one that stands still.
 */
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
  /** Of its nodes. */
  urls: readonly string[]
  username?: string | undefined
  password?: string | undefined
  /** Certificate authority that signed the nodes' certificates, as PEM text. */
  ca?: string | undefined
  /** What the names of all indices begin with. */
  prefix: string
  /** Of each index. */
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
