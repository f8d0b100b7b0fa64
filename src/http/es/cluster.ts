import { KINDS } from '../../mapping/index.ts'
import { jsonResponse } from '../answer.ts'
import { askedBy } from '../context.ts'
import { routesOf } from '../request.ts'
import { answeredName, callKinds, type EndpointCall, type EsEndpoint, jsonAnswer, OF_CLUSTER } from './endpoint.ts'

/** Clients request this first; they check the dialect's version and the exact tagline. */
export const INFO = {
  name: 'chainsieve',
  cluster_name: 'chainsieve',
  cluster_uuid: 'chainsieve',
  version: {
    // opensearch-java reads it, and every other client takes it.
    distribution: 'opensearch',
    number: '7.17.0',
    build_flavor: 'default',
    build_type: 'unknown',
    build_hash: 'unknown',
    build_date: '1970-01-01T00:00:00.000Z',
    build_snapshot: false,
    lucene_version: '8.11.1',
    minimum_wire_compatibility_version: '6.8.0',
    minimum_index_compatibility_version: '6.0.0-beta1',
  },
  tagline: 'You Know, for Search',
}

export const ONLY_NODE = { id: 'chainsieve', name: INFO.name, ip: '127.0.0.1' }

export const healthOf = (shards: number) => ({
  ...{
    cluster_name: INFO.cluster_name,
    status: 'green',
    timed_out: false,
    number_of_nodes: 1,
    number_of_data_nodes: 1,
  },
  ...{ active_primary_shards: shards, active_shards: shards, relocating_shards: 0, initializing_shards: 0 },
  ...{ unassigned_shards: 0, unassigned_primary_shards: 0, delayed_unassigned_shards: 0, number_of_pending_tasks: 0 },
  ...{ number_of_in_flight_fetch: 0, task_max_waiting_in_queue_millis: 0, active_shards_percent_as_number: 100 },
})

const INDEX_HEALTH = {
  ...{ status: 'green', number_of_shards: 1, number_of_replicas: 0, active_primary_shards: 1, active_shards: 1 },
  ...{ relocating_shards: 0, initializing_shards: 0, unassigned_shards: 0 },
}

const clusterHealth: EsEndpoint = {
  paths: ['_cluster/health', '_cluster/health/{index}'],
  methods: ['GET'],
  doc: 'Always green. `/status` shows how far the network is indexed.',
  parameters: [
    ...[...OF_CLUSTER, 'level', 'wait_for_status', 'wait_for_nodes', 'wait_for_events', 'wait_for_active_shards'],
    ...['wait_for_no_relocating_shards', 'wait_for_no_initializing_shards'],
  ],
  answers: 'ClusterHealth',
  handle(call) {
    const kinds = callKinds(call)
    const detailed = ['indices', 'shards'].includes(call.parameters.get('level') ?? '')
    const indices = detailed && { indices: Object.fromEntries(kinds.map(it => [answeredName(call, it), INDEX_HEALTH])) }
    return jsonAnswer({ ...healthOf(kinds.length), ...indices })
  },
}

const clusterStats: EsEndpoint = {
  paths: ['_cluster/stats'],
  methods: ['GET'],
  doc: 'Documents and bytes of the network, and the version.',
  limit: 'Without operating system, JVM, caches and plugins.',
  parameters: OF_CLUSTER,
  answers: 'ClusterStatistics',
  async handle({ c, service, network }) {
    const { counts, bytes } = await service.holdings({ network, ...askedBy(c) })
    const count = KINDS.reduce((sum, kind) => sum + counts[kind], 0)
    const shards = { total: KINDS.length, primaries: KINDS.length, replication: 0 }
    return jsonAnswer({
      _nodes: { total: 1, successful: 1, failed: 0 },
      ...{ cluster_name: INFO.cluster_name, cluster_uuid: INFO.cluster_uuid, timestamp: Date.now(), status: 'green' },
      indices: { count: KINDS.length, shards, docs: { count, deleted: 0 }, store: { size_in_bytes: bytes } },
      nodes: { count: { total: 1, data: 1 }, versions: [INFO.version.number] },
    })
  },
}

const clusterSettings: EsEndpoint = {
  paths: ['_cluster/settings'],
  methods: ['GET'],
  doc: 'The cluster settings, of which none is set.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'include_defaults'],
  answers: 'ClusterSettings',
  handle: ({ parameters }) =>
    jsonAnswer({
      persistent: {},
      transient: {},
      ...(parameters.get('include_defaults') === 'true' && { defaults: {} }),
    }),
}

const searchShards: EsEndpoint = {
  paths: ['_search_shards', '{index}/_search_shards'],
  methods: ['GET', 'POST'],
  doc: 'One shard for each index.',
  parameters: ['local', 'preference', 'routing'],
  answers: 'SearchShards',
  handle(call) {
    const kinds = callKinds(call)
    return jsonAnswer({
      nodes: {
        [ONLY_NODE.id]: {
          name: ONLY_NODE.name,
          ephemeral_id: ONLY_NODE.id,
          transport_address: ONLY_NODE.ip,
          attributes: {},
        },
      },
      indices: Object.fromEntries(kinds.map(kind => [answeredName(call, kind), {}])),
      shards: kinds.map(kind => [shardOf(call, kind)]),
    })
  },
}

export const shardOf = (call: EndpointCall, kind: (typeof KINDS)[number]) => ({
  ...{
    state: 'STARTED',
    primary: true,
    node: ONLY_NODE.id,
    relocating_node: null,
    shard: 0,
    index: answeredName(call, kind),
  },
  allocation_id: { id: ONLY_NODE.id },
})

export const infoRoute = routesOf<unknown>('Elasticsearch')(
  'get',
  '/',
  'Name and version, which clients ask for first.',
  { described: ['access_token'], answers: 'Information' },
  () => () => jsonResponse(INFO),
)

const aboutEndpoint: EsEndpoint = {
  paths: [''],
  methods: ['GET'],
  doc: 'Name and version, which clients ask for first.',
  several: true,
  answers: 'Information',
  handle: () => jsonAnswer(INFO),
}

export const CLUSTER_ENDPOINTS = [aboutEndpoint, clusterHealth, clusterStats, clusterSettings, searchShards]
