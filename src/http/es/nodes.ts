import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { KINDS } from '../../mapping/index.ts'
import type { Holdings } from '../../search/service.ts'
import { askedBy } from '../context.ts'
import { orError } from '../openapi/schema.ts'
import { INFO, ONLY_NODE } from './cluster.ts'
import { type EndpointCall, type EsEndpoint, type JsonAnswer, jsonAnswer, OF_CLUSTER } from './endpoint.ts'

const ROLES = ['data', 'ingest', 'master']

const nodesAnswer = (isThere: boolean, node: object): JsonAnswer => {
  const count = isThere ? 1 : 0
  return jsonAnswer({
    _nodes: { total: count, successful: count, failed: 0 },
    cluster_name: INFO.cluster_name,
    nodes: isThere ? { [ONLY_NODE.id]: node } : {},
  })
}

const nodes: EsEndpoint = {
  paths: ['_nodes', '_nodes/{names}', '_nodes/{name}/{names}'],
  methods: ['GET'],
  doc: 'The one node, without its address, because clients that sniff would drop the path: turn sniffing off.',
  parameters: [...OF_CLUSTER, 'flat_settings'],
  answers: 'Nodes',
  handle(call) {
    checkNodeNames(call)
    return nodesAnswer(true, {
      ...{ name: ONLY_NODE.name, host: ONLY_NODE.ip, ip: ONLY_NODE.ip, version: INFO.version.number },
      ...{ build_flavor: INFO.version.build_flavor, build_type: 'unknown', build_hash: 'unknown' },
      ...{ roles: ROLES, attributes: {} },
    })
  },
}

const NODE_PARTS = ['http', 'transport', 'settings', 'os', 'process', 'plugins', 'ingest']
const NODE_NAMES = ['_all', '_local', '_master', '*', ONLY_NODE.id]

/** Whether a list of names has the node. */
export const isNodeNamed = (names: readonly string[]): boolean => names.some(name => NODE_NAMES.includes(name))

/** Checks names of nodes and of their parts; there is one node. */
const checkNodeNames = ({ path, names }: EndpointCall): void => {
  const named = ['name', 'names'].flatMap(name => names.listed(path.get(name) ?? ''))
  const unknown = named.find(name => !NODE_NAMES.includes(name) && !NODE_PARTS.includes(name))
  if (unknown === undefined) return
  throw refuse(
    'illegal_argument_exception',
    `The endpoint [_nodes/${unknown.slice(0, 80)}] is not supported. Figures of the node are at _nodes/stats.`,
  )
}

/** Whether the caller may see figures of the machine, which other accounts and programs share. */
export const seesMachine = ({ c }: EndpointCall): boolean => c.get('account').scopes.has('admin')

/** Figures of the process and its machine; memory and loads as Elasticsearch names them. */
export const readFigures = () => {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const uptime = process.uptime()
  const [total, free] = [totalmem(), freemem()]
  return {
    ...{ rss, uptime, processorSeconds: (user + system) / 1e6, load: loadavg() },
    heap: {
      used: heapUsed,
      most: getHeapStatistics().heap_size_limit,
      percent: wholePercent(heapUsed, getHeapStatistics().heap_size_limit),
    },
    memory: { total, free, percent: wholePercent(total - free, total) },
    /** Of all processors, since the process started. */
    processorPercent: wholePercent((user + system) / 1e6, uptime * availableParallelism()),
  }
}

const wholePercent = (part: number, whole: number): number => Math.min(100, Math.round((100 * part) / whole))

const SECTIONS = ['indices', 'os', 'process', 'jvm', 'thread_pool', 'fs', 'breaker'] as const
const OTHER_SECTIONS = [
  '_all',
  'transport',
  'http',
  'script',
  'discovery',
  'ingest',
  'adaptive_selection',
  'indexing_pressure',
]

