import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import type { Kind } from '../../mapping/index.ts'
import { INFO, ONLY_NODE, shardOf } from './cluster.ts'
import {
  aliasesOf,
  answeredName,
  callKinds,
  type EndpointCall,
  type EsEndpoint,
  jsonAnswer,
  OF_CLUSTER,
} from './endpoint.ts'
import { mappingOf, settingsAnswer } from './indices.ts'

const STATE_PARTS = ['version', 'master_node', 'blocks', 'nodes', 'metadata', 'routing_table', 'routing_nodes'] as const

const clusterState: EsEndpoint = {
  paths: ['_cluster/state', '_cluster/state/{names}', '_cluster/state/{names}/{index}'],
  methods: ['GET'],
  doc: 'The one node, and settings, mapping, aliases and shard of each index.',
  limit: 'Without the internals of coordination. `version` is always 1.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'wait_for_metadata_version', 'wait_for_timeout'],
  answers: 'ClusterState',
  handle(call) {
    const names = call.names.listed(call.path.get('names') ?? '_all')
    const unknown = names.find(name => name !== '_all' && !STATE_PARTS.some(it => it === name))
    if (unknown !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `request [${call.c.req.path}] contains unrecognized metric: [${unknown.slice(0, 80)}]${didYouMean(unknown, STATE_PARTS)}`,
      )
    const kinds = callKinds(call)
    const { cluster_name, cluster_uuid } = INFO
    return jsonAnswer({
      ...{ cluster_name, cluster_uuid },
      ...Object.assign(
        {},
        ...STATE_PARTS.filter(part => names.includes('_all') || names.includes(part)).map(part =>
          READ_STATE_PART[part](call, kinds),
        ),
      ),
    })
  },
}

const READ_STATE_PART: Record<(typeof STATE_PARTS)[number], (call: EndpointCall, kinds: readonly Kind[]) => object> = {
  version: () => ({ version: 1, state_uuid: INFO.cluster_uuid }),
  master_node: () => ({ master_node: ONLY_NODE.id }),
  blocks: () => ({ blocks: {} }),
  nodes: () => ({
    nodes: {
      [ONLY_NODE.id]: {
        ...{ name: ONLY_NODE.name, ephemeral_id: ONLY_NODE.id, transport_address: ONLY_NODE.ip, attributes: {} },
      },
    },
  }),
  metadata: (call, kinds) => ({
    metadata: {
      ...{ cluster_uuid: INFO.cluster_uuid, templates: {} },
      indices: byAnsweredName(call, kinds, kind => ({
        ...{ version: 1, state: 'open', settings: settingsAnswer(call, kind), mappings: { _doc: mappingOf(kind) } },
        aliases: aliasesOf(call, kind, answeredName(call, kind)),
      })),
    },
  }),
  routing_table: (call, kinds) => ({
    routing_table: { indices: byAnsweredName(call, kinds, kind => ({ shards: { 0: [shardOf(call, kind)] } })) },
  }),
  routing_nodes: (call, kinds) => ({
    routing_nodes: { unassigned: [], nodes: { [ONLY_NODE.id]: kinds.map(kind => shardOf(call, kind)) } },
  }),
}

const byAnsweredName = <T>(call: EndpointCall, kinds: readonly Kind[], make: (kind: Kind) => T): Record<string, T> =>
  Object.fromEntries(kinds.map(kind => [answeredName(call, kind), make(kind)]))

export const CLUSTER_STATES = [clusterState]
