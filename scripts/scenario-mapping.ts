import { ENCODINGS, type Encoding, type Field, isList, type Kind, MAPPING } from '../src/mapping/index.ts'

/** The mapping of a kind as an index of OpenSearch declares it, for comparing what queries mean. */
export const openSearchIndex = (kind: Kind): { settings: object; mappings: object } => ({
  settings: {
    number_of_shards: 1,
    number_of_replicas: 0,
    analysis: { normalizer: { lower_case: { type: 'custom', filter: ['lowercase'] } } },
  },
  mappings: { dynamic: false, properties: properties(MAPPING[kind].fields) },
})

interface Properties {
  [name: string]: unknown
}

const properties = (fields: (typeof MAPPING)[Kind]['fields']): Properties => {
  const all: Properties = {}
  for (const [name, field] of Object.entries(fields)) {
    if (isList(field)) {
      all[name] = { ...(field.list === 'nested' && { type: 'nested' }), properties: properties(field.members) }
    } else if (field.kind !== 'decimal') put(all, name.split('.'), propertyOf(field))
  }
  return all
}

/** A member such as `value.hex` lies in an object of its own. */
const put = (all: Properties, [first, ...rest]: string[], property: unknown): void => {
  if (rest.length === 0) {
    all[first!] = property
    return
  }
  all[first!] ??= { properties: {} }
  put((all[first!] as { properties: Properties }).properties, rest, property)
}

const propertyOf = (field: Field): unknown => {
  const encodings = Object.entries<Encoding>(ENCODINGS[field.kind])
    // What documents do not hold is nothing to index.
    .filter(([, { apart }]) => !apart)
    .map(([name, encoding]) => [name, typeOf(field, encoding)] as const)
  const own = encodings.find(([name]) => name === '')?.[1]
  const inner = Object.fromEntries(encodings.filter(([name]) => name !== ''))
  if (own === undefined) return { properties: inner }
  return Object.keys(inner).length === 0 ? own : { ...own, fields: inner }
}

const typeOf = (field: Field, { es, compare, ignoreAbove }: Encoding) => ({
  type: es,
  ...(ignoreAbove !== undefined && { ignore_above: ignoreAbove }),
  ...(compare === 'hex' && { normalizer: 'lower_case' }),
  ...(compare === 'instant' && {
    format:
      field.kind === 'seconds' ? 'epoch_second||strict_date_optional_time' : 'strict_date_optional_time||epoch_second',
  }),
})
