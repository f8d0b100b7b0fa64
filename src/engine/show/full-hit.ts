import type { Document } from '../../documents/document.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import { type AddFields, compileFields, namedFields, type ShownFieldValues } from '../../query/hits/fields.ts'
import { compileHighlight } from '../../query/hits/highlight.ts'
import { NO_HIT_OPTIONS } from '../../query/hits/hit-options.ts'
import { compileDecorated } from '../../query/hits/source-filter.ts'
import type { Collapse, HitOptions, InnerHits, RequestPart, SearchRequest, SourceFilter } from '../../query/request.ts'
import { explanation as scored } from '../../query/score.ts'
import { CLOSE } from '../forms/json.ts'
import { type Documents, memberName } from '../query/documents.ts'
import type { Related } from '../query/inner-hits.ts'
import type { SearchMatch } from '../query/search-match.ts'
import { sortValues } from '../query/sort/sort-values.ts'
import type { StoreReader } from '../reader.ts'
import { envelopeOf, hitWriter, matchedNames, scoreWriter } from './basic-hit.ts'
import type { Hits, Totals, WriteHits } from './hits.ts'
import { createInnerHits } from './inner-hits.ts'
import type { Show } from './source-writers.ts'

/** Whether hits show more than their envelope and `_source`. */
export const isRich = ({ shown, collapse, parts }: SearchRequest): boolean =>
  shown !== undefined || collapse !== undefined || parts.some(({ innerHits }) => innerHits !== undefined)

export interface RichOptions {
  /** Undefined if documents tell all. */
  reader: StoreReader | undefined
  /** Throws if the search is to stop. */
  check(): void
  related: Relating
  /** Sort values that are known already. */
  sortOf?: ((one: SearchMatch) => unknown[]) | undefined
  index: string
  totals: Totals
  parents: boolean
  hidesScores: boolean
  shown: Documents
  exact: Documents
  shows: Record<Kind, Show>
  sourceOf(kind: Kind, filter: SourceFilter): ReturnType<Show['source']>
  /** Writes inner hits. */
  writer: Hits['writer']
  between: number
}

/** Finds the documents of inner hits. */
export interface Relating {
  by(inner: InnerHits): (hit: SearchMatch, document: Document) => Related
  /** Hits with the same value in the field of `collapse`. */
  group(collapse: Collapse, among: SearchRequest, inner: SearchRequest): (hit: SearchMatch) => Related
}

/** Appends more members of a hit, each with a comma before it. */
export type Append = (one: SearchMatch, document: Document, out: ByteWriter) => void

/** Writes hits that show more: each document is also read as an object. */
export const createRichWriter = (request: SearchRequest, options: RichOptions): WriteHits => {
  const { reader, check, shown, exact, between } = options
  const { sort, parts } = request
  const writers = new Map(parts.map(part => [part.kind, kindWriter(part, request, options)]))
  const sortOf = options.sortOf ?? sortValues(request, { documents: exact, reader })
  const namesOf = matchedNames(request, exact)
  return (found, out) => {
    let hits = 0
    for (const one of found) {
      check()
      const { envelope, behindSource, atEnd, fields } = writers.get(one.kind)!
      const [document] = shown.load(one.kind, [one.position], fields)
      const before = out.length
      if (hits > 0) out.byte(between)
      if (!document || !envelope(one, document, out)) {
        out.truncate(before)
        continue
      }
      for (const append of behindSource) append(one, document, out)
      if (sort.length) out.text(`,"sort":${JSON.stringify(sortOf(one))}`)
      if (namesOf) out.text(namesOf(one))
      for (const append of atEnd) append(one, document, out)
      out.byte(CLOSE)
      hits++
    }
    return hits
  }
}

interface KindWriter {
  /** Writes a hit up to `_source`; false if there is no such document. */
  envelope(one: SearchMatch, document: Document, out: ByteWriter): boolean
  behindSource: Append[]
  atEnd: Append[]
  /** Fields of the document that are read; undefined for all. */
  fields: string[] | undefined
}

