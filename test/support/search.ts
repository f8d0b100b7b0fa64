import { type FieldPath, KINDS, type Kind } from '../../src/mapping/index.ts'
import { compareValues } from '../../src/query/ast.ts'
import { compileSourceFilter } from '../../src/query/hits/source-filter.ts'
import { compilePredicate, indexedValuesOf, type Relatives, type TestedDocument } from '../../src/query/predicate.ts'
import type { SearchRequest, SortSpec } from '../../src/query/request.ts'
import { compileDocumentScore } from '../../src/query/score-predicate.ts'
import { statisticsOf } from './statistics.ts'

/** The relatives among these documents, by the ids that their parents have. */
export const relativesOf = <D extends TestedDocument>(
  documents: Partial<Record<Kind, readonly D[]>>,
  parentOf: (document: D) => string | undefined,
): Relatives => {
  const byId = new Map<string, D>()
  const byParent = new Map<string, D[]>()
  for (const kind of KINDS)
    for (const document of documents[kind] ?? []) {
      byId.set(`${kind} ${document._id}`, document)
      const key = `${kind} ${parentOf(document)}`
      byParent.set(key, [...(byParent.get(key) ?? []), document])
    }
  return {
    childrenOf: ({ _id }, kind) => byParent.get(`${kind} ${_id}`) ?? [],
    parentOf: (document, kind) => byId.get(`${kind} ${parentOf(document as D)}`),
  }
}

/** Where documents come without the envelope: a transaction and a reward tell no transaction. */
const parentInSource = ({ _source }: TestedDocument): string | undefined =>
  (_source.transactionHash ?? _source.blockHash) as string | undefined

export interface Hit {
  kind: Kind
  document: TestedDocument
  source: unknown
  score: number
}

/** A search over documents in memory, given in chain order: every document is looked at, so that there is little to get wrong. */
export const search = (
  request: SearchRequest,
  documents: Partial<Record<Kind, TestedDocument[]>>,
): { total: number; hits: Hit[] } => {
  const relatives = relativesOf(documents, parentInSource)
  const matching = request.parts.flatMap(({ kind, query, score }) => {
    const matches = compilePredicate(kind, query, relatives)
    const all = documents[kind] ?? []
    const scoreOf = score && compileDocumentScore(score, statisticsOf(all), undefined, relatives)
    return all.flatMap((document, place) =>
      matches(document) ? [{ kind, document, place, score: scoreOf ? scoreOf(document._source, document) : 1 }] : [],
    )
  })
  const sorted = matching.toSorted((a, b) => {
    for (const sort of request.sort) {
      const order = compareBy(sort, a, b)
      if (order !== 0) return order
    }
    return 0
  })
  const show = compileSourceFilter(request.source)
  const end = request.size < 0 ? undefined : request.from + request.size
  return {
    total: matching.length,
    hits: sorted
      .slice(request.from, end)
      .map(({ kind, document, score }) => ({ kind, document, score, source: show(document._source) })),
  }
}

/** `place` among all documents of the kind. */
type Found = { kind: Kind; document: TestedDocument; place: number; score: number }

const compareBy = (sort: SortSpec, a: Found, b: Found): number => {
  if (sort.by === '_score') return sort.order === 'asc' ? a.score - b.score : b.score - a.score
  const direction = sort.order === 'asc' ? 1 : -1
  const [x, y] = [a, b].map(({ kind, document, place }) =>
    sort.by === '_doc' ? chainOrder(kind, document, place) : sortValue(sort, sort.fields[kind], document),
  )
  if (x === undefined || y === undefined) {
    const missing = sort.missing === '_last' ? 1 : -1
    return x === y ? 0 : x === undefined ? missing : -missing
  }
  return direction * compareValues(x, y)
}

/** Of several values the least counts in an ascending sort and the greatest in a descending one. */
const sortValue = ({ order, missing }: SortSpec, field: FieldPath | undefined, { _source }: TestedDocument) => {
  if (!field) return undefined
  const value = indexedValuesOf(field, _source)
    .toSorted(compareValues)
    .at(order === 'asc' ? 0 : -1)
  // Of longs, a missing one is the greatest or the least.
  const missingLong = (order === 'asc') === (missing === '_last') ? 2n ** 63n - 1n : -(2n ** 63n)
  return field.es === 'long' && value === missingLong ? undefined : value
}

const chainOrder = (kind: Kind, { _source }: TestedDocument, place: number): number => {
  const { num } = (_source.blockNumber ?? _source.number ?? _source.firstSeen) as { num: number | bigint }
  return (Number(num) * KINDS.length + KINDS.indexOf(kind)) * 1e6 + place
}
