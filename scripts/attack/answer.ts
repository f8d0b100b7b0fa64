import { type Kind, lookup } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { compilePredicate, type Relatives, type TestedDocument } from '../../src/query/predicate.ts'
import type { SearchRequest } from '../../src/query/request.ts'
import { parseLossless, stringifyLossless } from '../../test/support/scenarios.ts'
import { checkAggregations } from './aggregations.ts'
import { stringify } from './body.ts'
import { judge } from './evaluate.ts'
import { isRaw, isRecord, readJson, type Value } from './json.ts'
import type { Shown } from './reading.ts'

interface Hit extends Shown {
  _type: Kind
}

/** Keys of a body that choose or order the hits, and those that clients send along to no effect. */
const KEYS = ['query', 'sort', 'size', 'from', '_source', 'track_total_hits', 'aggs', 'aggregations']
/** Keys of which it is not known here what they show, or which hits. */
const UNJUDGED = ['post_filter', 'collapse', 'stored_fields', 'decimals', 'args_by_name', 'min_score']
const IGNORED =
  'docvalue_fields explain ext fields highlight indices_boost knn profile rescore runtime_mappings script_fields seq_no_primary_term stats suggest terminate_after timeout track_scores version'
const KNOWN = new Set([...KEYS, ...UNJUDGED, ...IGNORED.split(' ')])

/** Holds a 200 against what the body asks for: what is wrong with it, if anything, and whether all of the query was understood. */
export const checkAnswer = (
  text: string,
  kinds: readonly Kind[],
  answer: string,
  documents: Record<Kind, Shown[]>,
): { fault?: string; checked: boolean } => {
  const body = /^\s*$/.test(text) ? {} : readJson(text.replace(/^\ufeff/, ''))
  if (body === undefined) return { fault: 'the body is no JSON', checked: true }
  if (!isRecord(body)) return { fault: 'the body is no object', checked: true }
  const other = Object.keys(body).find(name => !KNOWN.has(name))
  if (other !== undefined) return { fault: `the body has an unknown key ${other}`, checked: true }

  if (UNJUDGED.some(name => name in body)) return { checked: false }

  const expected = new Map<string, Shown>()
  for (const kind of kinds) {
    const verdict = judge(body.query, kind, kinds, documents)
    if ('refuse' in verdict) return { fault: `it must be refused: ${verdict.refuse}`, checked: true }
    const found =
      'unknown' in verdict
        ? judgeByPredicate(text.replace(/^\ufeff/, ''), kind, kinds, documents)
        : documents[kind].filter(({ _id }) => verdict.ids.has(_id))
    for (const document of found) expected.set(`${kind} ${document._id}`, document)
  }

  const { hits: found, aggregations } = parseLossless(answer) as {
    hits: { total: unknown; hits: Hit[] }
    aggregations?: unknown
  }
  const { total, hits } = found
  const { track_total_hits: track } = body
  if ((track === undefined || track === true || track === 'true') && total !== expected.size)
    return { fault: `total is ${total}, and ${expected.size} match`, checked: true }
  const size = integer(body.size, 10)
  const from = integer(body.from, 0)
  if (size === undefined || from === undefined) return { fault: 'size or from is no integer', checked: true }
  const due = size === -1 ? expected.size : Math.max(0, Math.min(size, expected.size - from))
  // For all hits, an offset has no meaning that is promised.
  if (hits.length !== due && !(size === -1 && from > 0))
    return { fault: `${hits.length} hits, and ${due} are due`, checked: true }

  const seen = new Set<string>()
  for (const hit of hits) {
    const key = `${hit._type} ${hit._id}`
    const document = expected.get(key)
    if (document === undefined) return { fault: `${key} does not match`, checked: true }
    if (seen.has(key)) return { fault: `${key} is there twice`, checked: true }
    seen.add(key)
    if ((body._source ?? true) === true && stringifyLossless(hit._source) !== stringifyLossless(document._source))
      return { fault: `the source of ${key} is another one`, checked: true }
  }
  if (kinds.length === 1) {
    const fault = checkAggregations(body.aggs ?? body.aggregations, aggregations, kinds[0]!, [...expected.values()])
    if (fault !== undefined) return { fault, checked: true }
  }
  const disorder = disorderOf(body.sort, hits, kinds)
  return disorder === undefined ? { checked: true } : { fault: disorder, checked: true }
}

const integer = (value: Value | undefined, fallback: number): number | undefined => {
  if (value === undefined) return fallback
  const number = Number(isRaw(value) ? value.raw : typeof value === 'string' && value !== '' ? value : Number.NaN)
  return Number.isSafeInteger(number) ? number : undefined
}

/** Looks at sorts by a single number that every hit has; others pass. */
const disorderOf = (sort: Value | undefined, hits: readonly Hit[], kinds: readonly Kind[]): string | undefined => {
  const only = Array.isArray(sort) && sort.length === 1 ? sort[0] : sort
  if (!isRecord(only)) return undefined
  const [[name, order] = ['', null], second] = Object.entries(only)
  if (second !== undefined || (order !== 'asc' && order !== 'desc')) return undefined
  const field = kinds.length === 1 ? lookup(kinds[0]!, name) : undefined
  if (field === undefined || field.list !== undefined || field.compare !== 'long') return undefined
  const steps = field.path.split('.')
  const values = hits.map(({ _source }) =>
    steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | null)?.[step], _source),
  )
  for (let i = 1; i < values.length; i++) {
    const [a, b] = [values[i - 1], values[i]]
    if (a === null || a === undefined || b === null || b === undefined) continue
    const sign = BigInt(a as number) - BigInt(b as number)
    if (order === 'asc' ? sign > 0n : sign < 0n) return `hits are not in the order of ${name}`
  }
  return undefined
}

