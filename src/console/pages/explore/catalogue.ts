import { callApi, searchDocuments } from '../../api/client.ts'
import { isJsonObject, type Json, textAt, valueAt } from '../../api/json.ts'
import { type Kind, OFFERED_KINDS } from '../../api/wire.ts'
import type { Catalogue, ClauseInfo, FieldInfo } from './fields.ts'

/** Fields and clauses: types from the mapping, meanings from the API description. */
export const getCatalogue = async (network: string, signal: AbortSignal): Promise<Catalogue> => {
  const [mapping, described] = await Promise.all([
    callApi(`${network}/es/_mapping`, { signal }),
    callApi('openapi.json', { signal }),
  ])
  const fields = new Map<string, FieldInfo>()
  for (const kind of OFFERED_KINDS) {
    const index = isJsonObject(mapping)
      ? Object.entries(mapping).find(([name]) => name.endsWith(`-${kind}`))
      : undefined
    const schema = valueAt(described, `components.schemas.${kind[0]!.toUpperCase()}${kind.slice(1)}Source`)
    for (const info of fieldsIn(kind, valueAt(index?.[1], 'mappings.properties'), schema)) {
      const same = fields.get(info.path)
      if (same) same.kinds.push(kind)
      else fields.set(info.path, info)
    }
  }
  return { fields, clauses: clausesIn(valueAt(described, 'components.schemas.Query.properties')) }
}

const fieldsIn = (kind: Kind, properties: Json | undefined, schema: Json | undefined): FieldInfo[] => {
  const found: FieldInfo[] = []
  const walk = (
    inner: Json | undefined,
    path: string,
    schema: Json | undefined,
    meaning: string,
    isInList: boolean,
  ) => {
    if (!isJsonObject(inner)) return
    for (const [name, property] of Object.entries(inner)) {
      // Another name of `raw`.
      if (name === 'keyword') continue
      const own = path === '' ? name : `${path}.${name}`
      const described = valueAt(schema, `properties.${name}`)
      const says = textAt(described, 'description') ?? meaning
      const items = valueAt(described, 'items')
      const type = textAt(property, 'type')
      if (type !== undefined && type !== 'nested' && valueAt(property, 'index') !== false)
        add(own, type, says, isInList)
      walk(valueAt(property, 'fields'), own, undefined, says, isInList)
      walk(valueAt(property, 'properties'), own, items ?? described, says, isInList || items !== undefined)
    }
  }
  const add = (path: string, type: string, meaning: string, isInList: boolean) => {
    const [, shownAs = path, encoding] = /^(.*)\.(num|raw|dec|padded|coin)$/.exec(path) ?? []
    const isArgument = path.startsWith('args.value.')
    const isNumber = type === 'long' || type === 'double' || encoding === 'dec'
    found.push({ path, shownAs: isArgument ? 'args' : shownAs, type, isNumber, isInList, kinds: [kind], meaning })
  }
  walk(properties, '', schema, '', false)
  return found
}

const clausesIn = (clauses: Json | undefined): ClauseInfo[] =>
  isJsonObject(clauses)
    ? Object.entries(clauses).map(([name, clause]) => {
        const members = valueAt(clause, 'properties')
        const example = valueAt(clause, 'examples')
        const shown = Array.isArray(example) && isJsonObject(example[0]) ? Object.keys(example[0]) : []
        const isFieldwise = name === 'terms' || (valueAt(clause, 'minProperties') === 1 && !isJsonObject(members))
        return {
          name,
          meaning: textAt(clause, 'description') ?? '',
          isFieldwise,
          members: isFieldwise ? [] : isJsonObject(members) ? Object.keys(members) : shown,
        }
      })
    : []

/** Most frequent values of a field, as suggestions. */
export type KnownValues = (field: string, argument?: string) => Promise<readonly string[]>

export const knownValues = (network: string, kinds: readonly Kind[], catalogue: Catalogue): KnownValues => {
  const kept = new Map<string, Promise<readonly string[]>>()
  return (field, argument) => {
    const key = JSON.stringify([field, argument])
    const known = kept.get(key) ?? askFor(network, kinds, catalogue, field, argument).catch(() => [])
    kept.set(key, known)
    return known
  }
}

const MAX_VALUES = 50

const askFor = async (
  network: string,
  kinds: readonly Kind[],
  { fields }: Catalogue,
  field: string,
  argument: string | undefined,
): Promise<string[]> => {
  const info = fields.get(field)
  if (!info || info.type === 'date') return []
  const path = info.type === 'text' ? `${field}.raw` : field
  const having = kinds.filter(kind => info.kinds.includes(kind))
  if (having.length === 0 || UNIQUE.test(path)) return []
  const values = { terms: { field: path, size: MAX_VALUES } }
  const named = argument === undefined ? values : { filter: { term: { 'args.name': argument } }, aggs: { values } }
  const aggs = field.startsWith('args.')
    ? { values: { nested: { path: 'args' }, aggs: { values: named } } }
    : { values }
  const answer = await searchDocuments(network, having, { size: 0, track_total_hits: false, aggs })
  let found = valueAt(answer.aggregations, 'values')
  for (let inner = found; inner !== undefined; inner = valueAt(inner, 'values')) found = inner
  const buckets = valueAt(found, 'buckets')
  return Array.isArray(buckets)
    ? buckets.map(bucket => String(valueAt(bucket, 'key_as_string') ?? valueAt(bucket, 'key')))
    : []
}

/** Unique per document, so not suggested. */
const UNIQUE = /(^hash|Hash|Bloom|Root|input|output|data|init|str|^[rsv]|publicKey|signature)$/
