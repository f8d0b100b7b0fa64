import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Node } from '../ast.ts'
import { elements, isJsonMap, type JsonNode, toText, where } from '../json-node.ts'
import { booleanKey, type KeyTable, nodeKey, optionalKey, SCHEMAS, type ValuesOf } from '../keys.ts'
import type { HitOptions, SourceFilter, SourceShape } from '../request.ts'
import { parseFieldAsks } from './fields.ts'
import { parseHighlight } from './highlight.ts'
import { parseSource, shapedFilter } from './source-filter.ts'

const storedFields = (place: JsonNode): 'none' | string[] => {
  const names = elements(place).map(at => toText(at, 'the name of a field, a list of names, or "_none_"'))
  if (!names.includes('_none_')) return names
  if (names.length === 1) return 'none'
  throw refuse('illegal_argument_exception', `${where(place)}: cannot combine _none_ with other fields.`)
}

/** Clients send empty ones along. */
const noScripts = (place: JsonNode): void => {
  if (isJsonMap(place.value) && place.value.size === 0) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: scripts are not supported, so script_fields must be empty. Compute the value from _source or fields.`,
  )
}

export const HIT_OPTION_KEYS = {
  _source: nodeKey,
  fields: nodeKey,
  docvalue_fields: nodeKey,
  stored_fields: optionalKey(storedFields, SCHEMAS.texts),
  highlight: nodeKey,
  version: booleanKey,
  seq_no_primary_term: booleanKey,
  explain: booleanKey,
  track_scores: booleanKey,
  script_fields: optionalKey(noScripts, { type: 'object' }),
} satisfies KeyTable

type ShownKeys = ValuesOf<typeof HIT_OPTION_KEYS> & {
  readonly [key in 'decimals' | 'args_by_name']?: boolean | undefined
}

export interface HitScope {
  kinds: readonly Kind[]
  limits: Limits
  queries(place: JsonNode): Partial<Record<Kind, Node[]>>
  shape?: SourceShape | undefined
}

interface ParsedShown {
  source: SourceFilter
  shown?: HitOptions
  trackScores?: true
}

export const parseHitOptions = (keys: ShownKeys, scope: HitScope): ParsedShown => {
  const { stored_fields: stored } = keys
  if (stored === 'none') checkAlone(keys)
  const hidden =
    stored !== undefined && keys._source === undefined && (stored === 'none' || !stored.includes('_source'))
  const asked = hidden ? false : keys._source ? parseSource(keys._source, scope.limits) : true
  const source = shapedFilter(asked, scope.shape ?? {})
  const shown: HitOptions = {
    id: stored !== 'none',
    version: keys.version ?? false,
    sequence: keys.seq_no_primary_term ?? false,
    explain: keys.explain ?? false,
    fields: keys.fields ? parseFieldAsks(keys.fields, 'fields', scope) : [],
    docvalueFields: keys.docvalue_fields ? parseFieldAsks(keys.docvalue_fields, 'docvalue_fields', scope) : [],
    highlight: keys.highlight ? parseHighlight(keys.highlight, scope) : [],
    decimals: keys.decimals || namesDecimals(source),
    argsByName: keys.args_by_name ?? false,
  }
  return { source, ...(isAny(shown) && { shown }), ...(keys.track_scores && { trackScores: true as const }) }
}

/** Hits with only their envelope and `_source`. */
export const NO_HIT_OPTIONS: HitOptions = {
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

/** Whether an include pattern names `dec`, which shows it. */
const namesDecimals = (source: SourceFilter): boolean =>
  typeof source === 'object' && source.includes.some(pattern => pattern.endsWith('.dec'))

const isAny = ({ id, fields, docvalueFields, highlight, ...flags }: HitOptions): boolean =>
  !id || fields.length + docvalueFields.length + highlight.length > 0 || Object.values(flags).includes(true)

const checkAlone = ({ _source, fields, version }: ShownKeys): void => {
  const other = (_source && _source.value !== false && '_source') || (fields && 'fields') || (version && 'version')
  if (!other) return
  throw refuse(
    'illegal_argument_exception',
    `stored_fields: [stored_fields] cannot be disabled when using the [${other}] option. Leave one of them out.`,
  )
}
