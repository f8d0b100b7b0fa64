import type { Document } from '../../documents/document.ts'
import { asJson, long } from '../../documents/show.ts'
import type { Kind } from '../../mapping/index.ts'
import { compareValues, type Value } from '../../query/ast.ts'
import { compileFields, type FieldValues } from '../../query/hits/fields.ts'
import { compileHighlight } from '../../query/hits/highlight.ts'
import { compileDecorated, compileSourceFilter } from '../../query/hits/source-filter.ts'
import { rawValuesOf, readValue } from '../../query/predicate.ts'
import type { ElementSort, SearchRequest } from '../../query/request.ts'
import { explanation } from '../../query/score.ts'
import { missingValue } from '../query/sort/sort-values.ts'

/** Elements of nested lists as hits. */

export type Source = Record<string, unknown>

export interface ElementFound {
  element: Source
  /** Its place in the list. */
  offset: number
  keys: readonly (Value | undefined)[]
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

/** Makes a hit of an element of a document. */
export const elementHits = ({
  kind,
  request,
  sort,
  list,
  index,
}: ElementOptions): ((document: Document, found: ElementFound) => object) => {
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
    ...(sort.length > 0 && { sort: sort.map((_, k) => shownKey(keys[k]) ?? missing[k]) }),
  })
}

/** Names in filters are full paths: an element is shown as if it were the only one of its list. */
const elementShow = (
  kind: Kind,
  { source, shown, parts }: SearchRequest,
  list: string,
  _index: string,
): ((element: Source, document: Document) => Record<string, unknown>) => {
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
    const values: FieldValues = {}
    docValues?.(alone, { _id, _index }, values)
    fields?.(alone, { _id, _index }, values)
    const highlight = mark?.(alone)
    return {
      ...(left && { _source: (left[list] as Source[] | undefined)?.[0] ?? {} }),
      ...(Object.keys(values).length > 0 && { fields: values }),
      ...(highlight && { highlight }),
      ...(shown?.explain && { _explanation: explanation(1) }),
    }
  }
}

/** What an element is sorted by; without a field it is its place. */
export const elementKeys =
  (sorts: readonly ElementSort[], list: string) =>
  (element: Source, offset: number): (Value | undefined)[] =>
    sorts.map(({ field }) => {
      if (!field) return offset
      const [raw] = rawValuesOf(field, element, list)
      return raw === undefined ? undefined : readValue(field, raw)
    })

export const compareKeys = (
  sorts: readonly ElementSort[],
  a: readonly (Value | undefined)[],
  b: readonly (Value | undefined)[],
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

const shownKey = (key: Value | undefined): unknown => (typeof key === 'bigint' ? long(key, asJson) : key)
