import { isDeepStrictEqual } from 'node:util'

/** What of an answer differs from that of Elasticsearch in a way that its client would notice. Undefined where nothing does. */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type JsonObject = { [name: string]: Json }

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members that nobody reads, or that tell of what is not here: shards, versions of documents, how Lucene works. */
const NOT_READ = new Set([
  ...['_ignored', '_seq_no', '_primary_term', '_version', '_type', 'dynamic', 'ephemeral_id', 'transport_address'],
  ...['allocation_id', 'relocating_node', 'shard_stats', 'took', 'creation_date', 'uuid', 'attributes', 'filter'],
  ...['index_filter', '_doc_count', '_nested_path', '_field_names', '_feature', '_tier', '_data_stream_timestamp'],
  ...['_shard', '_node'],
])
/** Values that are another one at each server or moment. */
const OWN = new Set(['took', '_scroll_id', 'id', 'pit_id', 'uuid', 'epoch', 'timestamp', '_score', 'max_score'])

/** Paths of which only these members are looked at. */
const SHALLOW: [path: RegExp, members: string[]][] = [
  [/\/_cluster\/stats/, ['indices.docs.count', 'indices.store.size_in_bytes', 'nodes.count.total', 'status']],
  [/\/_stats/, ['_all.primaries.store.size_in_bytes', 'indices']],
  [/\/_nodes/, ['cluster_name', 'nodes']],
  [/\/es\/*$/, ['version.number', 'tagline', 'cluster_name', 'cluster_uuid']],
  [/\/_search_shards/, ['nodes', 'indices', 'shards']],
  [/\/_explain\//, ['matched', 'explanation.value', '_id', '_index']],
  [/\/_settings/, []],
  [/\/tx\/_alias/, ['tx.aliases']],
]

export const difference = (path: string, reference: unknown, ours: unknown): string | undefined => {
  const shallow = SHALLOW.find(([pattern]) => pattern.test(path.replace(/\?.*/, '')))
  if (shallow) {
    const missing = shallow[1].filter(member => at(ours, member) === undefined)
    return missing.length > 0 ? `lacks ${missing.join(', ')}` : undefined
  }
  return differs(byAskedName(path, reference) as Json, ours as Json, '')
}

/** An answer for one alias has the name of its index; here that of the entity which was asked for. */
const byAskedName = (path: string, reference: unknown): unknown => {
  const [name = '', ...more] = isObject(reference) ? Object.keys(reference) : []
  const [, asked] = /\/(?:es\/)?([a-z]+)\/_mapping/.exec(path) ?? []
  if (!isObject(reference) || more.length > 0 || asked === undefined || !name.endsWith(`-${asked}`)) return reference
  return { [asked]: reference[name]! }
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value)

const differs = (reference: Json, ours: Json | undefined, path: string): string | undefined => {
  if (path.endsWith('hits.total')) return totals(reference, ours, path)
  if (isObject(reference)) {
    if (!isObject(ours)) return `${path}: an object, here ${shown(ours)}`
    if (path.endsWith('aggregations') || path.endsWith('aggs')) return sameNumbers(reference, ours, path)
    for (const [name, value] of Object.entries(reference)) {
      const inner = path === '' ? name : `${path}.${name}`
      if (NOT_READ.has(name)) continue
      if (!Object.hasOwn(ours, name)) return `${inner}: missing`
      if (name === '_source' || OWN.has(name)) continue
      const found =
        name === 'hits' && Array.isArray(value) ? hits(value, ours[name]!, inner) : differs(value, ours[name], inner)
      if (found) return found
    }
    return undefined
  }
  if (Array.isArray(reference)) {
    if (!Array.isArray(ours)) return `${path}: a list, here ${shown(ours)}`
    if (/^(docs|responses|tokens)$/.test(path) && reference.length !== ours.length)
      return `${path}: ${reference.length} elements, here ${ours.length}`
    if (/^(docs|responses)$/.test(path))
      return reference.map((value, i) => differs(value, ours[i], `${path}[${i}]`)).find(it => it !== undefined)
    return reference.length > 0 && isObject(reference[0]) ? differs(reference[0], ours[0], `${path}[0]`) : undefined
  }
  if (ours === undefined) return `${path}: missing`
  if (reference !== null && ours !== null && typeof reference !== typeof ours)
    return `${path}: ${shown(reference)}, here ${shown(ours)}`
  if (/^count$|\.found$|^found$|\.matched$|\.status$/.test(path) && reference !== ours)
    return `${path}: ${shown(reference)}, here ${shown(ours)}`
  return undefined
}

