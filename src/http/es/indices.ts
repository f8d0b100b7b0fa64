import { createHash } from 'node:crypto'
import { refuse } from '../../lib/errors.ts'
import { compileGlobs } from '../../lib/name-matching.ts'
import { overLimit } from '../../limits/index.ts'
import { type FieldPath, KINDS, type Kind, lookup } from '../../mapping/index.ts'
import { type Declare, declared, mappingProperties, type Properties, pathsIn } from '../../mapping/properties.ts'
import { elements, toScalar } from '../../query/json-node.ts'
import { asText, optionalKey, SCHEMAS, schemaOf } from '../../query/keys.ts'
import { analyzeText as words } from '../../query/text/analysis.ts'
import type { Holdings } from '../../search/service.ts'
import { askedBy } from '../context.ts'
import {
  ASKED_SHARDS,
  aliasesOf,
  answeredName,
  BODY_PARAMETERS,
  byIndex,
  callKinds,
  type EndpointCall,
  type EsEndpoint,
  indexName,
  indexNames,
  isOn,
  jsonAnswer,
  keysOf,
  OF_CLUSTER,
} from './endpoint.ts'

/** Derives a stable id from an index name, in Elasticsearch's form. */
export const uuidOf = (name: string): string =>
  createHash('sha256').update(name).digest().subarray(0, 16).toString('base64url')

const indexSettings = (call: EndpointCall, kind: Kind) => {
  const name = indexName(call, kind)
  return {
    ...{ creation_date: '0', number_of_shards: '1', number_of_replicas: '0', uuid: uuidOf(name) },
    ...{ version: { created: '7170099' }, provided_name: name, max_result_window: '10000' },
  }
}

/** Settings with their whole names, as `flat_settings` asks for them. */
const flattened = (settings: object, prefix: string): [string, unknown][] =>
  Object.entries(settings).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null ? flattened(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value]],
  )

export const settingsAnswer = (call: EndpointCall, kind: Kind, isWanted: (name: string) => boolean = () => true) => {
  const wanted = flattened(indexSettings(call, kind), 'index.').filter(([name]) => isWanted(name))
  if (isOn(call, 'flat_settings')) return Object.fromEntries(wanted)
  const { version, ...plain } = Object.fromEntries(
    wanted.map(([name, value]) => {
      const [, first = '', second] = name.split('.')
      return [first, second === undefined ? value : { [second]: value }]
    }),
  )
  const index = { ...plain, ...(version !== undefined && { version }) }
  return Object.keys(index).length === 0 ? {} : { index }
}

const aliases = (call: EndpointCall, kind: Kind) =>
  Object.fromEntries(aliasesOf(call, kind, answeredName(call, kind)).map(name => [name, {}]))

const indices: EsEndpoint = {
  paths: ['{index}'],
  methods: ['GET'],
  doc: 'Aliases, mapping and settings of indices; with HEAD, whether they exist.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'include_defaults', 'include_type_name', 'features'],
  answers: 'ByIndex',
  handle: call =>
    jsonAnswer(
      byIndex(call, kind => ({
        aliases: aliases(call, kind),
        mappings: mappingsOf(call, kind),
        settings: settingsAnswer(call, kind),
      })),
    ),
}

const settings: EsEndpoint = {
  paths: ['_settings', '_settings/{names}', '{index}/_settings', '{index}/_settings/{names}'],
  methods: ['GET'],
  doc: 'The settings of indices that clients read. None can be changed.',
  parameters: [...OF_CLUSTER, 'flat_settings', 'include_defaults'],
  answers: 'ByIndex',
  handle(call) {
    const names = call.names.listed(call.path.get('names') ?? '')
    const isWanted = names.length === 0 || names.includes('_all') ? undefined : compileGlobs(names)
    return jsonAnswer(byIndex(call, kind => ({ settings: settingsAnswer(call, kind, isWanted) })))
  },
}

