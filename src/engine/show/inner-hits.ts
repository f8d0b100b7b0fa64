import type { Document } from '../../documents/document.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { compileElement } from '../../query/predicate.ts'
import type { InnerHits, RequestPart, SearchRequest } from '../../query/request.ts'
import type { Found } from '../query/found.ts'
import type { Related } from '../query/inner-hits.ts'
import { compareKeys, elementHits, elementKeys, type Source } from './elements.ts'
import type { Totals } from './hits.ts'
import type { Append, RichOptions } from './rich.ts'

/** Appends what one name of `inner_hits` shows, as an object. */
type Write = (one: Found, document: Document, out: ByteWriter) => void

/** What appends `inner_hits`; nothing where none are asked for. */
export const createInnerHits = (part: RequestPart, request: SearchRequest, options: RichOptions): Append[] => {
  const { collapse } = request
  const writers: [string, Write][] = [
    ...(part.innerHits ?? []).map((inner): [string, Write] => [inner.name, innerWriter(inner, options)]),
    ...(collapse?.innerHits ?? []).map(({ name, request: inner }): [string, Write] => {
      const find = options.related.group(collapse!, request, inner)
      // What marks hits marks those of their groups.
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

const innerWriter = (inner: InnerHits, options: RichOptions): Write => {
  if (inner.by === 'nested') return elementWriter(inner, options)
  return relatedWriter(inner.request, options.related.by(inner), options)
}

const relatedWriter = (
  request: SearchRequest,
  find: (one: Found, document: Document) => Related,
  { writer, index, totals }: RichOptions,
): Write => {
  const write = writer(request, index, { totals })
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
  const shown = totals === 'integer' ? total : `{"value":${total},"relation":"eq"}`
  return `{"hits":{"total":${shown},"max_score":${scored ? 1 : null},"hits":[`
}

/** The elements of a list that fulfil the clause. */
const elementWriter = ({ path, request, elementSort }: InnerHits, { index, totals }: RichOptions): Write => {
  const list = path!
  const { kind, query } = request.parts[0]!
  const matches = compileElement(query, list)
  const { from, size } = request
  const scored = elementSort.length === 0 || request.trackScores === true
  const keysOf = elementKeys(elementSort, list)
  const hitOf = elementHits({ kind, request, sort: elementSort, list, index })
  return (_one, document, out) => {
    const all = document._source[list]
    const found = (Array.isArray(all) ? all : []).flatMap((element: Source, offset) =>
      matches(element) ? [{ element, offset, keys: keysOf(element, offset) }] : [],
    )
    found.sort((a, b) => compareKeys(elementSort, a.keys, b.keys) || a.offset - b.offset)
    const shown = found.slice(from, from + size)
    out.text(head(found.length, totals, scored && shown.length > 0))
    for (const [i, one] of shown.entries()) {
      const hit = hitOf(document, { ...one, score: scored ? 1 : null })
      out.text(`${i > 0 ? ',' : ''}${JSON.stringify(hit)}`)
    }
    out.ascii(']}}')
  }
}
