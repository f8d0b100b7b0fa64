import type { Kind } from '../../mapping/index.ts'
import { type Properties, type Property, pathsIn } from '../../mapping/properties.ts'
import type { ClusterOptions } from '../connection/cluster.ts'
import { aliasOf, META_FIELDS } from './names.ts'
import { type IndexMeta, indexBody, TEMPLATE_VERSION } from './template.ts'

/** An index as read from the cluster, with flat settings. */
export interface FoundIndex {
  aliases: Record<string, object>
  mappings: { dynamic?: string | boolean; _meta?: Partial<IndexMeta>; properties?: Properties }
  settings: Record<string, string | string[] | undefined>
}

/** Differences between an existing index and the expected one. */
export interface Differences {
  /** Immutable differences, each with its field or setting. */
  fixed: string[]
  /** Missing fields, which can be added. */
  missing: Properties
  /** Whether the number of replicas differs. */
  replicas: boolean
  /** Whether the alias lacks it. */
  alias: boolean
}

export const differencesOf = (found: FoundIndex, kind: Kind, network: string, options: ClusterOptions): Differences => {
  const wanted = indexBody(kind, network, options)
  const { _meta: meta = {}, dynamic, properties = {} } = found.mappings
  const fixed: string[] = []
  const compare = (what: string, is: unknown, wants: unknown) => {
    if (settingText(is) !== settingText(wants)) fixed.push(`${what} is ${settingText(is)}, not ${settingText(wants)}`)
  }
  if (meta.version !== undefined && meta.version > TEMPLATE_VERSION)
    fixed.push(`_meta.version is ${meta.version}: a newer Chainsieve created it, which this one cannot replace`)
  if (meta.network !== undefined) compare('_meta.network', meta.network, network)
  if (meta.blocksPerIndex !== undefined)
    compare('opensearch-blocks (_meta.blocksPerIndex)', meta.blocksPerIndex, options.blocksPerIndex)
  compare('dynamic', dynamic, 'strict')
  const sort = found.settings['index.sort.field']
  // Not every cluster can sort an index with nested fields; unsorted it is slower, but correct.
  if (sort !== undefined || !hasNested(wanted.mappings.properties)) {
    compare('index.sort.field', sort, META_FIELDS.position)
    compare('index.sort.order', found.settings['index.sort.order'], 'desc')
  }
  compare('analysis.normalizer.lower_case', found.settings['index.analysis.normalizer.lower_case.filter'], [
    'lowercase',
  ])
  const similarity = found.settings['index.similarity.default.type']
  if (similarity !== undefined || Number(found.settings['index.version.created']) >= OPENSEARCH_3)
    compare('index.similarity.default.type', similarity, wanted.settings.index['similarity.default.type'])
  const there = new Map(pathsIn(properties))
  for (const [path, property] of pathsIn(wanted.mappings.properties)) {
    const is = there.get(path)
    if (is) for (const text of fieldDifferences(path, is, property)) fixed.push(text)
  }
  return {
    fixed,
    missing: missingIn(wanted.mappings.properties, properties),
    replicas: Number(found.settings['index.number_of_replicas']) !== options.replicas,
    alias: !Object.hasOwn(found.aliases, aliasOf(options, network, kind)),
  }
}

/** OpenSearch encodes versions from 2^27 on, far above those of Elasticsearch. */
const OPENSEARCH_3 = 2 ** 27 + 3_000_000

const hasNested = (properties: Properties) => pathsIn(properties).some(([, { type }]) => type === 'nested')

const settingText = (value: unknown): string =>
  value === undefined ? 'not set' : JSON.stringify(Array.isArray(value) && value.length === 1 ? value[0] : value)

const fieldDifferences = (path: string, is: Property, wants: Property): string[] => {
  const options = new Set([...Object.keys(is), ...Object.keys(wants)])
  return [...options].flatMap(option => {
    if (option === 'properties' || option === 'fields') return []
    const [one, other] = [settingText(is[option]), settingText(wants[option])]
    return one === other ? [] : [`field ${path}: ${option} is ${one}, not ${other}`]
  })
}

/** Wanted properties that are missing, with their parents. */
const missingIn = (wanted: Properties, there: Properties): Properties => {
  const missing: Properties = {}
  for (const [name, property] of Object.entries(wanted)) {
    const is = Object.hasOwn(there, name) ? there[name]! : undefined
    if (!is) {
      missing[name] = property
      continue
    }
    const { properties: inner, fields, ...own } = property
    const properties = missingIn(inner ?? {}, is.properties ?? {})
    const further = missingIn(fields ?? {}, is.fields ?? {})
    const has = { properties: Object.keys(properties).length > 0, fields: Object.keys(further).length > 0 }
    if (has.properties || has.fields)
      missing[name] = { ...own, ...(has.properties && { properties }), ...(has.fields && { fields: further }) }
  }
  return missing
}
