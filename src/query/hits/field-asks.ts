import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { type FieldPath, type Kind, lookup, queryPaths } from '../../mapping/index.ts'
import { UTC } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import { boolean, elements, type JsonNode, unexpected, where } from '../json-node.ts'
import { asText, optional, or, orNull, readKeys } from '../keys.ts'
import type { FieldAsk } from '../request.ts'
import { checkKnown } from '../scope.ts'
import { globMatches } from './source-filter.ts'

/** Whether values are asked for as `_source` has them, or as the columns of Elasticsearch do: sorted, and none of text. */
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
    if (!META.includes(pattern) && !lenient && !pattern.includes('*')) checkKnown(pattern, at, { kinds })
    for (const kind of kinds)
      for (const { path } of pathsOf(kind, pattern)) checkAsk(path, { at, as, pattern, format, limits })
    return { pattern, format }
  })
}

const readAsk = (at: JsonNode): FieldAsk & { lenient: boolean } => {
  if (typeof at.value === 'string') return { pattern: at.value, format: undefined, lenient: false }
  const { field, format, include_unmapped } = readKeys(at, EXPECTED_FIELD_ASK, FIELD_ASK_KEYS, [])
  if (field === undefined) throw unexpected(at, EXPECTED_FIELD_ASK)
  // How Elasticsearch 6 asks for the format of the mapping.
  return { pattern: field, format: format === 'use_field_mapping' ? undefined : format, lenient: include_unmapped }
}

const FIELD_ASK_KEYS = {
  field: optional(asText('the name of a field')),
  format: orNull(asText('a date format')),
  /** The mapping is closed: nothing unmapped can be shown, and that a name is unknown is no fault then. */
  include_unmapped: or(false, boolean),
}
const EXPECTED_FIELD_ASK = 'the name of a field, or an object such as {"field": "timestamp", "format": "epoch_millis"}'
/** What hits tell of themselves and can be asked for as a field, too. */
export const META: readonly string[] = ['_id', '_index']

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
export const pathsOf = (kind: Kind, pattern: string): { name: string; path: FieldPath }[] => {
  if (!pattern.includes('*')) {
    const path = lookup(kind, pattern)
    return path ? [{ name: pattern, path }] : []
  }
  return [...queryPaths(kind).values()].flatMap(path =>
    globMatches(pattern, path.path) ? [{ name: path.path, path }] : [],
  )
}
