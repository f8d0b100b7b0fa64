import { refuse } from '../../lib/errors.ts'
import { fittingAny } from '../../lib/wildcard.ts'
import type { Kind } from '../../mapping/index.ts'
import { pathsIn, propertiesOf } from '../../mapping/properties.ts'
import { elements, known, string } from '../../query/json-node.ts'
import { type Call, type Endpoint, told } from './endpoint.ts'
import { indexNames, kindsOf } from './indexes.ts'
import { isOn } from './parameters.ts'
import { jsonOf } from './request-body.ts'

export const fieldCaps: Endpoint = {
  paths: ['_field_caps', '{index}/_field_caps'],
  methods: ['GET', 'POST'],
  doc: 'The fields, their types, and whether they can be searched and aggregated.',
  limit: '`index_filter` and `runtime_mappings` are refused.',
  parameters: ['fields', 'include_unmapped'],
  several: true,
  async handle(call) {
    const { fields } = known(await jsonOf(call), 'an object such as {"fields": ["*"]}', ['fields'], [])
    const named = call.names.listed(
      fields
        ? elements(fields)
            .map(at => string(at, 'the name of a field'))
            .join()
        : (call.parameters.get('fields') ?? ''),
    )
    if (named.length === 0)
      throw refuse('illegal_argument_exception', "specified fields can't be null or empty: send fields=*, for all.")
    const kinds = kindsOf(call)
    return told({ indices: indexNames(call, kinds), fields: capabilities(call, kinds, named) })
  },
}

interface Capability {
  type: string
  metadata_field: boolean
  searchable: boolean
  aggregatable: boolean
}

const capabilities = (call: Call, kinds: readonly Kind[], patterns: readonly string[]) => {
  const isWanted = fittingAny(patterns)
  const found = new Map<string, Map<string, { capability: Capability; kinds: Kind[] }>>()
  for (const kind of kinds)
    for (const [path, capability] of [...METADATA, ...fieldsOf(kind)]) {
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
      if (unmapped && missing.length > 0) byType.set('unmapped', { capability: UNMAPPED, kinds: missing })
      const several = byType.size > 1
      const told = Array.from(byType, ([type, { capability, kinds }]) => {
        const indices = several && { indices: indexNames(call, kinds) }
        return [type, { ...capability, ...indices }] as const
      })
      return [path, Object.fromEntries(told)]
    }),
  )
}

const fieldsOf = (kind: Kind): [path: string, capability: Capability][] =>
  pathsIn(propertiesOf(kind)).map(([path, { type = 'object', index }]) => {
    const isValue = type !== 'object' && type !== 'nested'
    const searchable = isValue && index !== false
    return [path, { type, metadata_field: false, searchable, aggregatable: searchable && type !== 'text' }]
  })

const metadata = (type: string, searchable: boolean): [string, Capability] => [
  type,
  { type, metadata_field: true, searchable, aggregatable: false },
]

const METADATA = [metadata('_id', true), metadata('_index', true), metadata('_type', true), metadata('_source', false)]

const UNMAPPED: Capability = { type: 'unmapped', metadata_field: false, searchable: false, aggregatable: false }