const alias: EsEndpoint = {
  paths: ['_alias', '_alias/{names}', '{index}/_alias', '{index}/_alias/{names}', '_aliases', '{index}/_aliases'],
  methods: ['GET'],
  doc: 'Aliases: the name of the entity, and the name of the network for all of its entities.',
  parameters: OF_CLUSTER,
  answers: 'ByIndex',
  handle(call) {
    const patterns = call.names.listed(call.path.get('names') ?? '*').map(name => (name === '_all' ? '*' : name))
    const isWanted = compileGlobs(patterns)
    const found = callKinds(call).map(kind => ({
      kind,
      names: aliasesOf(call, kind, answeredName(call, kind)).filter(isWanted),
    }))
    const missing = patterns.filter(name => !name.includes('*') && !found.some(({ names }) => names.includes(name)))
    if (missing.length > 0)
      throw refuse('aliases_not_found_exception', `alias [${missing.join(',').slice(0, 200)}] missing`)
    return jsonAnswer(
      Object.fromEntries(
        found
          .filter(({ names }) => names.length > 0)
          .map(({ kind, names }) => [
            answeredName(call, kind),
            { aliases: Object.fromEntries(names.map(name => [name, {}])) },
          ]),
      ),
    )
  },
}

const resolve: EsEndpoint = {
  paths: ['_resolve/index/{index}'],
  methods: ['GET'],
  doc: 'The indices and aliases that names and patterns match.',
  answers: 'ResolvedIndexes',
  handle(call) {
    const found = callKinds(call).map(kind => ({ name: indexName(call, kind), aliases: aliasesOf(call, kind) }))
    const names = [...new Set(found.flatMap(({ aliases }) => aliases))].sort()
    return jsonAnswer({
      indices: found.map(({ name, aliases }) => ({ name, aliases, attributes: ['open'] })),
      aliases: names.map(name => ({
        name,
        indices: found.filter(({ aliases }) => aliases.includes(name)).map(it => it.name),
      })),
      data_streams: [],
    })
  },
}

const refresh: EsEndpoint = {
  paths: ['_refresh', '{index}/_refresh'],
  methods: ['GET', 'POST'],
  doc: 'Does nothing: a block can be searched as soon as it is stored.',
  answers: 'Shards',
  handle(call) {
    callKinds(call)
    return jsonAnswer({ _shards: ASKED_SHARDS })
  },
}

/** All kinds share one file: each gets bytes in proportion to its documents. */
export const storeBytes = ({ counts, bytes }: Holdings, kinds: readonly Kind[]): number => {
  const all = KINDS.reduce((sum, kind) => sum + counts[kind], 0)
  const own = kinds.reduce((sum, kind) => sum + counts[kind], 0)
  return all === 0 ? 0 : Math.round((bytes * own) / all)
}

const METRICS = ['_all', 'docs', 'store'] as const

/** The requested metrics; all without a name. */
const metricsOf = ({ c, path, names }: EndpointCall): readonly string[] => {
  const metrics = names.listed(path.get('names') ?? '_all')
  const unknown = metrics.find(name => !METRICS.some(it => it === name))
  if (unknown === undefined) return metrics
  throw refuse(
    'illegal_argument_exception',
    `request [${c.req.path}] contains unrecognized metric: [${unknown.slice(0, 80)}]. Supported are docs and store.`,
  )
}

const statsEndpoint: EsEndpoint = {
  paths: ['_stats', '_stats/{names}', '{index}/_stats', '{index}/_stats/{names}'],
  methods: ['GET'],
  doc: 'The number of documents and bytes of each index.',
  limit: 'Only `docs` and `store`. All indices share one file; each is credited with its share of the documents.',
  parameters: ['level', 'include_unloaded_segments', 'forbid_closed_indices', 'completion_fields', 'fielddata_fields'],
  answers: 'Statistics',
  async handle(call) {
    const { c, service, network } = call
    const kinds = callKinds(call)
    const holdings = await service.holdings({ network, ...askedBy(c) })
    const names = metricsOf(call)
    const wants = (name: string) => names.includes('_all') || names.includes(name)
    const of = (some: readonly Kind[]) => {
      const size = storeBytes(holdings, some)
      const one = {
        ...(wants('docs') && { docs: { count: some.reduce((sum, it) => sum + holdings.counts[it], 0), deleted: 0 } }),
        ...(wants('store') && {
          store: { size_in_bytes: size, total_data_set_size_in_bytes: size, reserved_in_bytes: 0 },
        }),
      }
      return { primaries: one, total: one }
    }
    return jsonAnswer({
      _shards: { ...ASKED_SHARDS, total: kinds.length, successful: kinds.length },
      _all: of(kinds),
      indices: Object.fromEntries(
        kinds.map(kind => {
          return [answeredName(call, kind), { uuid: uuidOf(indexName(call, kind)), ...of([kind]) }]
        }),
      ),
    })
  },
}