const kindWriter = (part: RequestPart, request: SearchRequest, options: RichOptions): KindWriter => {
  const { shown = NO_HIT_OPTIONS } = request
  const { kind } = part
  const meta = { version: shown.version, sequence: shown.sequence, explain: shown.explain }
  return {
    envelope: envelopeWriter(kind, request.source, shown, options),
    behindSource: [
      ...(meta.version ? [appendVersion] : []),
      ...(meta.sequence ? [appendSequence] : []),
      ...appendFields(kind, request, shown, options),
      ...appendHighlight(kind, part, shown),
    ],
    atEnd: [...(meta.explain ? [appendExplanation] : []), ...createInnerHits(part, request, options)],
    fields: fieldsToRead(part, request, shown),
  }
}

const fieldsToRead = ({ kind, innerHits }: RequestPart, { collapse }: SearchRequest, shown: HitOptions) => {
  if (innerHits || shown.decimals || shown.argsByName) return undefined
  const { fields, docvalueFields, highlight } = shown
  const patterns = [...fields, ...docvalueFields, ...highlight].map(({ pattern }) => pattern)
  if (collapse) patterns.push(collapse.name)
  return [...new Set(patterns.flatMap(pattern => namedFields(kind, pattern).map(({ path }) => memberName(path))))]
}

const envelopeWriter = (
  kind: Kind,
  source: SourceFilter,
  shown: HitOptions,
  { index, parents, hidesScores, shows, sourceOf }: RichOptions,
): KindWriter['envelope'] => {
  const scoreText = scoreWriter(hidesScores)
  if (!shown.id) {
    const text = `{"_index":${JSON.stringify(`${index}-${kind}`)},"_type":"${kind}","_score":`
    return (one, _document, out) => {
      out.text(`${text}${scoreText(one)}`)
      return true
    }
  }
  const head = envelopeOf(index, kind)
  const decorated = (shown.decimals || shown.argsByName) && source !== false
  if (!decorated) {
    const write = hitWriter(shows[kind], head, sourceOf(kind, source), parents)
    return (one, _document, out) => write(one.position, scoreText(one), out) > 0
  }
  const show = compileDecorated(kind, source, shown)
  const write = hitWriter(shows[kind], head, undefined, parents)
  return (one, { _source }, out) => {
    if (write(one.position, scoreText(one), out) === 0) return false
    out.text(`,"_source":${JSON.stringify(show(_source))}`)
    return true
  }
}

/** Documents never change under their ids. */
const appendVersion: Append = (_one, _document, out) => out.ascii(',"_version":1')

/** Positions grow with the chain, as sequence numbers do. */
const appendSequence: Append = ({ position }, _document, out) => out.ascii(`,"_seq_no":${position},"_primary_term":1`)

const appendExplanation: Append = ({ score, explanation = scored(score ?? 1) }, _document, out) =>
  out.text(`,"_explanation":${JSON.stringify(explanation)}`)

const appendFields = (kind: Kind, { collapse }: SearchRequest, shown: HitOptions, { index }: RichOptions): Append[] => {
  const adds: AddFields[] = []
  const { fields, docvalueFields } = shown
  const collapsed = collapse?.fields[kind]
  if (collapsed && collapse)
    adds.push(compileFields(kind, [{ pattern: collapse.name, format: undefined }], 'docvalue_fields'))
  const asked = docvalueFields.filter(({ pattern }) => pattern !== collapse?.name)
  if (asked.length > 0) adds.push(compileFields(kind, asked, 'docvalue_fields'))
  if (fields.length > 0) adds.push(compileFields(kind, fields, 'fields'))
  if (adds.length === 0) return []
  const _index = `${index}-${kind}`
  return [
    (_one, { _id, _source }, out) => {
      const values: ShownFieldValues = {}
      for (const add of adds) add(_source, { _id, _index }, values)
      if (Object.keys(values).length > 0) out.text(`,"fields":${JSON.stringify(values)}`)
    },
  ]
}

const appendHighlight = (kind: Kind, { marks = [] }: RequestPart, { highlight }: HitOptions): Append[] => {
  if (highlight.length === 0) return []
  const mark = compileHighlight(kind, marks, highlight)
  return [
    (_one, { _source }, out) => {
      const marked = mark(_source)
      if (marked) out.text(`,"highlight":${JSON.stringify(marked)}`)
    },
  ]
}
