import { refuse } from '../../lib/errors.ts'
import { compileGlob } from '../../lib/name-matching.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { type FieldPath, type Kind, lookup, queryPaths } from '../../mapping/index.ts'
import { compareValues, type QueryValue } from '../ast.ts'
import { UTC } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import { elements, type JsonNode, toBoolean, unexpected, where } from '../json-node.ts'
import { asText, keyOr, nullableKey, optionalKey, readBodyKeys } from '../keys.ts'
import { rawValuesOf, readValue } from '../predicate.ts'
import type { FieldAsk } from '../request.ts'
import { checkKnown } from '../scope.ts'
import type { SourceObject } from './source-filter.ts'

/** `fields` shows values as in `_source`; `docvalue_fields` sorts them and omits text fields. */
export type AskedAs = 'fields' | 'docvalue_fields'

/** `["event", "args.*", {"field": "timestamp", "format": "epoch_millis"}]`. */
export const parseFieldAsks = (
  place: JsonNode,
  as: AskedAs,
  { kinds, limits }: { kinds: readonly Kind[]; limits: Limits },
): FieldAsk[] => {
  const places = elements(place)
  if (places.length > limits.sourcePatterns) throw overLimit('sourcePatterns', limits)
  return places.map(at => {
    const { pattern, format, lenient } = readAsk(at)
    if (pattern.length > limits.text) throw overLimit('text', limits, where(at))
    if (!META_NAMES.includes(pattern) && !lenient && !pattern.includes('*')) checkKnown(pattern, at, { kinds })
    for (const kind of kinds)
      for (const { path } of namedFields(kind, pattern)) checkAsk(path, { at, as, pattern, format, limits })
    return { pattern, format }
  })
}

const readAsk = (at: JsonNode): FieldAsk & { lenient: boolean } => {
  if (typeof at.value === 'string') return { pattern: at.value, format: undefined, lenient: false }
  const { field, format, include_unmapped } = readBodyKeys(at, EXPECTED_FIELD_ASK, FIELD_ASK_KEYS, [])
  if (field === undefined) throw unexpected(at, EXPECTED_FIELD_ASK)
  // Elasticsearch 6 clients request the mapping's format by this name.
  return { pattern: field, format: format === 'use_field_mapping' ? undefined : format, lenient: include_unmapped }
}

const FIELD_ASK_KEYS = {
  field: optionalKey(asText('the name of a field')),
  format: nullableKey(asText('a date format')),
  /** The mapping is closed, so an unmapped name is accepted and shows nothing. */
  include_unmapped: keyOr(false, toBoolean),
}

const EXPECTED_FIELD_ASK = 'the name of a field, or an object such as {"field": "timestamp", "format": "epoch_millis"}'
/** Metadata of hits that can be requested as fields. */
export const META_NAMES: readonly string[] = ['_id', '_index']

interface CheckedAsk extends FieldAsk {
  at: JsonNode
  as: AskedAs
  limits: Limits
}

const checkAsk = (field: FieldPath, { at, as, pattern, format, limits }: CheckedAsk): void => {
  if (as === 'docvalue_fields' && field.es === 'text' && pattern === field.path)
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: text fields have no doc values, and [${pattern}] is one. Ask for [${pattern}.raw], or by "fields".`,
    )
  if (format === undefined) return
  if (field.compare !== 'instant')
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: Field [${field.path}] of type [${field.es}] doesn't support formats. Dates alone have them.`,
    )
  if (format.length > limits.text) throw overLimit('text', limits, where(at))
  dateWriterOf(at, format, UTC)
}

/** The fields of a kind that a name or a pattern means, by the name that they are shown under. */
export const namedFields = (kind: Kind, pattern: string): { name: string; path: FieldPath }[] => {
  if (!pattern.includes('*')) {
    const path = lookup(kind, pattern)
    return path ? [{ name: pattern, path }] : []
  }
  const isNamed = compileGlob(pattern)
  return [...queryPaths(kind).values()].flatMap(path => (isNamed(path.path) ? [{ name: path.path, path }] : []))
}

/** Values under `fields` of a hit: lists by name; for a nested list, an object for each element. */
export type ShownFieldValues = Record<string, unknown[]>

export type AddFields = (source: SourceObject, meta: { _id: string; _index: string }, values: ShownFieldValues) => void
export const compileFields = (
  kind: Kind,
  asks: readonly FieldAsk[],
  as: AskedAs,
  /** The list of which a single element is shown. */
  within?: string,
): AddFields => {
  const metas = META_NAMES.filter(name => asks.some(({ pattern }) => pattern === name)) as ('_id' | '_index')[]
  const fields = asks.flatMap(({ pattern, format }) =>
    namedFields(kind, pattern).map(({ name, path }) => ({ name, path, show: shownAs(path, format) })),
  )
  const flat = fields.filter(({ path }) => !path.list?.nested || path.list.name === within)
  if (as === 'docvalue_fields') {
    const own = flat.filter(({ path }) => path.es !== 'text')
    return (source, meta, values) => {
      for (const name of metas) values[name] = [meta[name]]
      for (const { name, path, show } of own) {
        const shown = docValues(path, source).map(show)
        if (shown.length > 0) values[name] = [...(values[name] ?? []), ...shown]
      }
    }
  }
  const single = fields.filter(({ path }) => !path.list?.nested)
  const nested = Map.groupBy(
    fields.filter(({ path }) => path.list?.nested),
    ({ path }) => path.list!.name,
  )
  return (source, meta, values) => {
    for (const name of metas) values[name] = [meta[name]]
    for (const { name, path, show } of single) {
      const shown = indexedValues(path, source, undefined).map(show)
      if (shown.length > 0) values[name] = shown
    }
    for (const [list, members] of nested) {
      const shown = (Array.isArray(source[list]) ? source[list] : []).flatMap((element: SourceObject) => {
        const object: ShownFieldValues = {}
        for (const { name, path, show } of members) {
          const inner = indexedValues(path, element, list).map(show)
          if (inner.length > 0) object[name.slice(list.length + 1)] = inner
        }
        return Object.keys(object).length > 0 ? [object] : []
      })
      if (shown.length > 0) values[list] = shown
    }
  }
}

/** Keywords above the limit are only in `_source`. */
const indexedValues = (field: FieldPath, source: SourceObject, list: string | undefined): unknown[] => {
  const { ignoreAbove } = field
  const values = rawValuesOf(field, source, list)
  return ignoreAbove === undefined ? values : values.filter(value => String(value).length <= ignoreAbove)
}

/** Sorted; keywords without duplicates. */
const docValues = (field: FieldPath, source: SourceObject): unknown[] => {
  const raw = indexedValues(field, source, undefined)
  if (raw.length < 2) return raw
  const keyed = raw.map((value): [QueryValue, unknown] => [readValue(field, value)!, value])
  const sorted = keyed.sort(([a], [b]) => compareValues(a, b))
  return sorted
    .filter(([key], i) => field.es !== 'keyword' || i === 0 || compareValues(key, sorted[i - 1]![0]) !== 0)
    .map(([, value]) => value)
}

const shownAs = (field: FieldPath, format: string | undefined): ((raw: unknown) => unknown) => {
  if (field.compare !== 'instant') return raw => raw
  const print = dateWriterOf({ path: field.path, value: null }, format ?? formatOfMapping(field), UTC)
  return raw => print(readValue(field, raw) as number)
}

const formatOfMapping = ({ kind }: FieldPath): string =>
  kind === 'seconds' ? 'epoch_second' : 'strict_date_optional_time'