/**
 * OpenSearch calls `flattened` `flat_object`, and clients fail on the other's name; both know
 * `object`. `_field_caps` names the exact type, since clients read it as plain text.
 */
const mappingAnswer: Declare = (field, encoding) =>
  encoding.es === 'flattened' ? { type: 'object' } : declared(field, encoding)

/**
 * Texts have their sub-field `raw` as `keyword` too, as Elasticsearch names it where strings have no
 * mapping: eland aggregates texts by no other name.
 */
const withKeywords = (all: Properties): Properties =>
  Object.fromEntries(
    Object.entries(all).map(([name, { properties, fields, ...rest }]) => {
      const below = fields?.raw ? { ...fields, keyword: fields.raw } : fields
      const inner = properties && withKeywords(properties)
      return [name, { ...rest, ...(inner && { properties: inner }), ...(below && { fields: below }) }]
    }),
  )

const shownProperties = (kind: Kind, declare: Declare): Properties => withKeywords(mappingProperties(kind, declare))

export const mappingOf = (kind: Kind) => ({ properties: shownProperties(kind, mappingAnswer) })

/** Names that queries take for a field, but whole mappings leave out: `hash.keyword`, `value.eth`. */
const otherNames = (kind: Kind, patterns: readonly string[]): [name: string, path: FieldPath][] =>
  patterns.flatMap((name): [string, FieldPath][] => {
    const path = /\.(keyword|eth)$/.test(name) ? lookup(kind, name) : undefined
    return path === undefined || path.path === name ? [] : [[name, path]]
  })

/** `mappings` as version 7 shows them, or as version 6 did, by the document type. */
const mappingsOf = (call: EndpointCall, kind: Kind): unknown => {
  const mapping = mappingOf(kind)
  return isTyped(call) ? { [kind]: mapping } : mapping
}

const isTyped = (call: EndpointCall): boolean =>
  call.parameters.has('include_type_name') ? isOn(call, 'include_type_name') : call.path.has('type')

const PARAMETERS = [...OF_CLUSTER, 'include_type_name', 'include_defaults'] as const

const mapping: EsEndpoint = {
  paths: [
    ...['_mapping', '_mappings', '_mapping/_all', '_mapping/{type}'],
    ...['{index}/_mapping', '{index}/_mappings', '{index}/_mapping/_all', '{index}/_mapping/{type}'],
    '{index}/{type}/_mapping',
  ],
  methods: ['GET'],
  doc: 'The mapping of each index; by document type, as in version 6, with `include_type_name` or a type in the path.',
  parameters: PARAMETERS,
  several: true,
  answers: 'ByIndex',
  handle: call => jsonAnswer(byIndex(call, kind => ({ mappings: mappingsOf(call, kind) }))),
}

const fieldMapping: EsEndpoint = {
  paths: [
    ...['_mapping/field/{names}', '_mapping/{type}/field/{names}'],
    ...['{index}/_mapping/field/{names}', '{index}/_mapping/{type}/field/{names}'],
  ],
  methods: ['GET'],
  doc: 'The mapping of single fields.',
  parameters: PARAMETERS,
  several: true,
  answers: 'ByIndex',
  handle(call) {
    const names = call.names.listed(call.path.get('names')!)
    const isWanted = compileGlobs(names)
    return jsonAnswer(
      byIndex(call, kind => {
        const fields = Object.fromEntries(
          pathsIn(shownProperties(kind, mappingAnswer))
            .filter(([path, { type }]) => type !== undefined && type !== 'nested' && isWanted(path))
            .map(([path, { fields: _, ...property }]) => [
              path,
              { full_name: path, mapping: { [path.slice(path.lastIndexOf('.') + 1)]: property } },
            ]),
        )
        for (const [name, { declaration, es, compare, ignoreAbove }] of otherNames(kind, names)) {
          const property = declared(declaration, { es, compare, ...(ignoreAbove !== undefined && { ignoreAbove }) })!
          fields[name] = { full_name: name, mapping: { [name.slice(name.lastIndexOf('.') + 1)]: property } }
        }
        return { mappings: isTyped(call) ? { [kind]: fields } : fields }
      }),
    )
  },
}

