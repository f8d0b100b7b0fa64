import type { Encoding, Field, Kind } from '../../mapping/index.ts'
import { type Declare, mappingProperties } from '../../mapping/properties.ts'
import type { ClusterOptions } from '../connection/cluster.ts'
import type { Lacking } from './indices.ts'
import { aliasOf, META, META_FIELDS, META_PROPERTIES } from './names.ts'
/** Raised with each change of what an index declares. */
export const TEMPLATE_VERSION = 1

/** Settings and mapping of an index of a kind, from the declaration of kinds. */
export const indexDeclaration = (kind: Kind, { shards, replicas }: Pick<ClusterOptions, 'shards' | 'replicas'>) => ({
  settings: {
    index: {
      number_of_shards: shards,
      number_of_replicas: replicas,
      'sort.field': [META_FIELDS.position],
      'sort.order': ['desc'],
      // OpenSearch 3 scores words differently by default from older versions and Elasticsearch.
      'similarity.default.type': 'LegacyBM25',
    },
    analysis: { normalizer: { lower_case: { type: 'custom', filter: ['lowercase'] } } },
  },
  mappings: {
    dynamic: 'strict',
    _meta: { version: TEMPLATE_VERSION },
    properties: { ...mappingProperties(kind, declare), [META]: META_PROPERTIES },
  },
})

/** Metadata in the mapping of an index. */
export interface IndexMeta {
  version: number
  network: string
  blocksPerIndex: number
  /** Whether the cluster created it for a document because the previous one was gone. */
  byItself: boolean
}

const metaOf = (network: string, { blocksPerIndex }: ClusterOptions, byItself: boolean): IndexMeta => ({
  ...{ version: TEMPLATE_VERSION, network, blocksPerIndex, byItself },
})

export interface IndexBodyOptions {
  byItself?: boolean
  /** Features that the cluster lacks. */
  lacking?: Lacking | undefined
}

/** Body of the request that creates an index of a network. */
export const indexBody = (
  kind: Kind,
  network: string,
  options: ClusterOptions,
  { byItself = false, lacking = {} }: IndexBodyOptions = {},
) => {
  const { settings, mappings } = indexDeclaration(kind, options)
  const { 'sort.field': field, 'sort.order': order, 'similarity.default.type': similarity, ...plain } = settings.index
  return {
    settings: {
      ...settings,
      index: {
        ...plain,
        ...(!lacking.sorting && { 'sort.field': field, 'sort.order': order }),
        ...(!lacking.similarity && { 'similarity.default.type': similarity }),
      },
    },
    mappings: { ...mappings, _meta: metaOf(network, options, byItself) },
  }
}

/** Index template: an index that a document creates gets the same mapping. */
export const templateBody = (
  kind: Kind,
  network: string,
  options: ClusterOptions,
  { lacking }: IndexBodyOptions = {},
) => {
  const alias = aliasOf(options, network, kind)
  return {
    index_patterns: [`${alias}-*`],
    // Names of network a/b/c-tx start like those of a/b/c's transactions: the longer alias wins.
    priority: 1_000 + alias.length,
    version: TEMPLATE_VERSION,
    _meta: metaOf(network, options, true),
    template: indexBody(kind, network, options, { byItself: true, lacking }),
  }
}

/** Mapping of a field, as any index declares it. */
export const declareField: Declare = (field: Field, { es, compare, ignoreAbove, apart }: Encoding) => {
  // Documents do not contain these fields.
  if (apart) return undefined
  // Elasticsearch and OpenSearch name this type differently.
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

const declare: Declare = (field, encoding) => {
  const declared = declareField(field, encoding)
  if (!declared || !isMixed(field, encoding)) return declared
  const { es: type, ignoreAbove } = encoding
  return { ...declared, fields: { [SHOWN_FIELD]: { type, ignore_above: ignoreAbove, index: false } } }
}

/** Sub-field for hex in mixed letter case, as documents show it; buckets use it as their key. */
export const SHOWN_FIELD = 'shown'

/** Arguments of events and calls, whose addresses are checksummed. */
export const isMixed = (field: Field, { compare }: Pick<Encoding, 'compare'>): boolean =>
  field.kind === 'hex' && compare === 'hex' && field.origin === 'decoded' && field.bytes === undefined
