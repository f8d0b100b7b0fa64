import { createHash } from 'node:crypto'
import { refuse } from '../../lib/errors.ts'
import { fittingAny } from '../../lib/wildcard.ts'
import type { Kind } from '../../mapping/index.ts'
import { ASKED_SHARDS, type Call, type Endpoint, told } from './endpoint.ts'
import { aliasesOf, byIndex, indexName, kindsOf } from './indexes.ts'
import { mappingsOf } from './mapping.ts'
import { isOn, OF_CLUSTER } from './parameters.ts'

/** An id that stays the same for an index of that name, in the form of Elasticsearch's. */
export const uuidOf = (name: string): string =>
  createHash('sha256').update(name).digest().subarray(0, 16).toString('base64url')

const settingsOf = (call: Call, kind: Kind) => {
  const name = indexName(call, kind)
  return {
    ...{ creation_date: '0', number_of_shards: '1', number_of_replicas: '0', uuid: uuidOf(name) },
    ...{ version: { created: '7170099' }, provided_name: name, blocks: { write: 'true' }, max_result_window: '10000' },
  }
}

/** Settings with their whole names, as `flat_settings` asks for them. */
const flattened = (settings: object, prefix: string): [string, unknown][] =>
  Object.entries(settings).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null ? flattened(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value]],
  )

const shownSettings = (call: Call, kind: Kind, isWanted: (name: string) => boolean = () => true) => {
  const wanted = flattened(settingsOf(call, kind), 'index.').filter(([name]) => isWanted(name))
  if (isOn(call, 'flat_settings')) return Object.fromEntries(wanted)
  const { version, blocks, ...plain } = Object.fromEntries(
    wanted.map(([name, value]) => {
      const [, first = '', second] = name.split('.')
      return [first, second === undefined ? value : { [second]: value }]
    }),
  )
  const index = { ...plain, ...(version !== undefined && { version }), ...(blocks !== undefined && { blocks }) }
  return Object.keys(index).length === 0 ? {} : { index }
}

const aliases = (call: Call, kind: Kind) => Object.fromEntries(aliasesOf(call, kind).map(name => [name, {}]))

export const indices: Endpoint = {
  paths: ['{index}'],
  methods: ['GET'],
  doc: 'Aliases, mapping and settings of indices; with HEAD, whether they exist.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'include_defaults', 'include_type_name', 'features'],
  handle: call =>
    told(
      byIndex(call, kind => ({
        aliases: aliases(call, kind),
        mappings: mappingsOf(call, kind),
        settings: shownSettings(call, kind),
      })),
    ),
}

export const settings: Endpoint = {
  paths: ['_settings', '_settings/{names}', '{index}/_settings', '{index}/_settings/{names}'],
  methods: ['GET'],
  doc: 'The settings of indices that clients read. None can be changed.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'include_defaults'],
  handle(call) {
    const names = call.names.listed(call.path.get('names') ?? '')
    const isWanted = names.length === 0 || names.includes('_all') ? undefined : fittingAny(names)
    return told(byIndex(call, kind => ({ settings: shownSettings(call, kind, isWanted) })))
  },
}

export const alias: Endpoint = {
  paths: ['_alias', '_alias/{names}', '{index}/_alias', '{index}/_alias/{names}', '_aliases', '{index}/_aliases'],
  methods: ['GET'],
  doc: 'Aliases: the name of the entity, and the name of the network for all of its entities.',
  parameters: OF_CLUSTER,
  handle(call) {
    const patterns = call.names.listed(call.path.get('names') ?? '*').map(name => (name === '_all' ? '*' : name))
    const isWanted = fittingAny(patterns)
    const found = kindsOf(call).map(kind => ({ kind, names: aliasesOf(call, kind).filter(isWanted) }))
    const missing = patterns.filter(name => !name.includes('*') && !found.some(({ names }) => names.includes(name)))
    if (missing.length > 0)
      throw refuse('aliases_not_found_exception', `alias [${missing.join(',').slice(0, 200)}] missing`)
    return told(
      Object.fromEntries(
        found
          .filter(({ names }) => names.length > 0)
          .map(({ kind, names }) => [
            indexName(call, kind),
            { aliases: Object.fromEntries(names.map(name => [name, {}])) },
          ]),
      ),
    )
  },
}

export const resolve: Endpoint = {
  paths: ['_resolve/index/{index}'],
  methods: ['GET'],
  doc: 'The indices and aliases that names and patterns match.',
  handle(call) {
    const found = kindsOf(call).map(kind => ({ name: indexName(call, kind), aliases: aliasesOf(call, kind) }))
    const names = [...new Set(found.flatMap(({ aliases }) => aliases))].sort()
    return told({
      indices: found.map(({ name, aliases }) => ({ name, aliases, attributes: ['open'] })),
      aliases: names.map(name => ({
        name,
        indices: found.filter(({ aliases }) => aliases.includes(name)).map(it => it.name),
      })),
      data_streams: [],
    })
  },
}

export const refresh: Endpoint = {
  paths: ['_refresh', '{index}/_refresh'],
  methods: ['GET', 'POST'],
  doc: 'Does nothing: a block can be searched as soon as it is stored.',
  handle(call) {
    kindsOf(call)
    return told({ _shards: ASKED_SHARDS })
  },
}
