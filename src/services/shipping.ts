import { clusterOptions } from '../config/cluster.ts'
import type { Config } from '../config/index.ts'
import type { IndexingOptions } from '../ingest/network.ts'

/** Where documents of a network go, other than into its store. */
export const shippingOf = (
  { networks }: Pick<Config, 'networks'>,
  network: string,
): Pick<IndexingOptions, 'cluster' | 'journalMax' | 'returning'> => {
  const cluster = networks.find(one => one.network === network)?.cluster
  if (!cluster) return {}
  const { journalMax, returning } = cluster
  return { cluster: clusterOptions(cluster), journalMax, returning }
}
