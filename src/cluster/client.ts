import type { Cluster } from './cluster.ts'
import type { HungTimes } from './hung.ts'
import type { ClusterOptions } from './options.ts'

/**
 * Connects to a cluster when it is first asked. Its client is loaded then: a program without a cluster has no use for it. `times`: when a node
 * counts as one that stands still.
 */
export const connect = (options: ClusterOptions, times?: HungTimes): Cluster => {
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