/** Totals are exact here where Elasticsearch stops at 10,000, and numbers for clients of version 6. */
const totals = (reference: Json, ours: Json | undefined, path: string): string | undefined => {
  const [theirs, own] = [reference, ours].map(it => (isObject(it) ? it : { value: it ?? null, relation: 'eq' }))
  const isMore = theirs!.relation === 'gte' && Number(own!.value) >= Number(theirs!.value)
  return isMore || theirs!.value === own!.value ? undefined : `${path}: ${shown(reference)}, here ${shown(ours)}`
}

/** Members of hits, and how many there are. */
const hits = (reference: Json[], ours: Json, path: string): string | undefined => {
  if (!Array.isArray(ours)) return `${path}: a list, here ${shown(ours)}`
  if (reference.length !== ours.length) return `${path}: ${reference.length} hits, here ${ours.length}`
  for (const [i, hit] of reference.entries()) {
    const found = differs(withoutValues(hit), ours[i], `${path}[${i}]`)
    if (found) return found
  }
  return undefined
}

/** Which hits come first is not said without a sort, so that their values may differ. */
const withoutValues = (hit: Json): Json => {
  if (!isObject(hit)) return hit
  return Object.fromEntries(Object.entries(hit).map(([name, value]) => [name, isObject(value) ? {} : value]))
}

/** Whether two answers of aggregations are the same, numbers but for rounding and percentiles as near as a sketch is. */
export const sameNumbers = (
  reference: Json,
  ours: Json | undefined,
  path: string,
  tolerance = 1e-9,
): string | undefined => {
  const unlike = () => `${path}: ${shown(reference)}, here ${shown(ours)}`
  if (typeof reference === 'number' && typeof ours === 'number')
    return Math.abs(reference - ours) <= tolerance * Math.max(1, Math.abs(reference)) ? undefined : unlike()
  if (Array.isArray(reference)) {
    if (!Array.isArray(ours)) return unlike()
    if (reference.length !== ours.length) return `${path}: ${reference.length} elements, here ${ours.length}`
    for (const [i, value] of reference.entries()) {
      const found = sameNumbers(value, ours[i], `${path}[${i}]`, tolerance)
      if (found) return found
    }
    return undefined
  }
  if (isObject(reference) && Array.isArray(reference.hits) && 'total' in reference)
    return sameTopHits(reference, ours, path)
  if (isObject(reference)) {
    if (!isObject(ours)) return unlike()
    for (const name of new Set([...Object.keys(reference), ...Object.keys(ours)])) {
      if (NOT_READ.has(name) || name === '_source' || name === '_score' || name === 'max_score') continue
      if (!Object.hasOwn(ours, name)) return `${path}.${name}: missing`
      if (!Object.hasOwn(reference, name)) return `${path}.${name}: not in the reference`
      // Percentiles are sketched, and written as text, too.
      if (name.endsWith('_as_string') && tolerance > 1e-3) continue
      const near = name === 'values' ? 0.02 : tolerance
      const found = sameNumbers(reference[name]!, ours[name], `${path}.${name}`, near)
      if (found) return found
    }
    return undefined
  }
  return reference === ours ? undefined : unlike()
}

interface Answer {
  hits?: {
    total?: number | { value: number; relation: string }
    hits: { _id: string; sort?: Json[]; _source?: Json }[]
  }
  aggregations?: Json
}

