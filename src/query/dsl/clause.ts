import { refuse } from '../../lib/errors.ts'
import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Node } from '../ast.ts'
import {
  bracketName,
  isJsonMap,
  type JsonNode,
  KEYS_OF_CLAUSES,
  members,
  toScalar,
  unexpected,
  where,
} from '../json-node.ts'
import { type KeyTable, readBodyKeys, type ValuesOf } from '../keys.ts'
import { readDouble } from '../numbers.ts'
import { onField, onMetaField, type QueryScope } from '../scope.ts'
import { constantScored, type ScoredQuery, times } from '../score.ts'

export interface Clause {
  doc: string
  limit?: string
  example: unknown
  on?: Kind
  /** Whether it names one field, with its options (`boost` and `_name` too) next to the value. */
  fieldwise?: true
  /** Keys that its body may hold, or the options of a field. */
  keys: KeyTable
  /** Lowers the body, without `boost` and `_name`. `inner` reads a clause inside of it. */
  lower(place: JsonNode, scope: QueryScope, inner: LowerInner): ScoredQuery
}

export type LowerInner = (place: JsonNode, scope: QueryScope) => ScoredQuery

export interface ClauseReading {
  place: JsonNode
  scope: QueryScope
  inner: LowerInner
}

type AboutClause = Pick<Clause, 'doc' | 'limit' | 'example' | 'on'>

export const objectClause = <const K extends KeyTable>({
  expected = 'an object',
  lower,
  ...about
}: AboutClause & {
  keys: K
  expected?: string
  lower(given: ValuesOf<K>, reading: ClauseReading): ScoredQuery
}): Clause => ({
  ...about,
  lower: (place, scope, inner) => lower(readBodyKeys(place, expected, about.keys), { place, scope, inner }),
})

export interface FieldRequest<K extends KeyTable> {
  name: string
  at: JsonNode
  value: JsonNode
  options: ValuesOf<K>
  scope: QueryScope
}

/** A clause that names one field, such as `{"term": {"from": …}}`. */
export const fieldClause = <const K extends KeyTable>({
  name: clauseName,
  value: [main, ...aliases] = ['value'],
  meta = ({ name, value, scope }) => onMetaField(name, [value], scope),
  make,
  ...about
}: AboutClause & {
  name: string
  keys: K
  value?: readonly [string, ...string[]]
  meta?(asked: FieldRequest<K>): Node | undefined
  make(field: FieldPath, asked: FieldRequest<K>): ScoredQuery
}): Clause => {
  const valueKeys = [main, ...aliases]
  const keys = { ...Object.fromEntries(valueKeys.map(name => [name, FIELD_VALUE_KEY])), ...about.keys }
  const lower: Clause['lower'] = (place, scope) => {
    const [name, at] = onlyField(clauseName, place)
    const isLong = isJsonMap(at.value)
    const given = readBodyKeys(isLong ? at : NO_OPTIONS, 'an object', keys) as ValuesOf<K>
    const [value, second] = isLong ? valueKeys.flatMap(name => (given[name] as JsonNode | undefined) ?? []) : [at]
    if (second)
      throw refuse(
        'parsing_exception',
        `${where(second)}: [${main}] and [${aliases[0]}] mean the same. Keep one of them.`,
      )
    if (value === undefined)
      throw unexpected(at, `a ${aliases.length > 0 ? 'text' : 'value'}, or an object with [${main}]`)
    const asked = { name, at, value, options: given, scope }
    const found = meta(asked)
    return found ? constantScored(found) : onField(name, at, scope, field => make(field, asked))
  }
  return { ...about, fieldwise: true, lower }
}

const FIELD_VALUE_KEY = { read: (place: JsonNode | undefined) => place, schema: {} }
const NO_OPTIONS: JsonNode = { path: '', value: new Map() }

/** Reads the only field that a clause such as `{"term": {"from": …}}` names. */
export const onlyField = (clause: string, place: JsonNode): [name: string, place: JsonNode] => {
  const [first, second] = members(place, `an object that names a field, such as {"${clause}": {"event": …}}`)
  if (first === undefined) throw unexpected(place, 'the name of a field')
  if (second === undefined) return first
  throw refuse(
    'parsing_exception',
    `${where(place)}: [${clause}] query doesn't support multiple fields, found ${bracketName(first[0])} and ${bracketName(second[0])}. Write one [${clause}] for each field, all in one bool.`,
  )
}

export const withoutCommon = (place: JsonNode, expected: string): JsonNode => {
  const rest = members(place, expected).filter(([name]) => !(KEYS_OF_CLAUSES as readonly string[]).includes(name))
  return { path: place.path, value: new Map(rest.map(([name, { value }]) => [name, value])) }
}

export const withCommon = (
  name: string,
  { fieldwise }: Clause,
  body: JsonNode,
  scope: QueryScope,
  scored: ScoredQuery,
): ScoredQuery => {
  const holder = fieldwise ? members(body, 'an object')[0]?.[1] : body
  if (holder === undefined || !isJsonMap(holder.value)) return scored
  const [boost, title] = [holder.value.get('boost'), holder.value.get('_name')]
  if (title !== undefined && scope.nested === undefined) {
    const place = { path: `${holder.path}._name`, value: title }
    const name = scope.budget.name(toScalar(place, 'a name'), place)
    scope.collected?.names.push({ name, kind: scope.kind, query: scored.node })
  }
  if (boost === undefined) return scored
  return { ...scored, score: times(scored.score, readBoost({ path: `${holder.path}.boost`, value: boost }, name)) }
}

const readBoost = (place: JsonNode, clause: string): number => {
  const boost = readDouble(place)
  if (boost >= 0) return boost
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: negative [boost] are not allowed in ${bracketName(clause)}, use a value between 0 and 1 to deboost.`,
  )
}