const nodeStats: EsEndpoint = {
  paths: [
    ...['_nodes/stats', '_nodes/stats/{names}', '_nodes/stats/{names}/{metrics}'],
    ...['_nodes/{name}/stats', '_nodes/{name}/stats/{names}', '_nodes/{name}/stats/{names}/{metrics}'],
  ],
  methods: ['GET'],
  doc: 'Figures of the one node: documents, memory, processor, disk.',
  limit:
    '`os` and `fs` are empty without the scope `admin`. `jvm` is the heap of the main thread, and `percent` of the processor an average since the start. Thread pools, breakers and caches are empty.',
  parameters: [
    ...OF_CLUSTER,
    'level',
    'types',
    'groups',
    'fields',
    'completion_fields',
    'fielddata_fields',
    'include_segment_file_sizes',
    'include_unloaded_segments',
  ],
  answers: 'Nodes',
  async handle(call) {
    const { c, path, names, service, network } = call
    const sections = names.listed(path.get('names') ?? '_all')
    const unknown = sections.find(name => ![...SECTIONS, ...OTHER_SECTIONS].some(it => it === name))
    if (unknown !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `request [${c.req.path}] contains unrecognized metric: [${unknown.slice(0, 80)}]${didYouMean(unknown, SECTIONS)}`,
      )
    const isThere = isNodeNamed(names.listed(path.get('name') ?? '_all'))
    const holdings = await service.holdings({ network, ...askedBy(c) })
    const figures = nodeSections(holdings, seesMachine(call))
    const shown = SECTIONS.filter(name => sections.includes('_all') || sections.includes(name))
    return nodesAnswer(isThere, {
      ...{ timestamp: Date.now(), name: ONLY_NODE.name, transport_address: ONLY_NODE.ip, host: ONLY_NODE.ip },
      ...{ ip: ONLY_NODE.ip, roles: ROLES, attributes: {} },
      ...Object.fromEntries(shown.map(name => [name === 'breaker' ? 'breakers' : name, figures[name]])),
    })
  },
}

const nodeSections = (holdings: Holdings, withMachine: boolean): Record<(typeof SECTIONS)[number], object> => {
  const { rss, uptime, processorSeconds, load, heap, memory, processorPercent } = readFigures()
  const timestamp = Date.now()
  const { size, free } = holdings.disk ?? {}
  const disk =
    withMachine && size !== undefined
      ? { total_in_bytes: size, free_in_bytes: free, available_in_bytes: free }
      : undefined
  return {
    indices: {
      docs: { count: KINDS.reduce((sum, kind) => sum + holdings.counts[kind], 0), deleted: 0 },
      store: { size_in_bytes: holdings.bytes, total_data_set_size_in_bytes: holdings.bytes, reserved_in_bytes: 0 },
    },
    os: withMachine
      ? {
          timestamp,
          cpu: { load_average: { '1m': load[0], '5m': load[1], '15m': load[2] } },
          mem: {
            ...{ total_in_bytes: memory.total, free_in_bytes: memory.free, used_in_bytes: memory.total - memory.free },
            ...{ free_percent: 100 - memory.percent, used_percent: memory.percent },
          },
        }
      : { timestamp },
    process: {
      timestamp,
      cpu: { percent: processorPercent, total_in_millis: Math.round(processorSeconds * 1_000) },
      mem: { total_virtual_in_bytes: rss },
    },
    jvm: {
      ...{ timestamp, uptime_in_millis: Math.round(uptime * 1_000) },
      mem: {
        ...{ heap_used_in_bytes: heap.used, heap_used_percent: heap.percent, heap_max_in_bytes: heap.most },
        pools: {},
      },
      gc: { collectors: {} },
      buffer_pools: {},
    },
    thread_pool: {},
    fs: { timestamp, total: disk ?? {}, data: disk ? [{ path: 'data', mount: 'data', type: '', ...disk }] : [] },
    breaker: {},
  }
}

const tasks: EsEndpoint = {
  paths: ['_tasks'],
  methods: ['GET'],
  doc: 'Always empty: there are no tasks, since every request is answered on its own connection.',
  parameters: ['actions', 'detailed', 'group_by', 'nodes', 'parent_task_id', 'wait_for_completion', 'timeout'],
  answers: 'Tasks',
  handle({ parameters }) {
    const by = parameters.get('group_by') ?? 'nodes'
    if (by === 'nodes' || by === 'parents' || by === 'none')
      return jsonAnswer(by === 'nodes' ? { nodes: {} } : { tasks: by === 'none' ? [] : {} })
    throw refuse(
      'illegal_argument_exception',
      `The URL parameter [group_by] is [nodes], [parents] or [none], and not [${by.slice(0, 50)}].`,
    )
  },
}

const task: EsEndpoint = {
  paths: ['_tasks/{id}'],
  methods: ['GET'],
  doc: 'Always 404: there are no tasks.',
  parameters: ['wait_for_completion', 'timeout'],
  answers: { 404: orError('Error', 'It is not there.') },
  handle({ path }) {
    throw refuse(
      'resource_not_found_exception',
      `task [${path.get('id')!.slice(0, 80)}] isn't running and hasn't stored its results`,
    )
  },
}

export const NODE_ENDPOINTS = [nodes, nodeStats, tasks, task]
