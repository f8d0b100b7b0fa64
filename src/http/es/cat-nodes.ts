import type { Kind } from '../../mapping/index.ts'
import { askedBy } from '../context.ts'
import {
  type CatColumn,
  formatByteCount,
  numberColumn,
  TABLE,
  TABLE_PARAMETERS,
  tableResponse,
  textColumn,
} from './cat-table.ts'
import { ONLY_NODE } from './cluster.ts'
import { callKinds, type EsEndpoint, indexName } from './endpoint.ts'
import { storeBytes } from './indices.ts'
import { isNodeNamed, readFigures, seesMachine } from './nodes.ts'

/** Tables of the one node and of its shards, of which each index has one. */

const catShards: EsEndpoint = {
  paths: ['_cat/shards', '_cat/shards/{index}'],
  methods: ['GET'],
  doc: 'A line for each index, which is one shard.',
  parameters: TABLE_PARAMETERS,
  answers: { 200: TABLE },
  async handle(call) {
    const { c, service, network } = call
    const kinds = callKinds(call)
    const holdings = await service.holdings({ network, ...askedBy(c) })
    const columns: Record<string, CatColumn<Kind>> = {
      index: { aliases: ['i', 'idx'], doc: 'index name', value: kind => indexName(call, kind) },
      shard: textColumn('shard name', '0', ['s', 'sh']),
      prirep: textColumn('primary or replica', 'p', ['p', 'pr', 'primaryOrReplica']),
      state: textColumn('shard state', 'STARTED', ['st']),
      docs: {
        ...{ aliases: ['d', 'dc'], doc: 'number of docs in shard', right: true },
        value: kind => String(holdings.counts[kind]),
        order: kind => holdings.counts[kind],
      },
      store: {
        ...{ aliases: ['sto'], doc: 'store size of shard (how much disk it uses)', right: true },
        value: kind => formatByteCount(call, storeBytes(holdings, [kind])),
        order: kind => storeBytes(holdings, [kind]),
      },
      ip: textColumn('ip of node where it lives', ONLY_NODE.ip),
      node: textColumn('name of node where it lives', ONLY_NODE.name, ['n']),
    }
    return tableResponse(call, { columns, rows: kinds })
  },
}

const catNodes: EsEndpoint = {
  paths: ['_cat/nodes'],
  methods: ['GET'],
  doc: 'The one node, in one line.',
  limit:
    '`heap.percent` is that of the main thread, `cpu` an average since the start. Memory and loads of the machine need the scope `admin`.',
  parameters: [...TABLE_PARAMETERS, 'full_id', 'include_unloaded_segments'],
  answers: { 200: TABLE },
  handle(call) {
    const { heap, memory, processorPercent, load } = readFigures()
    const isSeen = seesMachine(call)
    const loads = load.map(one => (isSeen ? Math.round(one * 100) / 100 : null))
    const columns: Record<string, CatColumn<unknown>> = {
      ip: textColumn('ip address', ONLY_NODE.ip, ['i']),
      'heap.percent': numberColumn('used heap ratio', heap.percent, ['hp', 'heapPercent']),
      'ram.percent': numberColumn('used machine memory ratio', isSeen ? memory.percent : null, ['rp', 'ramPercent']),
      cpu: numberColumn('recent cpu usage', processorPercent),
      load_1m: numberColumn('1m load avg', loads[0]!, ['l']),
      load_5m: numberColumn('5m load avg', loads[1]!, ['l']),
      load_15m: numberColumn('15m load avg', loads[2]!, ['l']),
      'node.role': textColumn('roles of the node', 'dim', ['r', 'role', 'nodeRole']),
      master: textColumn('*:current master', '*', ['m']),
      name: textColumn('node name', ONLY_NODE.name, ['n']),
    }
    return tableResponse(call, { columns, rows: [null] })
  },
}

const catAllocation: EsEndpoint = {
  paths: ['_cat/allocation', '_cat/allocation/{name}'],
  methods: ['GET'],
  doc: 'Shards and disk of the one node. The disk is that of the file of the network.',
  limit: 'The disk needs the scope `admin`.',
  parameters: TABLE_PARAMETERS,
  answers: { 200: TABLE },
  async handle(call) {
    const { c, service, network, path, names } = call
    const holdings = await service.holdings({ network, ...askedBy(c) })
    const disk = seesMachine(call) ? holdings.disk : undefined
    const size = (doc: string, value: number | undefined, aliases: readonly string[]): CatColumn<unknown> => ({
      ...{ aliases, doc, right: true, value: () => (value === undefined ? null : formatByteCount(call, value)) },
    })
    const used = disk && disk.size - disk.free
    const percent = disk && used !== undefined ? Math.round((100 * used) / disk.size) : null
    const columns: Record<string, CatColumn<unknown>> = {
      shards: numberColumn('number of shards on node', callKinds(call).length, ['s']),
      'disk.indices': size('disk used by ES indices', holdings.bytes, ['di', 'diskIndices']),
      'disk.used': size('disk used (total, not just ES)', used, ['du', 'diskUsed']),
      'disk.avail': size('disk available', disk?.free, ['da', 'diskAvail']),
      'disk.total': size('total capacity of all volumes', disk?.size, ['dt', 'diskTotal']),
      'disk.percent': numberColumn('percent disk used', percent, ['dp', 'diskPercent']),
      host: textColumn('host of node', ONLY_NODE.ip, ['h']),
      ip: textColumn('ip of node', ONLY_NODE.ip),
      node: textColumn('name of node', ONLY_NODE.name, ['n']),
    }
    const isThere = isNodeNamed(names.listed(path.get('name') ?? '_all'))
    return tableResponse(call, { columns, rows: isThere ? [null] : [] })
  },
}

export const NODE_TABLES = [catShards, catNodes, catAllocation]
