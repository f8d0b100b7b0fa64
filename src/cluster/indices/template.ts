import type { Encoding, Field, Kind } from '../../mapping/index.ts'
import { type Declare, mappingProperties } from '../../mapping/properties.ts'
import type { ClusterOptions } from '../connection/cluster.ts'
import type { Lacking } from './indices.ts'
import { aliasOf, META, META_FIELDS, META_PROPERTIES } from './names.ts'
/** Raised with each change of what an index declares. */
export const TEMPLATE_VERSION = 1

/** How an index of a kind is made: settings and mapping, from the one declaration of kinds. */
export const indexDeclaration = (kind: Kind, { shards, replicas }: Pick<ClusterOptions, 'shards' | 'replicas'>) => ({
  settings: {
    index: {
      number_of_shards: shards,
      number_of_replicas: replicas,
      'sort.field': [META_FIELDS.position],
      'sort.order': ['desc'],
      // OpenSearch 3 counts words otherwise by itself than Elasticsearch does, and than it did before.
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

/** What an index says of itself. */
export interface IndexMeta {
  version: number
  network: string
  blocksPerIndex: number
  /** The cluster created it by itself for a document, since the one that was there is gone. */
  byItself: boolean
}

const metaOf = (network: string, { blocksPerIndex }: ClusterOptions, byItself: boolean): IndexMeta => ({
  ...{ version: TEMPLATE_VERSION, network, blocksPerIndex, byItself },
})

export interface IndexBodyOptions {
  byItself?: boolean
  /** What the cluster cannot. */
  lacking?: Lacking | undefined
}

/** Creates an index of a network. */
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

/** For an index that is created by a document: it never gets another mapping than ours. */
export const templateBody = (
  kind: Kind,
  network: string,
  options: ClusterOptions,
  { lacking }: IndexBodyOptions = {},
) => {
  const alias = aliasOf(options, network, kind)
  return {
    index_patterns: [`${alias}-*`],
    // The network a/b/c-tx has names that begin as those of transactions of a/b/c do: the longer name goes first.
    priority: 1_000 + alias.length,
    version: TEMPLATE_VERSION,
    _meta: metaOf(network, options, true),
    template: indexBody(kind, network, options, { byItself: true, lacking }),
  }
}

/** How a field is declared to any index of OpenSearch. */
export const declareField: Declare = (field: Field, { es, compare, ignoreAbove, apart }: Encoding) => {
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

const declare: Declare = (field, encoding) => {
  const declared = declareField(field, encoding)
  if (!declared || !isMixed(field, encoding)) return declared
  const { es: type, ignoreAbove } = encoding
  return { ...declared, fields: { [SHOWN_FIELD]: { type, ignore_above: ignoreAbove, index: false } } }
}

/** Sub-field of hex that documents show in mixed letter case, as they show it: buckets are named so. */
export const SHOWN_FIELD = 'shown'

/** Arguments of events and calls, whose addresses are checksummed. */
export const isMixed = (field: Field, { compare }: Pick<Encoding, 'compare'>): boolean =>
  field.kind === 'hex' && compare === 'hex' && field.origin === 'decoded' && field.bytes === undefined