type Documents = Record<Kind, readonly Shown[]>
/** The documents of a kind that a body asks for, found by looking at each: without index, columns, segments or caches. */
const judgeByPredicate = (text: string, kind: Kind, kinds: readonly Kind[], documents: Documents): Shown[] => {
  const request = readOnce(text, kinds)
  const { query, postFilter } = request.parts.find(part => part.kind === kind)!
  const relatives = relativesIn(documents)
  const tests = [query, ...(postFilter ? [postFilter] : [])].map(node => compilePredicate(kind, node, relatives))
  return documents[kind].filter(document => tests.every(test => test(document)))
}

/** The request of the latest text: each kind asks for it. */
const readOnce = (text: string, kinds: readonly Kind[]): SearchRequest => {
  const key = `${kinds} ${text}`
  if (latest?.key !== key) latest = { key, request: parseSearch(text, kinds, Date.now()) }
  return latest.request
}

let latest: { key: string; request: SearchRequest } | undefined
const relativesIn = (documents: Documents): Relatives => {
  const found = RELATIVES.get(documents)
  if (found) return found
  const children = new Map<Kind, Map<string, Shown[]>>()
  const ids = new Map<Kind, Map<string, Shown>>()
  for (const [kind, all] of Object.entries(documents) as [Kind, readonly Shown[]][]) {
    ids.set(kind, new Map(all.map(document => [document._id, document])))
    children.set(
      kind,
      Map.groupBy(
        all.filter(({ _parent }) => _parent !== undefined),
        ({ _parent }) => _parent!,
      ),
    )
  }
  const relatives: Relatives = {
    childrenOf: ({ _id }, kind) => children.get(kind)!.get(_id) ?? [],
    parentOf: (document, kind) => ids.get(kind)!.get((document as TestedDocument & Shown)._parent ?? ''),
  }
  RELATIVES.set(documents, relatives)
  return relatives
}

const RELATIVES = new WeakMap<Documents, Relatives>()

export type Totals = (query: string) => Promise<number | undefined>
/** What an answer must fit whatever the query means: what does not add up, if anything. */
export const checkRelations = async (
  body: Value | undefined,
  kinds: readonly Kind[],
  totals: Totals,
): Promise<string | undefined> => {
  if (!isRecord(body) || !isRecord(body.query) || Object.keys(body.query).length === 0) return undefined
  const query = stringify(body.query)
  const [own, filtered, without, twice, all] = [
    await totals(query),
    await totals(`{"bool":{"filter":[${query}]}}`),
    await totals(`{"bool":{"must_not":[${query}]}}`),
    await totals(`{"bool":{"must_not":{"bool":{"must_not":[${query}]}}}}`),
    await totals('{"match_all":{}}'),
  ]
  // Deeper or longer by a few levels, it may be refused.
  if (own !== undefined && filtered !== undefined && own !== filtered)
    return `total ${own}, but ${filtered} as a filter of a bool`
  if (own !== undefined && twice !== undefined && own !== twice) return `total ${own}, but ${twice} negated twice`
  if (own !== undefined && without !== undefined && own + without !== all)
    return `total ${own}, and ${without} negated, but there are ${all}`
  for (const range of rangesIn(body.query)) {
    const fault = await checkRange(range, kinds, totals)
    if (fault !== undefined) return fault
  }
  return undefined
}

interface Range {
  name: string
  bounds: Record<string, Value>
}
function* rangesIn(clause: Value): Generator<Range> {
  if (Array.isArray(clause)) for (const inner of clause) yield* rangesIn(inner)
  else if (isRecord(clause)) {
    for (const [name, inner] of Object.entries(clause)) {
      // Members of lists have many values, and other documents are another matter.
      if (name === 'nested' || name.startsWith('has_')) continue
      const entries = name === 'range' && isRecord(inner) ? Object.entries(inner) : []
      const [field, bounds] = entries[0] ?? []
      if (entries.length === 1 && isRecord(bounds)) yield { name: field!, bounds }
      else yield* rangesIn(inner)
    }
  }
}

const OPPOSITE: Record<string, string> = { gt: 'lte', gte: 'lt', lt: 'gte', lte: 'gt' }
/** Each bound and its opposite divide the documents that have the field. A bound that vanished leaves all of them on both sides. */
const checkRange = async ({ name, bounds }: Range, kinds: readonly Kind[], totals: Totals) => {
  const field = kinds.map(kind => lookup(kind, name)).find(it => it !== undefined)
  if (field === undefined || field.list || field.kind === 'integers') return undefined
  if (!['long', 'double', 'instant'].includes(field.compare)) return undefined
  const there = await totals(stringify({ exists: { field: name } }))
  for (const [bound, opposite] of Object.entries(OPPOSITE)) {
    const { [bound]: value, gt: _, gte: __, lt: ___, lte: ____, ...options } = bounds
    if (value === undefined || value === null) continue
    const one = await totals(stringify({ range: { [name]: { ...options, [bound]: value } } }))
    const other = await totals(stringify({ range: { [name]: { ...options, [opposite]: value } } }))
    if (one !== undefined && other !== undefined && one + other !== there)
      return `range ${name} ${stringify({ ...options, [bound]: value })}: ${one} on one side and ${other} on the other, of ${there}`
  }
  return undefined
}