const OF_FIELDS = {
  fields: optionalKey(place => elements(place).map(asText('the name of a field')), SCHEMAS.texts),
}

const fieldCaps: EsEndpoint = {
  paths: ['_field_caps', '{index}/_field_caps'],
  methods: ['GET', 'POST'],
  doc: 'The fields, their types, and whether they can be searched and aggregated.',
  limit: '`index_filter` and `runtime_mappings` are refused.',
  parameters: ['fields', 'include_unmapped'],
  several: true,
  body: { schema: schemaOf(OF_FIELDS), example: { fields: ['timestamp'] } },
  answers: 'FieldCapabilities',
  async handle(call) {
    const { fields } = await keysOf(call, OF_FIELDS, 'an object such as {"fields": ["*"]}')
    const named = call.names.listed(fields?.join() ?? call.parameters.get('fields') ?? '')
    if (named.length === 0)
      throw refuse('illegal_argument_exception', "specified fields can't be null or empty: send fields=*, for all.")
    const kinds = callKinds(call)
    return jsonAnswer({ indices: indexNames(call, kinds), fields: capabilities(call, kinds, named) })
  },
}

interface Capability {
  type: string
  metadata_field: boolean
  searchable: boolean
  aggregatable: boolean
}

const capabilities = (call: EndpointCall, kinds: readonly Kind[], patterns: readonly string[]) => {
  const isWanted = compileGlobs(patterns)
  const found = new Map<string, Map<string, { capability: Capability; kinds: Kind[] }>>()
  for (const kind of kinds)
    for (const [path, capability] of new Map([
      ...METADATA,
      ...mappingFields(kind),
      ...otherNames(kind, patterns).map(([name, { es }]): [string, Capability] => [
        name,
        { type: es, metadata_field: false, searchable: true, aggregatable: true },
      ]),
    ])) {
      if (!isWanted(path)) continue
      const byType = found.get(path) ?? new Map<string, { capability: Capability; kinds: Kind[] }>()
      const same = byType.get(capability.type) ?? { capability, kinds: [] }
      same.kinds.push(kind)
      found.set(path, byType.set(capability.type, same))
    }
  const unmapped = isOn(call, 'include_unmapped')
  return Object.fromEntries(
    Array.from(found, ([path, byType]) => {
      const missing = kinds.filter(kind => ![...byType.values()].some(it => it.kinds.includes(kind)))
      if (unmapped && missing.length > 0) byType.set('unmapped', { capability: UNMAPPED_CAPABILITY, kinds: missing })
      const several = byType.size > 1
      const capabilities = Array.from(byType, ([type, { capability, kinds }]) => {
        const indices = several && { indices: indexNames(call, kinds) }
        return [type, { ...capability, ...indices }] as const
      })
      return [path, Object.fromEntries(capabilities)]
    }),
  )
}

const mappingFields = (kind: Kind): [path: string, capability: Capability][] =>
  pathsIn(shownProperties(kind, declared)).map(([path, { type = 'object', index }]) => {
    const isValue = type !== 'object' && type !== 'nested'
    const searchable = isValue && index !== false
    return [path, { type, metadata_field: false, searchable, aggregatable: searchable && type !== 'text' }]
  })

const indexMetadata = (type: string, searchable: boolean): [string, Capability] => [
  type,
  { type, metadata_field: true, searchable, aggregatable: false },
]

const METADATA = [
  indexMetadata('_id', true),
  indexMetadata('_index', true),
  indexMetadata('_type', true),
  indexMetadata('_source', false),
]

