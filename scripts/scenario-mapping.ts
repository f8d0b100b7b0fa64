import type { Encoding, Field, Kind } from '../src/mapping/index.ts'
import { propertiesOf } from '../src/mapping/properties.ts'

/** The mapping of a kind as an index of OpenSearch declares it, for comparing what queries mean. */
export const openSearchIndex = (kind: Kind): { settings: object; mappings: object } => ({
  settings: {
    number_of_shards: 1,
    number_of_replicas: 0,
    analysis: { normalizer: { lower_case: { type: 'custom', filter: ['lowercase'] } } },
  },
  mappings: { dynamic: false, properties: propertiesOf(kind, declared) },
})

const declared = (field: Field, { es, compare, ignoreAbove, apart }: Encoding) => {
  // What documents do not hold is nothing to index.
  if (apart) return undefined
  // Elasticsearch and OpenSearch call it differently.
  if (es === 'flattened') return { type: 'object', enabled: false }
  return {
    type: es,
    ...(ignoreAbove !== undefined && { ignore_above: ignoreAbove }),
    ...(compare === 'hex' && { normalizer: 'lower_case' }),
    ...(compare === 'instant' && {
      format:
        field.kind === 'seconds'
          ? 'epoch_second||strict_date_optional_time'
          : 'strict_date_optional_time||epoch_second',
    }),
  }
}
