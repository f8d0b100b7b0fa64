import { search } from '../../api/index.ts'
import { at } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'
import type { Catalogue } from './fields.ts'

/** Values that a field has most often, for someone who types the beginning of one. */
export type KnownValues = (field: string, argument?: string) => Promise<readonly string[]>

/** Asks once for each field and argument. */
export const knownValues = (network: string, kinds: readonly Kind[], catalogue: Catalogue): KnownValues => {
  const kept = new Map<string, Promise<readonly string[]>>()
  return (field, argument) => {
    const key = JSON.stringify([field, argument])
    const known = kept.get(key) ?? askFor(network, kinds, catalogue, field, argument).catch(() => [])
    kept.set(key, known)
    return known
  }
}

const MOST = 50

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
  const values = { terms: { field: path, size: MOST } }
  const named = argument === undefined ? values : { filter: { term: { 'args.name': argument } }, aggs: { values } }
  const aggs = field.startsWith('args.')
    ? { values: { nested: { path: 'args' }, aggs: { values: named } } }
    : { values }
  const answer = await search(network, having, { size: 0, track_total_hits: false, aggs })
  let found = at(answer.aggregations, 'values')
  for (let inner = found; inner !== undefined; inner = at(inner, 'values')) found = inner
  const buckets = at(found, 'buckets')
  return Array.isArray(buckets) ? buckets.map(bucket => String(at(bucket, 'key_as_string') ?? at(bucket, 'key'))) : []
}

/** Every document has a value of its own, which nobody chooses from a list. */
const UNIQUE = /(^hash|Hash|Bloom|Root|input|output|data|init|str|^[rsv]|publicKey|signature)$/
