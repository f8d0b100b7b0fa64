import { refuse } from '../../lib/errors.ts'
import { compileGlob, compileGlobs, didYouMean } from '../../lib/name-matching.ts'
import type { Kind } from '../../mapping/index.ts'
import { PRODUCT } from '../answer.ts'
import { askedBy, header } from '../context.ts'
import { type DescribedAnswer, JSON_BODY, schemaRef, stringSchema } from '../openapi/schema.ts'
import { healthOf, INFO } from './cluster.ts'
import {
  aliasesOf,
  callKinds,
  type EndpointCall,
  type EsEndpoint,
  indexName,
  isOn,
  type JsonAnswer,
  jsonAnswer,
} from './endpoint.ts'
import { storeBytes, uuidOf } from './indices.ts'

interface CatTable<Row> {
  columns: Record<string, CatColumn<Row>>
  rows: readonly Row[]
}

interface CatColumn<Row> {
  /** Shorter names that `h` takes, too. */
  aliases?: readonly string[]
  doc: string
  /** Numbers stand to the right. */
  right?: boolean
  value(row: Row): string | null
  /** Sort key, if it is not the text. */
  order?(row: Row): number
}

const TABLE_PARAMETERS = ['format', 'h', 's', 'v', 'help', 'bytes', 'time', 'local', 'master_timeout'] as const

const tableResponse = <Row>(call: EndpointCall, { columns, rows }: CatTable<Row>): JsonAnswer | Response => {
  const all = Object.entries(columns)
  if (isOn(call, 'help'))
    return textResponse(alignCells(all.map(([name, { aliases = [], doc }]) => [name, aliases.join(','), doc])))
  const shown = chosenColumns(call, all)
  const sorted = sortRows(call, all, rows)
  if (wantsJson(call))
    return jsonAnswer(sorted.map(row => Object.fromEntries(shown.map(([name, { value }]) => [name, value(row)]))))
  const head = isOn(call, 'v') ? [shown.map(([name]) => name)] : []
  const lines = sorted.map(row => shown.map(([, { value }]) => value(row) ?? ''))
  return textResponse(
    alignCells(
      [...head, ...lines],
      shown.map(([, { right = false }]) => right),
    ),
  )
}

type NamedColumn<Row> = readonly [name: string, column: CatColumn<Row>]

const chosenColumns = <Row>(
  { parameters, names }: EndpointCall,
  all: readonly NamedColumn<Row>[],
): NamedColumn<Row>[] => {
  const wanted = names.listed(parameters.get('h') ?? '')
  if (wanted.length === 0) return [...all]
  return wanted.flatMap((name): NamedColumn<Row>[] => {
    const fits = compileGlob(name)
    if (name.includes('*')) return all.filter(([known]) => fits(known))
    const [, column] = columnNamed(name, all) ?? []
    // Elasticsearch shows the name that was asked for, and leaves out what it does not know.
    return column ? [[name, column]] : []
  })
}

const columnNamed = <Row>(name: string, all: readonly NamedColumn<Row>[]): NamedColumn<Row> | undefined =>
  all.find(([known, { aliases = [] }]) => known === name || aliases.includes(name))

const sortRows = <Row>(
  { parameters, names }: EndpointCall,
  all: readonly NamedColumn<Row>[],
  rows: readonly Row[],
): readonly Row[] => {
  const keys = names.listed(parameters.get('s') ?? '').map(key => {
    const [name = '', order = 'asc'] = key.split(':')
    const [, column] = columnNamed(name, all) ?? []
    if (!column)
      throw refuse(
        'unsupported_operation_exception',
        `Unable to sort by unknown sort key \`${name.slice(0, 80)}\`${didYouMean(
          name,
          all.map(([known]) => known),
        )}`,
      )
    return { column, sign: order === 'desc' ? -1 : 1 }
  })
  if (keys.length === 0) return rows
  return rows.toSorted((a, b) => {
    for (const { column, sign } of keys) {
      const { order, value } = column
      const [x, y] = order ? [order(a), order(b)] : [value(a) ?? '', value(b) ?? '']
      if (x !== y) return x < y ? -sign : sign
    }
    return 0
  })
}

/** By the parameter, or else by what the client accepts, where that is not text. */
const wantsJson = ({ c, parameters }: EndpointCall): boolean => {
  const format = parameters.get('format')
  if (format !== undefined && format !== '') {
    if (format === 'json' || /^application\/(.*\+)?json/.test(format)) return true
    if (format === 'text' || format.startsWith('text/plain')) return false
    throw refuse(
      'illegal_argument_exception',
      `The format [${format.slice(0, 50)}] is not supported: ask for json or text.`,
    )
  }
  const accepted = header(c, 'accept') ?? ''
  return !accepted.includes('text/plain') && /application\/(\S*\+)?json/.test(accepted)
}

