import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Node } from '../ast.ts'
import { boolean, elements, isObject, type JsonNode, string, where } from '../json-node.ts'
import type { Shown, SourceFilter } from '../request.ts'
import { parseFieldAsks } from './field-asks.ts'
import { parseHighlight } from './highlight.ts'
import { parseSource } from './source-filter.ts'

/** Keys of a search, and of `inner_hits`, that say what a hit shows. */
export const SHOWN_KEYS = [
  '_source',
  'fields',
  'docvalue_fields',
  'stored_fields',
  'highlight',
  'version',
  'seq_no_primary_term',
  'explain',
  'track_scores',
  'script_fields',
] as const

/** Those that only a search has. */
const SOURCE_KEYS = ['decimals', 'args_by_name'] as const

export type ShownPlaces = Partial<
  Record<(typeof SHOWN_KEYS)[number] | (typeof SOURCE_KEYS)[number], JsonNode | undefined>
>

export interface ShownScope {
  kinds: readonly Kind[]
  limits: Limits
  /** The conditions of a query on each of the kinds that may mark words. */
  queries(place: JsonNode): Partial<Record<Kind, Node[]>>
}

export interface ParsedShown {
  source: SourceFilter
  /** Absent where hits show nothing but `_source`. */
  shown?: Shown
  trackScores?: true
}

export const parseShown = (keys: ShownPlaces, scope: ShownScope): ParsedShown => {
  const { kinds, limits } = scope
  const is = (place: JsonNode | undefined) => place !== undefined && boolean(place)
  if (keys.script_fields) checkEmpty(keys.script_fields)
  const stored = keys.stored_fields && storedFields(keys.stored_fields)
  if (stored === 'none') checkAlone(keys)
  const hidden =
    stored !== undefined && keys._source === undefined && (stored === 'none' || !stored.includes('_source'))
  const source = hidden ? false : keys._source ? parseSource(keys._source, limits) : true
  const shown: Shown = {
    id: stored !== 'none',
    version: is(keys.version),
    sequence: is(keys.seq_no_primary_term),
    explain: is(keys.explain),
    fields: keys.fields ? parseFieldAsks(keys.fields, 'fields', scope) : [],
    docvalueFields: keys.docvalue_fields
      ? parseFieldAsks(keys.docvalue_fields, 'docvalue_fields', { kinds, limits })
      : [],
    highlight: keys.highlight ? parseHighlight(keys.highlight, scope) : [],
    decimals: is(keys.decimals) || namesDecimals(source),
    argsByName: is(keys.args_by_name),
  }
  return {
    source,
    ...(isAny(shown) && { shown }),
    ...(is(keys.track_scores) && { trackScores: true as const }),
  }
}

/** Of hits that are their envelope and `_source` alone. */
export const NOTHING_SHOWN: Shown = {
  id: true,
  version: false,
  sequence: false,
  explain: false,
  fields: [],
  docvalueFields: [],
  highlight: [],
  decimals: false,
  argsByName: false,
}

/** `dec` is shown where it is named. */
const namesDecimals = (source: SourceFilter): boolean =>
  typeof source === 'object' && source.includes.some(pattern => pattern.endsWith('.dec'))

const isAny = ({ id, fields, docvalueFields, highlight, ...flags }: Shown): boolean =>
  !id || fields.length + docvalueFields.length + highlight.length > 0 || Object.values(flags).includes(true)

const storedFields = (place: JsonNode): 'none' | string[] => {
  const names = elements(place).map(at => string(at, 'the name of a field, a list of names, or "_none_"'))
  if (!names.includes('_none_')) return names
  if (names.length === 1) return 'none'
  throw refuse('illegal_argument_exception', `${where(place)}: cannot combine _none_ with other fields.`)
}

const checkAlone = ({ _source, fields, version }: ShownPlaces): void => {
  const other =
    (_source && _source.value !== false && '_source') || (fields && 'fields') || (version && is(version) && 'version')
  if (!other) return
  throw refuse(
    'illegal_argument_exception',
    `stored_fields: [stored_fields] cannot be disabled when using the [${other}] option. Leave one of them out.`,
  )
}

const is = (place: JsonNode): boolean => boolean(place)

/** Clients send empty ones along. */
const checkEmpty = (place: JsonNode): void => {
  if (isObject(place.value) && place.value.size === 0) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: scripts are not supported, so script_fields must be empty. Compute the value from _source or fields.`,
  )
}
