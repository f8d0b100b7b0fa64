import type { ClusterHealth } from '../cluster/health.ts'
import type { Labels, MetricSnapshot } from '../lib/metrics.ts'

/** What is known of the cluster of a network. */
export const clusterMetrics = (health: ClusterHealth): MetricSnapshot[] => {
  const { state, nodes, unassignedShards, pendingTasks, diskFree, watermark, rejected, lost } = health
  return [
    one('gauge', 'chainsieve_cluster_state', 'State of the cluster: 1 for the present state.', 1, { state }),
    one('gauge', 'chainsieve_cluster_nodes', 'Nodes of the cluster.', nodes),
    one('gauge', 'chainsieve_cluster_unassigned_shards', 'Shards of the network without a node.', unassignedShards),
    one(
      'gauge',
      'chainsieve_cluster_lost_indices',
      'Indices that hold documents and that no search reaches.',
      lost.length,
    ),
    one('gauge', 'chainsieve_cluster_pending_tasks', 'Changes that the cluster has yet to make.', pendingTasks),
    one('gauge', 'chainsieve_cluster_disk_free_bytes', 'Free space of the node that has the least.', diskFree),
    one(
      'gauge',
      'chainsieve_cluster_watermark',
      'The worst disk watermark that a node of the cluster is over.',
      watermark && 1,
      watermark ? { watermark } : {},
    ),
    ...(rejected
      ? [
          {
            ...{ type: 'counter' as const, name: 'chainsieve_cluster_rejected_total' },
            help: 'Requests that nodes of the cluster rejected since they started, by kind.',
            series: Object.entries(rejected).map(([kind, value]) => ({ labels: { kind }, value })),
          },
        ]
      : []),
  ].filter(metric => metric !== undefined)
}

const one = (
  type: 'gauge',
  name: string,
  help: string,
  value: number | null,
  labels: Labels = {},
): MetricSnapshot | undefined => (value === null ? undefined : { type, name, help, series: [{ labels, value }] })