const alignCells = (lines: readonly (readonly string[])[], right: readonly boolean[] = []): string => {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map(line => line[i]!.length)))
  return lines
    .map(line => {
      const cells = line.map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      return `${cells.join(' ').trimEnd()}\n`
    })
    .join('')
}

const textResponse = (body: string): Response =>
  new Response(body, { headers: { ...PRODUCT, 'content-type': 'text/plain; charset=UTF-8' } })

export const CAT_BYTE_UNITS = new Map([
  ['b', 1],
  ['kb', 2 ** 10],
  ['mb', 2 ** 20],
  ['gb', 2 ** 30],
  ['tb', 2 ** 40],
])

/** Bytes as Elasticsearch writes them: `2.3mb`, or a number alone in the unit that is asked for. */
const formatByteCount = ({ parameters }: EndpointCall, bytes: number): string => {
  const given = parameters.get('bytes')
  if (given !== undefined && given !== '') {
    const unit = CAT_BYTE_UNITS.get(given)
    if (unit === undefined)
      throw refuse(
        'illegal_argument_exception',
        `The unit of bytes [${given.slice(0, 50)}] is not supported: b, kb, mb, gb, tb.`,
      )
    return String(Math.floor(bytes / unit))
  }
  const [name, unit] = [...CAT_BYTE_UNITS].findLast(([, size]) => bytes >= size) ?? ['b', 1]
  return `${String(Math.floor((bytes / unit) * 10) / 10)}${name}`
}

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

const TABLE: DescribedAnswer = {
  description: 'A table: as text, or as JSON with `format=json`.',
  content: { 'text/plain': stringSchema, [JSON_BODY]: schemaRef('Table') },
}

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
      health: { aliases: ['h'], doc: 'current health status', value: () => 'green' },
      status: { aliases: ['s'], doc: 'open/close status', value: () => 'open' },
      index: { aliases: ['i', 'idx'], doc: 'index name', value: kind => indexName(call, kind) },
      uuid: { aliases: ['id'], doc: 'index uuid', value: kind => uuidOf(indexName(call, kind)) },
      pri: {
        aliases: ['p', 'shards.primary', 'shardsPrimary'],
        doc: 'number of primary shards',
        right: true,
        value: () => '1',
      },
      rep: {
        aliases: ['r', 'shards.replica', 'shardsReplica'],
        doc: 'number of replica shards',
        right: true,
        value: () => '0',
      },
      'docs.count': {
        ...{ aliases: ['dc', 'docsCount'], doc: 'available docs', right: true },
        value: kind => String(holdings.counts[kind]),
        order: kind => holdings.counts[kind],
      },
      'docs.deleted': { aliases: ['dd', 'docsDeleted'], doc: 'deleted docs', right: true, value: () => '0' },
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
    const number = (doc: string, value: string): CatColumn<null> => ({ doc, right: true, value: () => value })
    const shards = String(health.active_shards)
    const columns: Record<string, CatColumn<null>> = {
      ...clockColumns<null>(),
      cluster: { aliases: ['cl'], doc: 'cluster name', value: () => INFO.cluster_name },
      status: { aliases: ['st'], doc: 'health status', value: () => health.status },
      'node.total': number('total number of nodes', '1'),
      'node.data': number('number of nodes that can store data', '1'),
      shards: number('total number of shards', shards),
      pri: number('number of primary shards', shards),
      relo: number('number of relocating nodes', '0'),
      init: number('number of initializing nodes', '0'),
      unassign: number('number of unassigned shards', '0'),
      pending_tasks: number('number of pending tasks', '0'),
      max_task_wait_time: number('wait time of longest task pending', '-'),
      active_shards_percent: number('active number of shards in percent', '100.0%'),
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
    const none = (doc: string) => ({ doc, value: () => '-' })
    const columns: Record<string, CatColumn<(typeof rows)[number]>> = {
      alias: { aliases: ['a'], doc: 'alias name', value: row => row.alias },
      index: { aliases: ['i', 'idx'], doc: 'index alias points to', value: row => row.index },
      filter: none('filter'),
      'routing.index': none('index routing'),
      'routing.search': none('search routing'),
      is_write_index: none('write index'),
    }
    return tableResponse(call, { columns, rows })
  },
}

const cat: EsEndpoint = {
  paths: ['_cat'],
  methods: ['GET'],
  doc: 'The names of these tables.',
  answers: { 200: { description: 'The names, as text.', content: { 'text/plain': stringSchema } } },
  handle: () =>
    textResponse(`=^.^=\n${['aliases', 'count', 'health', 'indices'].map(name => `/_cat/${name}\n`).join('')}`),
}

export const CAT = [catIndices, catCount, catHealth, catAliases, cat]
