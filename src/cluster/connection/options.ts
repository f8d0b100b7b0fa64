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