const UNMAPPED_CAPABILITY: Capability = {
  type: 'unmapped',
  metadata_field: false,
  searchable: false,
  aggregatable: false,
}

const OF_ANALYZE = {
  analyzer: optionalKey(asText('the name of an analyzer'), SCHEMAS.text),
  field: optionalKey(asText('the name of a field'), SCHEMAS.text),
  text: optionalKey(place => elements(place).map(at => toScalar(at, 'a text')), SCHEMAS.texts),
}

const analyze: EsEndpoint = {
  paths: ['_analyze', '{index}/_analyze'],
  methods: ['GET', 'POST'],
  doc: 'The tokens of a text, by the analyzer `standard` or `keyword`, or by that of a field.',
  limit: 'Other analyzers and custom ones, of a tokenizer and filters, are refused.',
  parameters: [...BODY_PARAMETERS, 'analyzer', 'text', 'field', 'prefer_local'],
  body: { schema: schemaOf(OF_ANALYZE), example: { text: 'One two' } },
  answers: 'Tokens',
  async handle(call) {
    const keys = await keysOf(call, OF_ANALYZE, 'an object such as {"text": "…"}')
    const name = keys.analyzer ?? call.parameters.get('analyzer')
    const path = keys.field ?? call.parameters.get('field')
    const given = call.parameters.get('text')
    const texts = keys.text ?? (given === undefined ? [] : [given])
    if (texts.length === 0)
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: text is missing;')
    const { limits } = call
    if (texts.reduce((sum, text) => sum + text.length + 1, 0) > limits.analyzed) throw overLimit('analyzed', limits)
    const split = splitterOf(name ?? (path === undefined ? 'standard' : analyzerOf(call, path)))
    // As in Elasticsearch, values of a field are a hundred positions apart.
    const gap = path !== undefined && name === undefined && analyzerOf(call, path) === 'standard' ? 100 : 0
    let position = 0
    let before = 0
    const tokens = texts.flatMap(one => {
      const found = split(one).map(({ token, start, end, type }) => ({
        ...{ token, start_offset: before + start, end_offset: before + end, type, position: position++ },
      }))
      position += gap
      before += one.length + 1
      return found
    })
    return jsonAnswer({ tokens })
  },
}

interface AnalyzedToken {
  token: string
  start: number
  end: number
  type: string
}

const splitterOf = (name: string): ((text: string) => AnalyzedToken[]) => {
  if (name === 'standard' || name === 'default') return standard
  if (name === 'keyword') return text => [{ token: text, start: 0, end: text.length, type: 'word' }]
  throw refuse(
    'illegal_argument_exception',
    `The analyzer [${name.slice(0, 80)}] is not supported. Supported are standard and keyword.`,
  )
}

const analyzerOf = (call: EndpointCall, path: string): string =>
  callKinds(call).some(kind => lookup(kind, path)?.es === 'text') ? 'standard' : 'keyword'

/** Finds the words in the text in their order. */
const standard = (text: string): AnalyzedToken[] => {
  const lower = Array.from(text, it => it.toLowerCase().slice(0, it.length)).join('')
  let at = 0
  return words(text).map(token => {
    const start = Math.max(at, lower.indexOf(token, at))
    at = start + token.length
    return { token, start, end: at, type: esType(token) }
  })
}

const TOKEN_TYPES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^\p{Script=Han}/u, '<IDEOGRAPHIC>'],
  [/^\p{Script=Hiragana}/u, '<HIRAGANA>'],
  [/^\p{Script=Katakana}/u, '<KATAKANA>'],
  [/^\p{Script=Hangul}/u, '<HANGUL>'],
  [/^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u, '<SOUTHEAST_ASIAN>'],
  [/^\p{Extended_Pictographic}/u, '<EMOJI>'],
  [/^[\p{Nd}.,_']+$/u, '<NUM>'],
]

const esType = (token: string): string => TOKEN_TYPES.find(([pattern]) => pattern.test(token))?.[1] ?? '<ALPHANUM>'

export const INDICES = [
  analyze,
  indices,
  mapping,
  fieldMapping,
  fieldCaps,
  settings,
  alias,
  resolve,
  statsEndpoint,
  refresh,
]
