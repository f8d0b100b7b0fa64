import { compileGlobs } from '../../lib/name-matching.ts'
import type { Kind } from '../../mapping/index.ts'
import { askedBy } from '../context.ts'
import { stringSchema } from '../openapi/schema.ts'
import { NODE_TABLES } from './cat-nodes.ts'
import {
  type CatColumn,
  formatByteCount,
  numberColumn,
  TABLE,
  TABLE_PARAMETERS,
  tableResponse,
  textColumn,
  textResponse,
} from './cat-table.ts'
import { healthOf, INFO } from './cluster.ts'
import { aliasesOf, callKinds, type EsEndpoint, indexName } from './endpoint.ts'
import { storeBytes, uuidOf } from './indices.ts'

const clockColumns = <Row>(now = new Date()): Record<'epoch' | 'timestamp', CatColumn<Row>> => ({
  epoch: {
    aliases: ['t', 'time'],
    doc: 'seconds since 1970-01-01 00:00:00',
    value: () => String(Math.floor(now.getTime() / 1_000)),
  },
  timestamp: {
    aliases: ['ts', 'hms', 'hhmmss'],
    doc: 'time in HH:MM:SS',
    value: () => now.toISOString().slice(11, 19),
  },
})

const catIndices: EsEndpoint = {
  paths: ['_cat/indices', '_cat/indices/{index}'],
  methods: ['GET'],
  doc: 'A line for each index, with documents and bytes.',
  limit: 'As text or JSON, with the default columns only.',
  parameters: [...TABLE_PARAMETERS, 'health', 'pri', 'include_unloaded_segments', 'expand_wildcards'],
  answers: { 200: TABLE },
  async handle(call) {
    const { c, service, network } = call
    const kinds = callKinds(call)
    const holdings = await service.holdings({ network, ...askedBy(c) })
    const size: CatColumn<Kind> = {
      ...{ aliases: ['ss', 'storeSize'], doc: 'store size of primaries & replicas', right: true },
      value: kind => formatByteCount(call, storeBytes(holdings, [kind])),
      order: kind => storeBytes(holdings, [kind]),
    }
    const columns: Record<string, CatColumn<Kind>> = {
      health: textColumn('current health status', 'green', ['h']),
      status: textColumn('open/close status', 'open', ['s']),
      index: { aliases: ['i', 'idx'], doc: 'index name', value: kind => indexName(call, kind) },
      uuid: { aliases: ['id'], doc: 'index uuid', value: kind => uuidOf(indexName(call, kind)) },
      pri: numberColumn('number of primary shards', 1, ['p', 'shards.primary', 'shardsPrimary']),
      rep: numberColumn('number of replica shards', 0, ['r', 'shards.replica', 'shardsReplica']),
      'docs.count': {
        ...{ aliases: ['dc', 'docsCount'], doc: 'available docs', right: true },
        value: kind => String(holdings.counts[kind]),
        order: kind => holdings.counts[kind],
      },
      'docs.deleted': numberColumn('deleted docs', 0, ['dd', 'docsDeleted']),
      'store.size': size,
      'pri.store.size': { ...size, aliases: [], doc: 'store size of primaries' },
    }
    const health = call.parameters.get('health') ?? 'green'
    return tableResponse(call, { columns, rows: health === 'green' ? kinds : [] })
  },
}

const catCount: EsEndpoint = {
  paths: ['_cat/count', '_cat/count/{index}'],
  methods: ['GET', 'POST'],
  doc: 'The number of documents.',
  parameters: TABLE_PARAMETERS,
  answers: { 200: TABLE },
  async handle(call) {
    const { c, service, network } = call
    const kinds = callKinds(call)
    const { counts } = await service.holdings({ network, ...askedBy(c) })
    const count = kinds.reduce((sum, kind) => sum + counts[kind], 0)
    const columns: Record<string, CatColumn<number>> = {
      ...clockColumns<number>(),
      count: { aliases: ['dc', 'docs.count', 'docsCount'], doc: 'the document count', value: String },
    }
    return tableResponse(call, { columns, rows: [count] })
  },
}

const catHealth: EsEndpoint = {
  paths: ['_cat/health'],
  methods: ['GET'],
  doc: 'The health of the cluster, in one line.',
  parameters: [...TABLE_PARAMETERS, 'ts'],
  answers: { 200: TABLE },
  handle(call) {
    const health = healthOf(callKinds(call).length)
    const shards = health.active_shards
    const columns: Record<string, CatColumn<unknown>> = {
      ...clockColumns(),
      cluster: textColumn('cluster name', INFO.cluster_name, ['cl']),
      status: textColumn('health status', health.status, ['st']),
      'node.total': numberColumn('total number of nodes', 1),
      'node.data': numberColumn('number of nodes that can store data', 1),
      shards: numberColumn('total number of shards', shards),
      pri: numberColumn('number of primary shards', shards),
      relo: numberColumn('number of relocating nodes', 0),
      init: numberColumn('number of initializing nodes', 0),
      unassign: numberColumn('number of unassigned shards', 0),
      pending_tasks: numberColumn('number of pending tasks', 0),
      max_task_wait_time: numberColumn('wait time of longest task pending', '-'),
      active_shards_percent: numberColumn('active number of shards in percent', '100.0%'),
    }
    return tableResponse(call, { columns, rows: [null] })
  },
}

const catAliases: EsEndpoint = {
  paths: ['_cat/aliases', '_cat/aliases/{names}'],
  methods: ['GET'],
  doc: 'A line for each alias.',
  parameters: [...TABLE_PARAMETERS, 'expand_wildcards'],
  answers: { 200: TABLE },
  handle(call) {
    const isWanted = compileGlobs(call.names.listed(call.path.get('names') ?? '*'))
    const rows = callKinds(call).flatMap(kind =>
      aliasesOf(call, kind)
        .filter(isWanted)
        .map(alias => ({ alias, index: indexName(call, kind) })),
    )
    const columns: Record<string, CatColumn<(typeof rows)[number]>> = {
      alias: { aliases: ['a'], doc: 'alias name', value: row => row.alias },
      index: { aliases: ['i', 'idx'], doc: 'index alias points to', value: row => row.index },
      filter: textColumn('filter', '-'),
      'routing.index': textColumn('index routing', '-'),
      'routing.search': textColumn('search routing', '-'),
      is_write_index: textColumn('write index', '-'),
    }
    return tableResponse(call, { columns, rows })
  },
}

const cat: EsEndpoint = {
  paths: ['_cat'],
  methods: ['GET'],
  doc: 'The names of these tables.',
  answers: { 200: { description: 'The names, as text.', content: { 'text/plain': stringSchema } } },
  handle: () => textResponse(`=^.^=\n${CAT_NAMES.map(name => `/_cat/${name}\n`).join('')}`),
}

const CAT_NAMES = ['aliases', 'allocation', 'count', 'health', 'indices', 'nodes', 'shards']

export const CAT = [catIndices, catCount, catHealth, catAliases, ...NODE_TABLES, cat]
