import type { Config } from '../../config/index.ts'
import { command, misused } from '../command.ts'
import { CLUSTER, KEPT, NODE, SCOPED, SERVER } from '../setting-lists.ts'

export const serve = command({
  name: 'serve',
  usage: '[--network T/B/N --rpc URL] [options]',
  summary: 'Runs the server. Indexes and follows the given networks; without any network, serves a demo chain.',
  settings: ['role', ...SERVER, ...NODE.filter(name => name !== 'to'), ...SCOPED, ...CLUSTER, ...KEPT, 'indexers'],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown }) => {
    if (config.role === 'search') checkClusters(config)
    await services.serve(config, { log, shutdown })
  },
})

/** A server that only answers searches has no documents of its own. */
const checkClusters = ({ networks }: Config) => {
  if (networks.length === 0)
    throw misused('--role search: which network? Add --network T/B/N, --store opensearch and --opensearch-url URL.')
  const own = networks.find(({ cluster }) => !cluster || cluster.returning)
  if (own)
    throw misused(
      `--role search answers for documents in a cluster, and ${own.network} has none: add --store opensearch and --opensearch-url URL.`,
    )
}
