import { connect } from '../cluster/client.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type ClusterHealth, createHealth } from '../cluster/health.ts'
import { createIndices } from '../cluster/indices.ts'
import type { ClusterOptions } from '../cluster/options.ts'
import { findVersion } from '../cluster/version.ts'
import { type ClusterConfig, clusterOptions } from '../config/cluster.ts'
import type { Config } from '../config/index.ts'
import { messageOf } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { about, type Finding } from './finding.ts'

/** The cluster of each network that has one: whether it answers, its version, its health, and its indices. Nothing is changed. */
export async function* checkClusters({ networks }: Pick<Config, 'networks'>): AsyncGenerator<Finding> {
  for (const { network, cluster } of networks) if (cluster) yield* checkCluster(network, cluster)
}

async function* checkCluster(network: string, config: ClusterConfig): AsyncGenerator<Finding> {
  const subject = `${network} at ${config.urls.join(', ')}`
  const { ok, warn, fail } = about('cluster', subject)
  let cluster: Cluster | undefined
  try {
    const options = clusterOptions(config)
    cluster = connect(options)
    const { name, doubt, restores } = await findVersion(cluster)
    yield doubt === undefined
      ? ok(`runs ${name}`)
      : warn(`runs ${name}: ${doubt}`, 'Try it with a copy of your data first.')
    if (!restores)
      yield warn(
        'cannot restore its indices from snapshots, since they are sorted',
        'Upgrade it before you rely on snapshots. Until then, chainsieve prune --lost brings back what is lost.',
      )
    yield* healthOf(subject, await createHealth(cluster, options, network)())
    yield await indicesOf(subject, cluster, options, network)
  } catch (error) {
    yield fail(messageOf(error), 'Check opensearch-url, opensearch-user and opensearch-ca, and that the cluster runs.')
  } finally {
    await cluster?.close()
  }
}

function* healthOf(subject: string, { state, nodes, unassignedShards, watermark, error }: ClusterHealth) {
  const { ok, warn, fail } = about('cluster', subject)
  const shards = unassignedShards === 1 ? 'shard' : 'shards'
  const told = `is ${state}, with ${nodes} ${nodes === 1 ? 'node' : 'nodes'} and ${unassignedShards} unassigned ${shards}`
  if (state === 'green') yield ok(told)
  else if (state === 'yellow')
    yield warn(told, 'Copies of some shards are missing: add a node, or set opensearch-replicas to less.')
  else yield fail(error ?? told, 'Look at GET /_cluster/allocation/explain of the cluster.')
  if (watermark === 'flood_stage')
    yield fail('has a node whose disk is so full that nothing is written', 'Free space on its nodes, or add one.')
  else if (watermark !== null)
    yield warn(`has a node whose disk is over the watermark ${watermark}`, 'Free space on its nodes, or add one.')
}

const indicesOf = async (subject: string, cluster: Cluster, options: ClusterOptions, network: string) => {
  const { ok, fail } = about('cluster', subject)
  const differences = await createIndices(cluster, options, network, silent).check()
  return differences.length === 0
    ? ok('its indices are as they must be, or are not created yet')
    : fail(
        `its indices are not as they must be: ${differences.join('; ')}`,
        'Set what was set before, or choose another opensearch-prefix and index again.',
      )
}
