import { declareField } from '../src/cluster/indices/template.ts'
import type { Kind } from '../src/mapping/index.ts'
import { mappingProperties } from '../src/mapping/properties.ts'

/** The mapping of a kind as an index of OpenSearch declares it, for comparing what queries mean. */
export const openSearchIndex = (kind: Kind): { settings: object; mappings: object } => ({
  settings: {
    number_of_shards: 1,
    number_of_replicas: 0,
    analysis: { normalizer: { lower_case: { type: 'custom', filter: ['lowercase'] } } },
  },
  mappings: { dynamic: false, properties: mappingProperties(kind, declareField) },
})
