import { fittingAny } from '../../lib/wildcard.ts'
import type { Kind } from '../../mapping/index.ts'
import { type Declare, declared, pathsIn, propertiesOf } from '../../mapping/properties.ts'
import { type Call, type Endpoint, told } from './endpoint.ts'
import { byIndex } from './indexes.ts'
import { isOn, OF_CLUSTER } from './parameters.ts'

/**
 * `flattened` is called `flat_object` by OpenSearch, and clients of either fail to read the other's name. Both know `object`; the field's
 * capabilities (`_field_caps`), whose types are plain text to clients, tell its own.
 */
const shown: Declare = (field, encoding) =>
  encoding.es === 'flattened' ? { type: 'object' } : declared(field, encoding)

/** `mappings` as version 7 shows them, or as version 6 did, by the document type. */
export const mappingsOf = (call: Call, kind: Kind): unknown => {
  const mapping = { properties: propertiesOf(kind, shown) }
  return isTyped(call) ? { [kind]: mapping } : mapping
}

const isTyped = (call: Call): boolean =>
  call.parameters.has('include_type_name') ? isOn(call, 'include_type_name') : call.path.has('type')

const PARAMETERS = [...OF_CLUSTER, 'include_type_name', 'include_defaults'] as const

export const mapping: Endpoint = {
  paths: [
    ...['_mapping', '_mappings', '_mapping/_all', '_mapping/{type}'],
    ...['{index}/_mapping', '{index}/_mappings', '{index}/_mapping/_all', '{index}/_mapping/{type}'],
    '{index}/{type}/_mapping',
  ],
  methods: ['GET'],
  doc: 'The mapping of each index; by document type, as in version 6, with `include_type_name` or a type in the path.',
  parameters: PARAMETERS,
  several: true,
  handle: call => told(byIndex(call, kind => ({ mappings: mappingsOf(call, kind) }))),
}

export const fieldMapping: Endpoint = {
  paths: [
    ...['_mapping/field/{names}', '_mapping/{type}/field/{names}'],
    ...['{index}/_mapping/field/{names}', '{index}/_mapping/{type}/field/{names}'],
  ],
  methods: ['GET'],
  doc: 'The mapping of single fields.',
  parameters: PARAMETERS,
  several: true,
  handle(call) {
    const isWanted = fittingAny(call.names.listed(call.path.get('names')!))
    return told(
      byIndex(call, kind => {
        const fields = Object.fromEntries(
          pathsIn(propertiesOf(kind, shown))
            .filter(([path, { type }]) => type !== undefined && type !== 'nested' && isWanted(path))
            .map(([path, { fields: _, ...property }]) => [
              path,
              { full_name: path, mapping: { [path.slice(path.lastIndexOf('.') + 1)]: property } },
            ]),
        )
        return { mappings: isTyped(call) ? { [kind]: fields } : fields }
      }),
    )
  },
}
