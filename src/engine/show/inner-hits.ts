import type { Document } from '../../documents/document.ts'
import { asJson, formatLong } from '../../documents/show.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import { compareValues, type QueryValue } from '../../query/ast.ts'
import { compileFields, type ShownFieldValues } from '../../query/hits/fields.ts'
import { compileHighlight } from '../../query/hits/highlight.ts'
import { compileDecorated, compileSourceFilter } from '../../query/hits/source-filter.ts'
import { compileElement, rawValuesOf, readValue } from '../../query/predicate.ts'
import type { ElementSort, InnerHits, RequestPart, SearchRequest } from '../../query/request.ts'
import { explanation } from '../../query/score.ts'
import type { Related } from '../query/inner-hits.ts'
import type { SearchMatch } from '../query/search-match.ts'
import { missingValue } from '../query/sort/sort-values.ts'
import type { Append, RichOptions } from './full-hit.ts'
import type { Totals } from './hits.ts'

type WriteInnerHits = (one: SearchMatch, document: Document, out: ByteWriter) => void

/** Appends `inner_hits`, if the request has any. */
export const createInnerHits = (part: RequestPart, request: SearchRequest, options: RichOptions): Append[] => {
  const { collapse } = request
  const writers: [string, WriteInnerHits][] = [
    ...(part.innerHits ?? []).map((inner): [string, WriteInnerHits] => [inner.name, innerWriter(inner, options)]),
    ...(collapse?.innerHits ?? []).map(({ name, request: inner }): [string, WriteInnerHits] => {
      const find = options.related.group(collapse!, request, inner)
      // Groups are marked as hits are.
      const parts = request.parts.map(({ kind, query, marks = [] }) => ({ kind, query, marks }))
      return [name, relatedWriter({ ...inner, parts }, hit => find(hit), options)]
    }),
  ]
  if (writers.length === 0) return []
  return [
    (one, document, out) => {
      for (const [i, [name, write]] of writers.entries()) {
        options.check()
        out.text(`${i === 0 ? ',"inner_hits":{' : ','}${JSON.stringify(name)}:`)
        write(one, document, out)
      }
      out.ascii('}')
    },
  ]
}

const innerWriter = (inner: InnerHits, options: RichOptions): WriteInnerHits => {
  if (inner.by === 'nested') return elementWriter(inner, options)
  return relatedWriter(inner.request, options.related.by(inner), options)
}

const relatedWriter = (
  request: SearchRequest,
  find: (one: SearchMatch, document: Document) => Related,
  { writer, index, totals, parents }: RichOptions,
): WriteInnerHits => {
  const write = writer(request, index, { totals, parents })
  const { sort, trackScores } = request
  const scored = sort.length === 0 || trackScores === true
  return (one, document, out) => {
    const { total, found } = find(one, document)
    out.text(head(total, totals, scored && found.length > 0))
    write(found, out)
    out.ascii(']}}')
  }
}

const head = (total: number, totals: Totals, scored: boolean): string => {
  const shown = formatTotal(total, totals)
  return `{"hits":{"total":${shown},"max_score":${scored ? 1 : null},"hits":[`
}

/** An exact number of hits. */
export const formatTotal = (count: number, totals: Totals = 'integer'): string =>
  totals === 'integer' ? `${count}` : `{"value":${count},"relation":"eq"}`

const elementWriter = ({ path, request, elementSort }: InnerHits, { index, totals }: RichOptions): WriteInnerHits => {
  const list = path!
  const { kind, query } = request.parts[0]!
  const matches = compileElement(query, list)
  const { from, size } = request
  const scored = elementSort.length === 0 || request.trackScores === true
  const keysOf = elementKeys(elementSort, list)
  const hitOf = elementHits({ kind, request, sort: elementSort, list, index })
  return (_one, document, out) => {
    const all = document._source[list]
    const found = (Array.isArray(all) ? all : []).flatMap((element: ElementSource, offset) =>
      matches(element) ? [{ element, offset, keys: keysOf(element, offset) }] : [],
    )
    found.sort((a, b) => compareElementKeys(elementSort, a.keys, b.keys) || a.offset - b.offset)
    const shown = found.slice(from, from + size)
    out.text(head(found.length, totals, scored && shown.length > 0))
    for (const [i, one] of shown.entries()) {
      const hit = hitOf(document, { ...one, score: scored ? 1 : null })
      out.text(`${i > 0 ? ',' : ''}${JSON.stringify(hit)}`)
    }
    out.ascii(']}}')
  }
}