/** Whether two answers to a query body are the same: total, ids (their order where a sort tells it), aggregations. */
export const sameAnswer = (
  body: { sort?: unknown; size?: number; _source?: unknown },
  reference: Answer,
  ours: Answer,
): string | undefined => {
  const isMoving = /"now\b/.test(JSON.stringify(body))
  const [theirs, own] = [reference.hits, ours.hits]
  if (theirs) {
    if (!own) return 'hits: missing'
    const total = totals((theirs.total ?? null) as Json, (own.total ?? null) as Json, 'hits.total')
    if (total) return total
    if (theirs.hits.length !== own.hits.length) return `hits: ${theirs.hits.length}, here ${own.hits.length}`
    const places = comparableSorts(body.sort)
    if (body.sort !== undefined && theirs.hits.every(({ sort }) => sort)) {
      const [a, b] = [theirs, own].map(({ hits }) => hits.map(({ sort }) => places.map(place => sort?.[place] ?? null)))
      const found = sameNumbers(a as Json, b as Json, 'hits.sort')
      if (found) return found
    }
    const isWhole = theirs.hits.length === totalOf(theirs.total)
    const other = otherIds(theirs.hits, own.hits, { places: body.sort === undefined ? [] : places, isWhole })
    if (other) return other
    for (const [i, hit] of theirs.hits.entries()) {
      const found = differs(withoutValues(hit as unknown as Json), own.hits[i] as unknown as Json, `hits[${i}]`)
      if (found) return found
    }
    // Whole documents have fields that the reference's mapping of then lacks.
    if (body._source !== undefined && hasOtherSource(theirs.hits, own.hits)) return 'hits: another _source'
  }
  if (reference.aggregations === undefined) return undefined
  const [a, b] = [reference, ours].map(({ aggregations }) => (isMoving ? withoutMoments(aggregations!) : aggregations))
  return sameNumbers(a!, b, 'aggregations')
}

/** The edges of ranges, which are others at each moment. */
const withoutMoments = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutMoments)
  if (!isObject(value)) return value
  const lasting = Object.entries(value).filter(([name]) => !/^(key|from|to)(_as_string)?$/.test(name))
  return Object.fromEntries(lasting.map(([name, inner]) => [name, withoutMoments(inner)]))
}

interface SortedHit {
  _id?: string
  sort?: Json[]
  _source?: Json
}

const hasOtherSource = (theirs: readonly SortedHit[], ours: readonly SortedHit[]): boolean => {
  const own = new Map(ours.map(hit => [hit._id, hit]))
  return theirs.some(({ _id, _source }) => own.has(_id) && !isDeepStrictEqual(own.get(_id)!._source, _source))
}

/**
 * Ids in the order in which sort values tell them: those that are sorted by the same are compared as a set. Which of these are the last ones of a
 * page is not said, unless there is no other page.
 */
const otherIds = (
  theirs: readonly SortedHit[],
  ours: readonly SortedHit[],
  { places, isWhole }: { places: readonly number[]; isWhole: boolean },
): string | undefined => {
  if ([...theirs, ...ours].some(({ _id }) => _id === undefined)) return undefined
  const tieOf = ({ sort }: SortedHit) => JSON.stringify(places.map(place => sort?.[place] ?? null))
  let from = 0
  while (from < theirs.length) {
    let to = from + 1
    while (to < theirs.length && tieOf(theirs[to]!) === tieOf(theirs[from]!)) to++
    const [a, b] = [theirs, ours].map(hits => hits.slice(from, to).map(({ _id }) => _id!))
    if ((to < theirs.length || isWhole) && a!.sort().join() !== b!.sort().join()) return 'hits: other ids'
    from = to
  }
  return undefined
}

/** Hits in a bucket. */
const sameTopHits = (reference: JsonObject, ours: Json | undefined, path: string): string | undefined => {
  if (!isObject(ours) || !Array.isArray(ours.hits)) return `${path}: hits, here ${shown(ours)}`
  const [theirs, own] = [reference.hits as JsonObject[], ours.hits as JsonObject[]]
  const total = totals(reference.total!, ours.total, `${path}.total`)
  if (total) return total
  const [a, b] = [theirs, own].map(hits => hits.map(({ sort = [] }) => sort))
  const found = sameNumbers(a!, b, `${path}.hits.sort`)
  if (found) return found
  const places = Array.isArray(theirs[0]?.sort) ? [...theirs[0].sort.keys()] : []
  const isWhole = theirs.length === totalOf(reference.total as number)
  const other = otherIds(theirs as SortedHit[], own as SortedHit[], { places, isWhole })
  return other && `${path}: ${other}`
}

/** Places of the sort keys whose values mean the same everywhere: the order in which Lucene keeps documents does not. */
const comparableSorts = (sort: unknown): number[] => {
  const keys = (Array.isArray(sort) ? sort : [sort]).flatMap(key =>
    typeof key === 'object' && key !== null ? Object.keys(key) : [String(key)],
  )
  return keys.flatMap((name, place) => (name === '_doc' || name === '_shard_doc' ? [] : [place]))
}

const totalOf = (total: number | { value: number } | undefined): number | undefined =>
  typeof total === 'object' ? total.value : total

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80)
