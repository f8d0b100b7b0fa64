import { refuse } from '../../lib/errors.ts'
import { ALL_FIELDS, fieldsNamed, readFieldNames } from '../field-list.ts'
import { elements, type JsonNode, known, string, unexpected, where } from '../json-node.ts'
import { checkExpansions } from '../leaves.ts'
import { acrossFields, inFields, isMatchType, MATCH_TYPES, type MatchType } from '../many-fields.ts'
import { readDouble } from '../numbers.ts'
import { readFlag, readSlop } from '../text-query.ts'
import type { Clause } from './clause.ts'
import { MATCH_OPTIONS, readMatch } from './match.ts'

export const multiMatch: Clause = {
  doc: 'As match, in several fields. Names may contain *, and end in ^2, which doubles their score; without fields, in all of them. The type says how scores are combined: best_fields, most_fields, cross_fields (as one field), phrase, phrase_prefix or bool_prefix.',
  example: { query: 'transfer', fields: ['event^2', 'event.*'] },
  lower(place, scope) {
    const { query, fields, type, tie_breaker, slop, cutoff_frequency, ...how } = known(
      place,
      'an object such as {"query": "transfer", "fields": ["event"]}',
      KEYS,
    )
    if (query === undefined) throw unexpected(place, 'an object with [query]: No text specified for multi_match query')
    if (cutoff_frequency !== undefined && cutoff_frequency.value !== null)
      throw refuse('illegal_argument_exception', `${where(cutoff_frequency)}: [cutoff_frequency] is not supported.`)
    const given = fields === undefined ? [] : readFieldNames(elements(fields))
    const isAll = given.length === 0 || given.some(({ name }) => name === ALL_FIELDS)
    const names = given.length > 0 ? given : [{ name: ALL_FIELDS, boost: 1, place }]
    const kind = type === undefined ? 'best_fields' : readType(type)
    const options = { ...readMatch(how), lenient: readFlag(how.lenient, isAll), slop: readSlop(slop) }
    if (options.near && UNFUZZY.has(kind))
      throw refuse('parsing_exception', `${where(how.fuzziness!)}: Fuzziness not allowed for type [${kind}].`)
    checkExpansions(how.max_expansions)
    const tie = tie_breaker === undefined || tie_breaker.value === null ? undefined : readDouble(tie_breaker)
    const weighted = fieldsNamed(names, scope)
    scope.budget.clauses(weighted.length, place)
    if (kind === 'cross_fields') return acrossFields(weighted, query, options, tie ?? 0, scope)
    return inFields(kind, weighted, query, { ...options, skipsFuzzy: isAll }, tie, scope)
  },
}

const KEYS = ['query', 'fields', 'type', 'tie_breaker', 'slop', 'cutoff_frequency', ...MATCH_OPTIONS] as const
const UNFUZZY: ReadonlySet<MatchType> = new Set<MatchType>(['cross_fields', 'phrase', 'phrase_prefix'])

export const readType = (place: JsonNode): MatchType => {
  const name = string(place, EXPECTED_TYPE).toLowerCase()
  if (isMatchType(name)) return name
  throw unexpected(place, EXPECTED_TYPE)
}
const EXPECTED_TYPE = `one of ${MATCH_TYPES.join(', ')}`