export type ElementSource = Record<string, unknown>
export interface ElementMatch {
  element: ElementSource
  offset: number
  keys: readonly (QueryValue | undefined)[]
  score: number | null
}
interface ElementOptions {
  kind: Kind
  request: SearchRequest
  sort: readonly ElementSort[]
  list: string
  /** The network's name as it stands in `_index`. */
  index: string
}
export const elementHits = ({
  kind,
  request,
  sort,
  list,
  index,
}: ElementOptions): ((document: Document, found: ElementMatch) => object) => {
  const show = elementShow(kind, request, list, `${index}-${kind}`)
  const missing = sort.map(({ field, order, missing }) =>
    missingValue({ fields: field ? { [kind]: field } : {}, order, missing }),
  )
  return (document, { element, offset, keys, score }) => ({
    _index: `${index}-${kind}`,
    _type: kind,
    ...(request.shown?.id === false ? {} : { _id: document._id }),
    _nested: { field: list, offset },
    ...(request.shown?.version && { _version: 1 }),
    _score: score,
    ...show(element, document),
    ...(sort.length > 0 && { sort: sort.map((_, k) => formatElementKey(keys[k]) ?? missing[k]) }),
  })
}
/** Filters name full paths: an element is shown as the only one of its list. */
const elementShow = (
  kind: Kind,
  { source, shown, parts }: SearchRequest,
  list: string,
  _index: string,
): ((element: ElementSource, document: Document) => Record<string, unknown>) => {
  const { marks = [] } = parts.find(part => part.kind === kind)!
  const filter = shown?.decimals ? compileDecorated(kind, source, shown) : compileSourceFilter(source)
  const fields = shown?.fields.length ? compileFields(kind, shown.fields, 'fields') : undefined
  const docValues = shown?.docvalueFields.length
    ? compileFields(kind, shown.docvalueFields, 'docvalue_fields', list)
    : undefined
  const mark = shown?.highlight.length ? compileHighlight(kind, marks, shown.highlight) : undefined
  return (element, { _id }) => {
    const alone = { [list]: [element] }
    const left = filter(alone)
    const values: ShownFieldValues = {}
    docValues?.(alone, { _id, _index }, values)
    fields?.(alone, { _id, _index }, values)
    const highlight = mark?.(alone)
    return {
      ...(left && { _source: (left[list] as ElementSource[] | undefined)?.[0] ?? {} }),
      ...(Object.keys(values).length > 0 && { fields: values }),
      ...(highlight && { highlight }),
      ...(shown?.explain && { _explanation: explanation(1) }),
    }
  }
}
/** Without a field, the sort key of an element is its place. */
export const elementKeys =
  (sorts: readonly ElementSort[], list: string) =>
  (element: ElementSource, offset: number): (QueryValue | undefined)[] =>
    sorts.map(({ field }) => {
      if (!field) return offset
      const [raw] = rawValuesOf(field, element, list)
      return raw === undefined ? undefined : readValue(field, raw)
    })
export const compareElementKeys = (
  sorts: readonly ElementSort[],
  a: readonly (QueryValue | undefined)[],
  b: readonly (QueryValue | undefined)[],
): number => {
  for (const [i, { order, missing }] of sorts.entries()) {
    const [x, y] = [a[i], b[i]]
    if (x === undefined || y === undefined) {
      if (x === y) continue
      return (x === undefined) === (missing === '_first') ? -1 : 1
    }
    const difference = compareValues(x, y)
    if (difference !== 0) return order === 'desc' ? -difference : difference
  }
  return 0
}
const formatElementKey = (key: QueryValue | undefined): unknown =>
  typeof key === 'bigint' ? formatLong(key, asJson) : key
